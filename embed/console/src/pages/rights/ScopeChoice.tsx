import { Flex, Radio, Typography } from 'antd'
import type { Role } from '../../api/types'
import { type Key, t } from '../../i18n'
import { type Ceiling, mayScope } from './useCeiling'

type Props = {
  id?: string
  value?: string
  onChange?: (scope: Role['data_scope']) => void // undefined if read-only
  held?: string // the role's current scope, which may stay even if it is beyond the user's
  ceiling?: Ceiling
  labelledBy?: string
}

const scopes = ['all', 'dept_tree', 'dept', 'self', 'custom']

// ScopeChoice selects a role's data scope.
export function ScopeChoice({ id, value, onChange, held, ceiling, labelledBy }: Props) {
  const may = (scope: string) => !ceiling || mayScope(scope, ceiling)
  return (
    <Radio.Group
      id={id}
      aria-labelledby={labelledBy}
      aria-label={labelledBy ? undefined : t('role.scope')}
      value={value}
      disabled={!onChange}
      onChange={(e) => onChange?.(e.target.value as Role['data_scope'])}
    >
      <Flex vertical gap={8}>
        {scopes.map((scope) => (
          <Radio key={scope} value={scope} styles={{ icon: { alignSelf: 'flex-start', marginTop: 3 } }} disabled={!onChange || (!may(scope) && scope !== held)}>
            {t(`role.scope.${scope}` as Key)}
            <br />
            <Typography.Text type="secondary" style={{ fontSize: 12 }}>
              {t(may(scope) ? (`role.scope.help.${scope}` as Key) : 'role.scope.beyond')}
            </Typography.Text>
          </Radio>
        ))}
      </Flex>
    </Radio.Group>
  )
}
