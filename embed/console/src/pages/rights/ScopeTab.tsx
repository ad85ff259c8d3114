import { Flex, Radio, Select, Typography } from 'antd'
import { type ReactNode, useId } from 'react'
import type { DeptNode, Role } from '../../api/types'
import { type Key, t } from '../../i18n'
import { CheckTree } from '../../ui/tree/CheckTree'
import type { Draft } from './draft'
import { type Ceiling, lacking, mayScope, ownerRole } from './useCeiling'

type Props = {
  role: Role
  draft: Draft
  onChange?: (draft: Draft) => void // absent where nothing may be changed
  depts?: DeptNode[]
  roles: Role[]
  ceiling?: Ceiling
  missing: (permission: string) => ReactNode
}

const scopes = ['all', 'dept_tree', 'dept', 'self', 'custom']

// ScopeTab is whom a role's holders reach, and which roles they may give.
export function ScopeTab({ role, draft, onChange, depts, roles, ceiling, missing }: Props) {
  const may = (scope: string) => !ceiling || mayScope(scope, ceiling)
  const [scopeName, giveName] = [useId(), useId()]
  return (
    <Flex vertical gap={24}>
      <Flex vertical gap={8}>
        <Typography.Text strong id={scopeName}>{t('role.scope')}</Typography.Text>
        <Typography.Text type="secondary">{t('role.scope.help')}</Typography.Text>
        <Radio.Group aria-labelledby={scopeName} value={draft.scope} disabled={!onChange} onChange={(e) => onChange?.({ ...draft, scope: String(e.target.value) })}>
          <Flex vertical gap={8}>
            {scopes.map((scope) => (
              <Radio key={scope} value={scope} styles={{ icon: { alignSelf: 'flex-start', marginTop: 3 } }} disabled={!onChange || (!may(scope) && scope !== role.data_scope)}>
                {t(`role.scope.${scope}` as Key)}
                <br />
                <Typography.Text type="secondary" style={{ fontSize: 12 }}>{t(may(scope) ? `role.scope.help.${scope}` as Key : 'role.scope.beyond')}</Typography.Text>
              </Radio>
            ))}
          </Flex>
        </Radio.Group>
      </Flex>
      {draft.scope === 'custom' && (
        <div>
          {depts
            ? <CheckTree<DeptNode> label={t('menu.admin.dept')} tree={depts} checked={draft.depts} onChange={onChange && ((chosen) => onChange({ ...draft, depts: chosen }))} name={(node) => node.name} height="320px" />
            : missing('admin.dept.query')}
        </div>
      )}
      <Flex vertical gap={8}>
        <Typography.Text strong id={giveName}>{t('role.give')}</Typography.Text>
        <Typography.Text type="secondary">{t('role.give.help')}</Typography.Text>
        <Select
          mode="multiple" aria-labelledby={giveName} aria-label={t('role.give')} disabled={!onChange} value={[...draft.give]} placeholder={t('none')} showSearch={{ optionFilterProp: 'label' }}
          onChange={(ids: number[]) => onChange?.({ ...draft, give: new Set(ids) })}
          options={roles.map((other) => {
            const free = !ceiling || ceiling.own.all || (other.id !== ownerRole && lacking(other, ceiling.own).length === 0)
            return { value: other.id, label: free ? other.name : t('role.give.beyond', { name: other.name }), disabled: !free && !draft.give.has(other.id) }
          })}
        />
      </Flex>
    </Flex>
  )
}
