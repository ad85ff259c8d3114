import { Flex, Tag, Typography } from 'antd'
import dayjs from 'dayjs'
import type { ReactNode } from 'react'
import { t } from '../../i18n'
import { PersonLink } from '../../ui/PersonLink'
import { RoleTags } from '../../ui/RoleTags'
import { Time } from '../../ui/Time'
import type { ApiKey } from './key'

const colors = { active: 'success', unused: 'warning', paused: 'error', disabled: 'default', expired: 'error', no_owner: 'error', sign_in_due: 'error' }

const tag = { margin: 0, maxWidth: 160, overflow: 'hidden', textOverflow: 'ellipsis' } as const

const Small = ({ children, title }: { children: ReactNode; title?: string }) => (
  <span className="second" title={title}>
    {children}
  </span>
)

// Name is a key's name, with the first characters of its token.
export function Name({ of }: { of: ApiKey }) {
  return (
    <Flex vertical style={{ maxWidth: 200 }}>
      <Typography.Text ellipsis title={of.name}>
        <bdi>{of.name}</bdi>
      </Typography.Text>
      <span className="second" style={{ fontFamily: 'monospace' }} title={t('keys.hint')}>
        {of.hint}…
      </span>
    </Flex>
  )
}

// Owner is the user for whom a key acts.
export function Owner({ of }: { of: ApiKey }) {
  return of.username ? <PersonLink name={of.username} id={of.user_id} /> : <Typography.Text type="secondary">{t('keys.owner.none')}</Typography.Text>
}

// Roles are the roles of a key. A personal key without any has those of its owner.
export function Roles({ of }: { of: ApiKey }) {
  return (
    <RoleTags ids={of.role_ids} names={of.role_names}>
      {of.personal === 1 && (
        <Tag color="blue" style={tag}>
          {t('keys.personal')}
        </Tag>
      )}
    </RoleTags>
  )
}

// State is whether a key can be used, and until when.
export function State({ of }: { of: ApiKey }) {
  const [expires, previous] = [dayjs(of.expires_at), dayjs(of.previous_until)]
  const shown = expires.format('YYYY-MM-DD')
  return (
    <Flex vertical gap={2} align="start">
      <Tag color={colors[of.state]} style={{ margin: 0 }}>
        {t(`keys.state.${of.state}`)}
      </Tag>
      <Small title={expires.format('YYYY-MM-DD HH:mm:ss')}>{t(expires.isAfter(dayjs()) ? 'keys.expires.at' : 'keys.expired.at', { date: shown })}</Small>
      {of.previous_until && <Small title={previous.format('YYYY-MM-DD HH:mm:ss')}>{t('keys.previous', { time: previous.format('MM-DD HH:mm') })}</Small>}
    </Flex>
  )
}

// Last is when and from where a key was last used.
export function Last({ of }: { of: ApiKey }) {
  if (!of.last_used) return <Typography.Text type="secondary">{t('keys.last.never')}</Typography.Text>
  return (
    <Flex vertical>
      <Time at={of.last_used} />
      <Small>{of.last_ip}</Small>
    </Flex>
  )
}

const most = 2

// Networks are where a key can be used from.
export function Networks({ of: { networks } }: { of: ApiKey }) {
  if (!networks.length) return <Typography.Text type="secondary">{t('keys.networks.any')}</Typography.Text>
  const rest = networks.slice(most)
  return (
    <Flex gap={4} wrap style={{ maxWidth: 180 }}>
      {networks.slice(0, most).map((network) => (
        <Tag key={network} title={network} style={tag}>
          {network}
        </Tag>
      ))}
      {rest.length > 0 && (
        <Tag title={rest.join(', ')} style={tag}>
          +{rest.length}
        </Tag>
      )}
    </Flex>
  )
}
