import { MinusOutlined, PlusOutlined } from '@ant-design/icons'
import { Alert, Flex, Modal, theme, Typography } from 'antd'
import { useMemo } from 'react'
import type { PermissionNode, Role } from '../../api/types'
import { useAccount } from '../../app/account'
import { type Key, t } from '../../i18n'
import { type Place, placesOf, type Titled } from '../../ui/tree/model'
import { type Changes, type Draft, hiddenPages, needs } from './draft'
import { few, people, permissionName } from './words'
import { details } from './draft'
import { Reach } from './Reach'

type Props = {
  open: boolean
  busy: boolean
  role: Role
  draft: Draft
  changes: Changes
  places: Map<number, Place<PermissionNode>>
  depts: Titled[]
  roles: Role[]
  onCancel: () => void
  onSave: () => void
}

type Named = { id: number; name: string; more?: string }

// Review lists the changes to a role's permissions before saving, and who is affected.
export function Review({ open, busy, role, draft, changes, places, depts, roles, onCancel, onSave }: Props) {
  const { info } = useAccount().info
  const order = useMemo(() => new Map([...places.keys()].map((id, i) => [id, i])), [places])
  const rules = (ids: number[]): Named[] =>
    ids
      .toSorted((a, b) => order.get(a)! - order.get(b)!)
      .map((id) => {
        const node = places.get(id)?.node
        return { id, name: node ? permissionName(node) : String(id), more: node?.key }
      })
  const deptPlaces = useMemo(() => placesOf(depts), [depts])
  const dept = (ids: number[]): Named[] => ids.map((id) => ({ id, name: deptPlaces.get(id)?.node.name ?? String(id) }))
  const give = (ids: number[]): Named[] => ids.map((id) => ({ id, name: roles.find((other) => other.id === id)?.name ?? String(id) }))
  const hidden = changes.rules.given.length ? hiddenPages(places, draft.rules) : []
  const added = new Set(changes.rules.given)
  const included = [...new Set(changes.rules.given.flatMap((id) => needs(places, id)))].filter((id) => added.has(id))
  return (
    <Modal
      open={open}
      title={t('role.review.title', { name: role.name })}
      okText={t('save')}
      cancelText={t('cancel')}
      confirmLoading={busy}
      onOk={onSave}
      onCancel={onCancel}
      okButtonProps={{ danger: changes.rules.taken.length > 0 }}
      width={640}
      styles={{ body: { maxHeight: 'calc(100dvh - 280px - var(--acting, 0px))', overflow: 'auto' } }}
    >
      <Flex vertical gap={16} tabIndex={0} role="group" aria-label={t('role.review.title', { name: role.name })} style={{ outlineOffset: -2 }}>
        <div>
          {role.user_count ? t('role.review.effect', { people: people(role.user_count) }) : t('role.review.nobody')}
          {info.role_ids.includes(role.id) && (
            <>
              {' '}
              <strong>{t('role.review.self')}</strong>
            </>
          )}
        </div>
        <Differences title={t('role.permissions')} given={rules(changes.rules.given)} taken={rules(changes.rules.taken)} />
        {included.length > 0 && <Alert type="info" showIcon title={t('role.review.included', { names: few(rules(included).map(({ name }) => name)) })} />}
        {changes.scope && (
          <Part title={t('role.scope')}>
            {t(`role.scope.${role.data_scope}` as Key)} → {t(`role.scope.${draft.scope}` as Key)}
          </Part>
        )}
        <Differences title={t('role.review.departments')} given={dept(changes.depts.given)} taken={dept(changes.depts.taken)} />
        <Differences title={t('role.review.give')} given={give(changes.give.given)} taken={give(changes.give.taken)} />
        {open && <Reach id={role.id} rule_ids={[...draft.rules]} {...details(draft)} />}
        {hidden.length > 0 && <Alert type="warning" showIcon title={t('role.review.hidden', { names: few(hidden.map(permissionName)) })} />}
      </Flex>
    </Modal>
  )
}

function Part({ title, children }: { title: string; children: React.ReactNode }) {
  return (
    <Flex vertical gap={4}>
      <Typography.Text strong>{title}</Typography.Text>
      {children}
    </Flex>
  )
}

function Differences({ title, given, taken }: { title: string; given: Named[]; taken: Named[] }) {
  if (!given.length && !taken.length) return null
  return (
    <Part title={title}>
      <Names names={given} gives />
      <Names names={taken} />
    </Part>
  )
}

const most = 100 // a longer list would not be read

function Names({ names, gives = false }: { names: Named[]; gives?: boolean }) {
  const { token } = theme.useToken()
  if (!names.length) return null
  const color = gives ? token.colorSuccessText : token.colorErrorText
  return (
    <div>
      <span style={{ color }}>
        {gives ? <PlusOutlined /> : <MinusOutlined />} {t(gives ? 'role.review.given' : 'role.review.taken', { n: names.length })}
      </span>
      <ul style={{ margin: '4px 0 0', paddingInlineStart: 24 }}>
        {names.slice(0, most).map(({ id, name, more }) => (
          <li key={id} style={{ overflowWrap: 'anywhere' }}>
            <bdi>{name}</bdi>{' '}
            {more && (
              <Typography.Text type="secondary" style={{ fontSize: 12 }}>
                {more}
              </Typography.Text>
            )}
          </li>
        ))}
        {names.length > most && <li>{t('role.review.more', { n: names.length - most })}</li>}
      </ul>
    </div>
  )
}
