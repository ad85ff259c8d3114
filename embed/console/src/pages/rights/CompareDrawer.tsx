import { DownOutlined, UpOutlined } from '@ant-design/icons'
import { Alert, Button, Empty, Flex, type RefSelectProps, Select, Skeleton, Tag, theme, Typography } from 'antd'
import { type ReactNode, type Ref, useEffect, useId, useMemo, useRef, useState } from 'react'
import { Link } from 'react-router'
import type { Listing } from '../../api/paths'
import type { AppRole, Role } from '../../api/types'
import { useAccount } from '../../app/account'
import { type Key, joined, t } from '../../i18n'
import { byLabel } from '../../ui/fold'
import { useAll } from '../../ui/useAll'
import { useChoices } from '../../ui/useChoices'
import { useGet } from '../../ui/useGet'
import { useLastValue } from '../../ui/useLastValue'
import { useWider } from '../../ui/useWider'
import { ViewDrawer } from '../../ui/ViewDrawer'
import type { Realm } from '../people/realm'
import { holds, isEqual, isOwner, nodesOf, sharesOf, type Trait, traitsOf } from './compare'
import { people, permissionName } from './words'

type Either = Role | AppRole
type Dept = { id: number; name: string; children?: Dept[] }
type Node = { id: number; name: string; local?: string; key: string; status: number; children?: Node[] }

type Of = {
  path: Realm['roles']
  people: Pick<Realm, 'path' | 'access'>
}

type Props = {
  ids: number[] // one or two, none while it is closed
  realm: Of
  onClose: () => void
}

// CompareDrawer shows two roles side by side: their properties, and the permissions that only one of them grants.
export function CompareDrawer({ ids, realm, onClose }: Props) {
  const last = useLastValue(ids.length ? ids : undefined)
  return (
    <ViewDrawer open={ids.length > 0} title={t('compare.title')} loading={false} onClose={onClose}>
      {last && <Comparison key={last.join()} ids={last} realm={realm} />}
    </ViewDrawer>
  )
}

function Comparison({ ids, realm }: { ids: number[]; realm: Of }) {
  const [firstName, secondName] = [useId(), useId()]
  const [first, setFirst] = useState(ids[0])
  const [second, setSecond] = useState(ids[1])
  const { rows: roles } = useAll<Either>(realm.path as Listing<Either>)
  const tree = usePermissions(realm.path === '/user/role')
  const choice = useRef<RefSelectProps>(null)
  const choosing = Boolean(roles && tree) && ids.length < 2

  // The drawer takes the focus when it opens, and may be there before the roles.
  useEffect(() => {
    if (!choosing) return
    const next = requestAnimationFrame(() => choice.current?.focus())
    return () => cancelAnimationFrame(next)
  }, [choosing])

  if (!roles || !tree) return <Skeleton active title={false} />

  const [a, b] = [roles.find(({ id }) => id === first), roles.find(({ id }) => id === second)]
  const select = (label: Key, id: string, role: Either | undefined, other: Either | undefined, choose: (id: number) => void, ref?: Ref<RefSelectProps>) => (
    <div style={{ minWidth: 0 }}>
      <label htmlFor={id}>{t(label)}</label>
      <Select<number>
        ref={ref}
        id={id}
        aria-label={t(label)}
        style={{ width: '100%', marginTop: 4 }}
        value={role?.id}
        placeholder={t('compare.choose')}
        showSearch={byLabel}
        onChange={choose}
        options={roles.map((one) => ({ value: one.id, label: marked(one), disabled: one.id === other?.id }))}
      />
    </div>
  )
  return (
    <Flex vertical gap={24}>
      <div style={columns}>
        {select('compare.first', firstName, a, b, setFirst)}
        {select('compare.second', secondName, b, a, setSecond, choice)}
      </div>
      {a && b ? (
        <>
          <Properties a={a} b={b} realm={realm} roles={roles} />
          <Permissions a={a} b={b} tree={tree} app={realm.path === '/user/role'} />
        </>
      ) : (
        <Empty image={Empty.PRESENTED_IMAGE_SIMPLE} description={t('compare.start')} />
      )}
    </Flex>
  )
}

// marked is the name of a role, with a mark if it is disabled.
const marked = ({ name, status }: Either): string => (status ? name : t('choice.off', { name }))

