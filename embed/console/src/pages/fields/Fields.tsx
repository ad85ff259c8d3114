import { lazy } from 'react'
import { del, post } from '../../api/request'
import type { CustomField } from '../../api/types'
import { useAccount } from '../../app/account'
import { t } from '../../i18n'
import { CreateButton } from '../../ui/CreateButton'
import { Actions, actionsColumn } from '../../ui/Actions'
import { Choice } from '../../ui/Choice'
import { List } from '../../ui/List'
import { useAction } from '../../ui/useAction'
import { Panel, usePanel } from '../../ui/usePanel'
import { usePoll } from '../../ui/usePoll'
import { useTable } from '../../ui/useTable'
import { Cell } from '../people/cells'
import { Accesses, Flags, State } from './cells'

const FieldDrawer = lazy(async () => ({ default: (await import('./FieldDrawer')).FieldDrawer }))

const realms = ['admin', 'app'] as const

// Fields lists the custom fields of users and app users.
export function Fields() {
  const { may } = useAccount()
  const { confirm, notify } = useAction()
  const list = useTable<CustomField>('/system/field')
  const form = usePanel<{ field?: CustomField }>()
  usePoll(list.refresh, 2, Boolean(list.table.dataSource?.some((field) => !field.applied)))

  // A deletion can't be undone, because the values are removed.
  async function remove(field: CustomField) {
    if (!(await confirm({ title: t('delete.sure', { name: field.title }), text: t('fields.delete.text'), ok: t('delete') }))) return
    await del(`/system/field/${field.id}`)
    notify(t('deleted', { name: field.title }))
    await list.reload()
  }

  async function apply(field: CustomField) {
    await post(`/system/field/${field.id}/apply`)
    await list.reload()
  }

  return (
    <>
      <List<CustomField>
        title={t('menu.system.field')}
        list={list}
        empty={t('fields.empty')}
        filters={<Choice list={list} name="realm" label={t('fields.realm')} options={realms.map((value) => ({ value, label: t(`fields.realm.${value}`) }))} />}
        create={may('system.field.create') && <CreateButton onClick={() => form.show({})}>{t('fields.create')}</CreateButton>}
        columns={[
          { title: t('fields.title'), ...list.order('title'), render: (title: string) => <Cell>{title}</Cell> },
          { title: t('fields.key'), ...list.order('key'), render: (key: string) => <code style={{ overflowWrap: 'anywhere' }}>{key}</code> },
          { title: t('fields.realm'), ...list.order('realm'), render: (_, { realm }) => t(`fields.realm.${realm}`) },
          { title: t('fields.type'), ...list.order('type'), render: (_, { type }) => t(`settings.type.${type}`) },
          { title: t('fields.access'), key: 'access', render: (_, field) => <Accesses field={field} /> },
          { title: t('fields.uses'), key: 'uses', render: (_, field) => <Flags field={field} /> },
          {
            title: t('fields.state'),
            key: 'state',
            render: (_, field) => <State field={field} onApply={may('system.field.update') ? () => void apply(field) : undefined} />,
          },
          actionsColumn((field) => (
            <Actions
              first={may('system.field.update') && { label: t('edit'), onClick: () => form.show({ field }) }}
              called={t('fields.edit', { name: field.title })}
              label={t('more.of', { name: field.title })}
              more={[may('system.field.delete') && { label: t('delete'), danger: true, onClick: () => void remove(field) }]}
            />
          )),
        ]}
      />
      <Panel of={form}>{({ field }, open) => <FieldDrawer open={open} field={field} onClose={form.hide} onSaved={list.reload} />}</Panel>
    </>
  )
}
