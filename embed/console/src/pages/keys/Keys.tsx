import { DeleteOutlined } from '@ant-design/icons'
import { Button, type TableProps } from 'antd'
import { useNavigate } from 'react-router'
import { useAccount } from '../../app/account'
import { t } from '../../i18n'
import { CreateButton } from '../../ui/CreateButton'
import { Actions, actionsColumn } from '../../ui/Actions'
import { Choice } from '../../ui/Choice'
import { Finder } from '../../ui/Finder'
import { marked } from '../../ui/offered'
import { List } from '../../ui/List'
import { activity } from '../../ui/log/address'
import { useChoices } from '../../ui/useChoices'
import { useTable } from '../../ui/useTable'
import { Last, Name, Networks, Owner, Roles, State } from './cells'
import type { ApiKey } from './key'
import { type Keys as Acts, useKeys } from './useKeys'

const ownerRole = 1

// Keys is the list of API keys of the users in the data scope.
export function Keys() {
  const { may } = useAccount()
  const list = useTable<ApiKey>('/admin/key')
  const keys = useKeys(list.reload)
  const roles = useChoices('filter_role')
  const user = Number(list.params.get('user_id')) || undefined
  return (
    <>
      <List<ApiKey>
        title={t('menu.admin.key')}
        list={list}
        empty={t('keys.empty')}
        filters={
          <>
            <Finder of="user" label={t('keys.owner')} value={user} onChange={(id) => list.set({ user_id: id ? String(id) : undefined })} />
            {roles && (
              <Choice list={list} name="role_id" label={t('keys.role')} options={roles.map((role) => ({ value: String(role.id), label: marked(role) }))} />
            )}
          </>
        }
        create={may('admin.key.create') && <CreateButton onClick={keys.create}>{t('keys.create')}</CreateButton>}
        columns={[
          { title: t('name'), key: 'name', render: (_, key) => <Name of={key} /> },
          { title: t('keys.owner'), key: 'owner', render: (_, key) => <Owner of={key} /> },
          { title: t('keys.roles'), key: 'roles', render: (_, key) => <Roles of={key} /> },
          ...keyColumns(),
          actionsColumn((key) => <RowActions of={key} keys={keys} />),
        ]}
        batch={
          may('admin.key.delete')
            ? (chosen) => (
                <Button danger icon={<DeleteOutlined />} onClick={() => void keys.remove(chosen)}>
                  {t('delete')}
                </Button>
              )
            : undefined
        }
      />
      {keys.panels}
    </>
  )
}

// keyColumns are the columns that the list of one's own keys has, too.
export const keyColumns = (): NonNullable<TableProps<ApiKey>['columns']> => [
  { title: t('keys.state'), key: 'state', render: (_, key) => <State of={key} /> },
  { title: t('keys.last'), key: 'last', render: (_, key) => <Last of={key} /> },
  { title: t('keys.networks'), key: 'networks', render: (_, key) => <Networks of={key} /> },
]

// RowActions are the actions on a key. A personal key of another user can only be disabled and
// deleted, and resumed by users with the owner role, who alone can also adopt keys.
function RowActions({ of: key, keys }: { of: ApiKey; keys: Acts }) {
  const { info, may } = useAccount()
  const navigate = useNavigate()
  const mine = key.user_id === info.info.id
  const full = key.personal === 0 || mine
  const owner = info.info.role_ids.includes(ownerRole)
  const updates = may('admin.key.update') || (mine && key.personal === 1)
  return (
    <Actions
      first={updates && full && { label: t('edit'), onClick: () => keys.edit(key) }}
      called={t('keys.edit.of', { name: key.name })}
      label={t('more.of', { name: key.name })}
      more={[
        updates && key.state === 'paused' && owner && { label: t('keys.resume'), onClick: () => void keys.resume(key) },
        updates && owner && !mine && key.personal === 0 && { label: t('keys.adopt'), onClick: () => void keys.adopt(key) },
        full && (may('admin.key.rotate') || key.personal === 1) && { label: t('keys.rotate'), onClick: () => keys.rotate(key) },
        updates && key.status === 1 && { label: t('keys.disable'), onClick: () => void keys.disable(key) },
        updates && full && key.status === 0 && { label: t('keys.enable'), onClick: () => void keys.enable(key) },
        may('admin.rule.query') && { label: t('keys.explain'), onClick: () => keys.explain(key) },
        may('system.audit.query') && { label: t('menu.system.audit'), onClick: () => void navigate(activity({ actor: `key:${key.id}` })) },
        (may('admin.key.delete') || (mine && key.personal === 1)) && { label: t('delete'), danger: true, onClick: () => void keys.remove([key]) },
      ]}
    />
  )
}