const columns = { display: 'grid', gridTemplateColumns: 'repeat(2, minmax(0, 1fr))', gap: 16 } as const

// usePermissions are the permissions of a realm; without permission to read them, those that the user can grant.
function usePermissions(app: boolean): Node[] | undefined {
  const { may } = useAccount()
  const reads = may('admin.rule.query')
  const whole = useGet(!app && reads ? '/admin/rule' : '').data?.data
  const granted = useChoices('permission', !app && !reads)
  const ofApp = useChoices('app_permission', app)
  return (whole ?? granted ?? ofApp) as Node[] | undefined
}

// useDepartments are the departments that the user sees.
function useDepartments(on: boolean): Map<number, Dept> | undefined {
  const { may } = useAccount()
  const reads = may('admin.dept.query')
  const whole = useGet(on && reads ? '/admin/dept' : '').data?.data
  const offered = useChoices('dept', on && !reads && may('admin.role.update'))
  const depts = (whole ?? offered) as Dept[] | undefined
  return useMemo(() => depts && nodesOf(depts), [depts])
}

const labels: Record<Trait, Key> = {
  status: 'enabled',
  data_scope: 'role.scope',
  require_factor: 'role.factor',
  password_off: 'role.password_off',
  default: 'app_role.default',
  user_count: 'role.holders',
  grant_role_ids: 'role.give',
}

// Properties are a table of the properties of two roles other than permissions. On narrow screens, the name of a property is above its values.
function Properties({ a, b, realm, roles }: { a: Either; b: Either; realm: Of; roles: Either[] }) {
  const { may } = useAccount()
  const { token } = theme.useToken()
  const md = useWider('md')
  const depts = useDepartments([a, b].some((role) => 'data_scope' in role && role.data_scope === 'custom'))

  function scope({ data_scope, dept_ids }: Role): ReactNode {
    if (data_scope !== 'custom') return t(`role.scope.${data_scope}`)
    const seen = dept_ids.flatMap((id) => depts?.get(id)?.name ?? [])
    const unseen = dept_ids.length - seen.length
    return t('compare.depts', { names: joined([...seen, ...(unseen ? [t('compare.unseen.depts', { n: unseen })] : [])]) })
  }

  function members(role: Either): ReactNode {
    const text = people(role.user_count)
    return role.user_count && may(`${realm.people.access}.query`) ? <Link to={`${realm.people.path}?role_id=${role.id}`}>{text}</Link> : text
  }

  function value(trait: Trait, role: Either): ReactNode {
    if (trait === 'user_count') return members(role)
    if (trait === 'data_scope') return scope(role as Role)
    if (trait !== 'grant_role_ids') return t((role as Partial<Record<Trait, unknown>>)[trait] ? 'yes' : 'no')
    if (isOwner(role)) return t('all')
    const given = roles.filter(({ id }) => (role as Role).grant_role_ids.includes(id))
    return given.length ? joined(given.map(marked)) : t('none')
  }

  const line = `1px solid ${token.colorBorderSecondary}`
  const cell = {
    paddingBlock: 8,
    paddingInlineEnd: 16,
    paddingInlineStart: 0,
    verticalAlign: 'top',
    overflowWrap: 'anywhere',
    textAlign: 'start',
    fontWeight: 'normal',
  } as const
  const name = (role: Either) => (
    <th scope="col" style={{ ...cell, fontWeight: token.fontWeightStrong }}>
      <bdi>{role.name}</bdi>
    </th>
  )
  return (
    <table style={{ width: '100%', tableLayout: 'fixed', borderCollapse: 'collapse' }}>
      <thead>
        <tr>
          {md && (
            <th scope="col" style={{ ...cell, width: '32%' }}>
              <span className="visually-hidden">{t('compare.property')}</span>
            </th>
          )}
          {name(a)}
          {name(b)}
        </tr>
      </thead>
      {traitsOf(realm.path === '/user/role').map((trait) => {
        const equal = isEqual(trait, a, b)
        const mark = equal ? <Typography.Text type="secondary">{t('compare.same')}</Typography.Text> : <Tag variant="filled">{t('compare.different')}</Tag>
        const title = (
          <Flex gap="0 8px" wrap align="center">
            <span>{t(labels[trait])}</span>
            {mark}
          </Flex>
        )
        const values = [a, b].map((role) => (
          <td key={role.id} style={{ ...cell, paddingBlockStart: md ? 8 : 0 }}>
            {value(trait, role)}
          </td>
        ))
        return (
          <tbody key={trait} style={{ borderTop: line }}>
            {md ? (
              <tr>
                <th scope="row" style={cell}>
                  {title}
                </th>
                {values}
              </tr>
            ) : (
              <>
                <tr>
                  <th scope="rowgroup" colSpan={2} style={cell}>
                    {title}
                  </th>
                </tr>
                <tr>{values}</tr>
              </>
            )}
          </tbody>
        )
      })}
    </table>
  )
}

