import dayjs from 'dayjs'
import { lazy, Suspense } from 'react'
import { Flex, Skeleton } from 'antd'
import type { Path } from '../../api/paths'
import type { LoginLog } from '../../api/types'
import { useAccount } from '../../app/account'
import { loadTexts, t } from '../../i18n'
import { count } from '../../ui/format'
import { Time } from '../../ui/Time'
import { useLive } from '../../ui/useLive'
import { SignIns } from './Recent'
import { type Tile, Tiles } from './Tiles'

const Changes = lazy(async () => ({ default: (await Promise.all([import('./Changes'), loadTexts('audit', 'actions', 'builtins')]))[0].Changes }))

// Overview shows the people, their invitations and lock-outs, the last proven backup and the newest changes.
export function Overview({ tiles }: { tiles: Tile[] }) {
  const { may } = useAccount()
  const all = [...useFigures(), ...tiles]
  return (
    <>
      {all.length > 0 && <Tiles tiles={all} />}
      <Flex wrap gap={16}>
        {may('system.audit.query') && (
          <Suspense fallback={<Skeleton active title={false} />}>
            <Changes />
          </Suspense>
        )}
        {may('system.loginlog.query') && <SignIns title={t('home.sign_ins')} path="/system/loginlog" to="/system/loginlog" />}
      </Flex>
    </>
  )
}

const week = 7

// useTotal returns the number of records of a list, of those created between two numbers of days ago if from is set.
function useTotal(path: Path<'GET'> | '', from?: number, to = 0): number | undefined {
  const ago = (days: number) => dayjs().subtract(days, 'day').toISOString()
  const { data } = useLive(path, from ? 600 : 120, () => ({ pageSize: 1, ...(from && { 'created_at[]': [ago(from), ago(to)] }) }), `${from} ${to}`)
  return (data as { total?: number } | undefined)?.total
}

// usePeople is the tile of the users of a realm, with those who are new.
function usePeople(path: '/admin/list' | '/user/list', on: boolean, label: string): Tile[] {
  const total = useTotal(on ? path : '')
  const some = on && !!total
  const fresh = useTotal(some ? path : '', week)
  const before = useTotal(some ? path : '', 2 * week, week)
  const known = fresh !== undefined && before !== undefined
  if (!on || (total === 0 && path === '/user/list')) return []
  return [{ label, to: path, value: total !== undefined && count(total), more: known && t('home.new', { n: count(fresh), before: count(before) }) }]
}

const newest = 20

// useRecords is the tile of the records of a list that is not filtered by time: the newest say how many are new.
function useRecords(path: '/admin/role' | '/file/list', on: boolean, label: string): Tile[] {
  const { data } = useLive(on ? path : '', 120, () => ({ pageSize: newest, sorter: '{"id":"descend"}' }), 'newest')
  if (!on) return []
  const page = data as { total: number; data: { created_at: string }[] } | undefined
  const ages = page?.data.map(({ created_at }) => Math.max(0, dayjs().diff(created_at, 'day', true))) ?? []
  const within = (from: number, to: number) => {
    const n = ages.filter((age) => age >= from && age < to).length
    return ages.length === newest && ages.at(-1)! < to ? `${count(n)}+` : count(n)
  }
  return [{ label, to: path, value: page && count(page.total), more: !!page?.total && t('home.new', { n: within(0, week), before: within(week, 2 * week) }) }]
}

// useFigures returns the tiles that the user may see.
function useFigures(): Tile[] {
  const { may } = useAccount()
  const invites = may('admin.invite.query')
  const pending = useTotal(invites ? '/admin/invite' : '')
  return [
    ...usePeople('/admin/list', may('admin.list.query'), t('menu.admin.list')),
    ...usePeople('/user/list', may('user.list.query'), t('menu.user.list')),
    ...useRecords('/admin/role', may('admin.role.query'), t('menu.admin.role')),
    ...useRecords('/file/list', may('file.list.query'), t('menu.file.list')),
    ...(invites ? [{ label: t('home.invited'), to: '/admin/invite', value: pending !== undefined && count(pending) }] : []),
    ...useLocked(),
    ...useProven(),
  ]
}

// useLocked is the tile of the users who are locked out now.
function useLocked(): Tile[] {
  const { may } = useAccount()
  const on = may('system.loginlog.query')
  const since = () => ({ pageSize: 100, 'created_at[]': [dayjs().subtract(1, 'day').toISOString(), dayjs().toISOString()] })
  const { data } = useLive(on ? '/system/loginlog' : '', 120, since, 'locked')
  if (!on) return []
  const locked = data?.data.filter(({ locked_until, result }: LoginLog) => locked_until && result !== 'success' && dayjs(locked_until).isAfter(dayjs()))
  const names = [...new Set(locked?.map(({ username }) => username))]
  return [
    {
      label: t('home.locked'),
      to: '/system/loginlog',
      bad: names.length > 0,
      value: locked && count(names.length),
      more: names.slice(0, 3).join(t('list.separator')),
    },
  ]
}

// useProven is the tile of the newest backup that is proven.
function useProven(): Tile[] {
  const { may } = useAccount()
  const on = may('system.copy.query')
  const { data } = useLive(on ? '/system/backup-target' : '', 120)
  if (!on) return []
  const newest = data?.data.reduce<string | null>((at, { proven_at }) => (proven_at && (!at || proven_at > at) ? proven_at : at), null)
  const value = newest ? (
    <span style={{ fontSize: 16 }}>
      <Time at={newest} />
    </span>
  ) : (
    newest === null && '—'
  )
  return [{ label: t('home.proven'), to: '/system/backup', bad: data?.data.some(({ unproven }) => unproven === 1), value }]
}
