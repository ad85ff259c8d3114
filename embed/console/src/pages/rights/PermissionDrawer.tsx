import { Flex, Form, Input, Radio, Select, Switch } from 'antd'
import { useState } from 'react'
import type { Permission, PermissionNode } from '../../api/types'
import { useAccount } from '../../app/account'
import { type Key, t } from '../../i18n'
import { NameField, StatusField } from '../../ui/fields'
import { FormDrawer } from '../../ui/FormDrawer'
import { Icon, icons } from '../../ui/icons'
import { useAction } from '../../ui/useAction'
import { useLastValue } from '../../ui/useLastValue'
import { lastSort, ParentSelect } from './ParentSelect'
import type { NodeProps } from './useEdits'
import { permissionName } from './words'
import { useEditor } from '../../ui/useEditor'
import { byLabel } from '../../ui/fold'

const canHold = (node: PermissionNode) => node.type !== action

type Values = Pick<Permission, 'type' | 'parent_id' | 'name' | 'key' | 'path' | 'icon' | 'local' | 'url' | 'open'> & { show: boolean; status: boolean }

const [menu, page, action] = [0, 1, 2] as const

// PermissionDrawer creates or edits a permission.
export function PermissionDrawer({ edits, tree, onClose, reload, saved }: NodeProps<PermissionNode>) {
  const { notify } = useAction()
  const { isPage } = useAccount()
  const kept = useLastValue(edits)
  const parent = kept?.parent
  const { of: node, create, change, form: filled } = useEditor('/admin/rule', kept?.node, valuesOf, reload)
  const first = node?.type ?? (parent?.type === page ? action : page)
  const [type, setType] = useState<Permission['type']>(first)
  const linkable = type === page && !(node && isPage(node.path)) // the server refuses a URL for a page of the console
  const [opened, setOpened] = useState(edits)
  if (opened !== edits) {
    setOpened(edits)
    setType(first)
  }

  async function save(form: Values) {
    const url = type === page ? form.url.trim() : ''
    const values = { ...form, url, open: url ? form.open : '' } as const
    const record = node ? await change(values) : await create({ ...values, sort: lastSort(tree, values.parent_id) })
    if (!node) notify(t('rule.created', { name: permissionName(record) }))
    await saved(record.id)
  }

  return (
    <FormDrawer<Values>
      history={node && { collection: 'permission', id: node.id }}
      title={node ? t('rule.edit') : t('rule.create')}
      open={Boolean(edits)}
      save={save}
      onClose={onClose}
      {...filled({
        type: first,
        parent_id: parent?.id ?? 0,
        name: '',
        key: parent ? `${parent.key}.` : '',
        path: '',
        icon: '',
        local: '',
        url: '',
        open: 'link',
        show: true,
        status: true,
      })}
      onChange={(changed) => {
        if (changed.type !== undefined) setType(changed.type)
      }}
    >
      <Form.Item name="type" required label={t('rule.type')} extra={t(`rule.type.help.${type}` as Key)}>
        <Radio.Group optionType="button" options={[menu, page, action].map((value) => ({ value, label: t(`rule.type.${value}` as Key) }))} />
      </Form.Item>
      <ParentSelect tree={tree} self={node?.id} name={permissionName} holds={canHold} />
      <NameField />
      <Form.Item name="key" label={t('rule.key')} extra={t('rule.key.help')} rules={[{ required: true, message: t('form.required') }]}>
        <Input maxLength={100} spellCheck={false} autoCapitalize="none" />
      </Form.Item>
      <Form.Item name="path" label={t('rule.path')} extra={t('rule.path.help')} hidden={type === action}>
        <Input maxLength={255} spellCheck={false} />
      </Form.Item>
      <Form.Item name="url" label={t('rule.url')} extra={t('rule.url.help')} hidden={!linkable}>
        <Input maxLength={2000} spellCheck={false} autoCapitalize="none" inputMode="url" />
      </Form.Item>
      <Form.Item name="open" label={t('rule.open')} required hidden={!linkable}>
        <Radio.Group optionType="button" options={(['link', 'tab'] as const).map((value) => ({ value, label: t(`rule.open.${value}`) }))} />
      </Form.Item>
      <Form.Item
        name="icon"
        label={t('rule.icon')}
        hidden={type === action}
        normalize={(name?: string) => name ?? ''}
        getValueProps={(name?: string) => ({ value: name || undefined })}
      >
        <Select
          allowClear
          showSearch={byLabel}
          placeholder={t('rule.icon.none')}
          options={Object.keys(icons).map((value) => ({ value, label: value.replace(/Outlined$/, '') }))}
          optionRender={({ value, label }) => (
            <Flex gap={8}>
              <span aria-hidden>
                <Icon name={String(value)} />
              </span>
              {label}
            </Flex>
          )}
          labelRender={({ value, label }) => (
            <Flex gap={8}>
              <span aria-hidden>
                <Icon name={String(value)} />
              </span>
              {label ?? value}
            </Flex>
          )}
        />
      </Form.Item>
      <Form.Item name="local" label={t('rule.local')} extra={t('rule.local.help')}>
        <Input maxLength={100} spellCheck={false} />
      </Form.Item>
      <Flex gap={48}>
        <Form.Item name="show" label={t('rule.show')} required valuePropName="checked" hidden={type === action}>
          <Switch />
        </Form.Item>
        <StatusField />
      </Flex>
    </FormDrawer>
  )
}

const valuesOf = ({ type, parent_id, name, key, path, icon, local, url, open, show, status }: PermissionNode): Values => ({
  type,
  parent_id,
  name,
  key,
  path,
  icon,
  local,
  url,
  open: open || 'link',
  show: show === 1,
  status: status === 1,
})