// Permissions are those that only one of two roles grants, and, once expanded, those of both.
function Permissions({ a, b, tree, app }: { a: Either; b: Either; tree: Node[]; app: boolean }) {
  const md = useWider('md')
  const [all, setAll] = useState(false)
  const known = useMemo(() => nodesOf(tree), [tree])
  const shares = useMemo(() => {
    const held = (role: Either) => (isOwner(role) ? new Set([...known.keys(), ...a.rule_ids, ...b.rule_ids]) : new Set(role.rule_ids))
    return sharesOf(held(a), held(b))
  }, [a, b, known])
  const lists = { tree, known, app }
  return (
    <Flex vertical gap={16}>
      <Typography.Text strong>{t('role.permissions')}</Typography.Text>
      {(isOwner(a) || isOwner(b)) && <Alert type="info" showIcon title={t('role.owner')} />}
      <div style={md ? columns : { ...columns, gridTemplateColumns: 'minmax(0, 1fr)' }}>
        <Share title={t('compare.only', { name: a.name, n: shares.first.size })} ids={shares.first} {...lists} />
        <Share title={t('compare.only', { name: b.name, n: shares.second.size })} ids={shares.second} {...lists} />
      </div>
      <div>
        {shares.both.size ? (
          <Button type="link" style={{ padding: 0 }} icon={all ? <UpOutlined /> : <DownOutlined />} aria-expanded={all} onClick={() => setAll(!all)}>
            {t('compare.both', { n: shares.both.size })}
          </Button>
        ) : (
          t('compare.both', { n: 0 })
        )}
        {all && <Names ids={shares.both} {...lists} />}
      </div>
    </Flex>
  )
}

type Lists = { tree: Node[]; known: ReadonlyMap<number, unknown>; app: boolean; ids: Set<number> }

function Share({ title, ...lists }: Lists & { title: string }) {
  const id = useId()
  return (
    <section aria-labelledby={id}>
      <Typography.Text id={id} strong style={{ overflowWrap: 'anywhere' }}>
        {title}
      </Typography.Text>
      <Names {...lists} />
    </section>
  )
}

// Names are permissions below the menus and pages that they belong to.
function Names({ tree, known, app, ids }: Lists) {
  const unseen = [...ids].filter((id) => !known.has(id)).length
  return (
    <>
      <Nodes nodes={tree} ids={ids} app={app} />
      {unseen > 0 && <div>{t('compare.unseen', { n: unseen })}</div>}
    </>
  )
}

function Nodes({ nodes: all, ids, app, nested = false }: { nodes: Node[]; ids: Set<number>; app: boolean; nested?: boolean }) {
  const nodes = all.filter((node) => holds(node, ids))
  if (!nodes.length) return null
  return (
    <ul style={{ listStyle: 'none', margin: '4px 0 0', paddingInlineStart: nested ? 16 : 0, overflowWrap: 'anywhere' }}>
      {nodes.map((node) => {
        const name = <bdi>{app ? node.name : permissionName({ name: node.name, local: node.local ?? '' })}</bdi>
        return (
          <li key={node.id}>
            {ids.has(node.id) ? (
              <>
                {name}{' '}
                <Typography.Text type="secondary" style={{ fontSize: 12 }}>
                  {node.key}
                </Typography.Text>
                {node.status === 0 && <Tag variant="filled">{t('role.off')}</Tag>}
              </>
            ) : (
              <Typography.Text type="secondary">{name}</Typography.Text> // only a heading
            )}
            <Nodes nodes={node.children ?? []} ids={ids} app={app} nested />
          </li>
        )
      })}
    </ul>
  )
}
