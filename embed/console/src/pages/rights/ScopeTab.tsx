import { Flex, Select, Typography } from 'antd'
import { type ReactNode, useId } from 'react'
import type { Role } from '../../api/types'
import { t } from '../../i18n'
import { CheckTree } from '../../ui/tree/CheckTree'
import { marked } from '../../ui/offered'
import type { Titled } from '../../ui/tree/model'
import type { Draft } from './draft'
import { ScopeChoice } from './ScopeChoice'
import { type Ceiling, lacking } from './useCeiling'
import { ownerRole } from './words'
import { byLabel } from '../../ui/fold'

type Dept = Titled & { status: number; children?: Dept[] }

type Props = {
  role: Role
  draft: Draft
  onChange?: (draft: Draft) => void // undefined if read-only
  depts?: Dept[]
  roles: Role[]
  ceiling?: Ceiling
  missing: (permission: string) => ReactNode
}

// ScopeTab edits a role's data scope and the roles that its members can assign.
export function ScopeTab({ role, draft, onChange, depts, roles, ceiling, missing }: Props) {
  const [scopeName, giveName] = [useId(), useId()]
  return (
    <Flex vertical gap={24}>
      <Flex vertical gap={8}>
        <Typography.Text strong id={scopeName}>
          {t('role.scope')}
        </Typography.Text>
        <Typography.Text type="secondary">{t('role.scope.help')}</Typography.Text>
        <ScopeChoice
          labelledBy={scopeName}
          value={draft.scope}
          held={role.data_scope}
          ceiling={ceiling}
          onChange={onChange && ((scope) => onChange({ ...draft, scope }))}
        />
      </Flex>
      {draft.scope === 'custom' && (
        <div>
          {depts ? (
            <CheckTree<Dept>
              label={t('menu.admin.dept')}
              tree={depts}
              checked={draft.depts}
              onChange={onChange && ((chosen) => onChange({ ...draft, depts: chosen }))}
              name={marked}
              free={(node) => node.status !== 0 || role.dept_ids.includes(node.id)}
              height="320px"
            />
          ) : (
            missing('admin.dept.query')
          )}
        </div>
      )}
      <Flex vertical gap={8}>
        <Typography.Text strong id={giveName}>
          {t('role.give')}
        </Typography.Text>
        <Typography.Text type="secondary">{t('role.give.help')}</Typography.Text>
        <Select
          mode="multiple"
          aria-labelledby={giveName}
          aria-label={t('role.give')}
          disabled={!onChange}
          value={[...draft.give]}
          placeholder={t('none')}
          showSearch={byLabel}
          onChange={(ids: number[]) => onChange?.({ ...draft, give: new Set(ids) })}
          options={roles
            .filter((other) => other.status || role.grant_role_ids.includes(other.id))
            .map((other) => {
              const free = !ceiling || ceiling.own.all || (other.id !== ownerRole && lacking(other, ceiling.own).length === 0)
              const name = marked(other)
              return { value: other.id, label: free ? name : t('role.give.beyond', { name }), disabled: !free && !draft.give.has(other.id) }
            })}
        />
      </Flex>
    </Flex>
  )
}
