import { DeleteOutlined } from '@ant-design/icons'
import { Button } from 'antd'
import { useAccount } from '../../app/account'
import { t } from '../../i18n'
import { CreateButton } from '../../ui/CreateButton'
import { Actions, actionsColumn } from '../../ui/Actions'
import { List } from '../../ui/List'
import { useTable } from '../../ui/useTable'
import { Name, Roles } from './cells'
import type { ApiKey } from './key'
import { keyColumns } from './Keys'
import { useKeys } from './useKeys'

// OwnKeys lists the personal API keys of the user.
export function OwnKeys() {
  const { may } = useAccount()
  const list = useTable<ApiKey>('/admin/account/key')
  const keys = useKeys(list.reload, true)
  return (
    <>
      <List<ApiKey>
        list={list}
        empty={t('keys.own.empty')}
        note={t('keys.own.note')}
        create={<CreateButton onClick={keys.create}>{t('keys.create')}</CreateButton>}
        columns={[
          { title: t('name'), key: 'name', render: (_, key) => <Name of={key} /> },
          {
            title: t('keys.roles'),
            key: 'roles',
            render: (_, key) => (key.role_ids.length ? <Roles of={{ ...key, personal: 0 }} /> : t('keys.roles.all')),
          },
          ...keyColumns(),
          actionsColumn((key) => (
            <Actions
              first={{ label: t('edit'), onClick: () => keys.edit(key) }}
              called={t('keys.edit.of', { name: key.name })}
              label={t('more.of', { name: key.name })}
              more={[
                { label: t('keys.rotate'), onClick: () => keys.rotate(key) },
                key.status === 1
                  ? { label: t('keys.disable'), onClick: () => void keys.disable(key) }
                  : { label: t('keys.enable'), onClick: () => void keys.enable(key) },
                may('admin.rule.query') && { label: t('keys.explain'), onClick: () => keys.explain(key) },
                { label: t('delete'), danger: true, onClick: () => void keys.remove([key]) },
              ]}
            />
          )),
        ]}
        batch={(chosen) => (
          <Button danger icon={<DeleteOutlined />} onClick={() => void keys.remove(chosen)}>
            {t('delete')}
          </Button>
        )}
      />
      {keys.panels}
    </>
  )
}
