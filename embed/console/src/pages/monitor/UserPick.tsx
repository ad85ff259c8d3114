import { Input, Select } from 'antd'
import { useEffect, useState } from 'react'
import { get } from '../../api/request'
import type { AppUser, User } from '../../api/types'
import { useAccount } from '../../app/account'
import { t } from '../../i18n'

type Option = { value: string; label: string }
type Props = { value?: string; onChange?: (value: string | undefined) => void; app?: boolean; id?: string; width?: number | string }

const named = (realm: string, user: User | AppUser): Option => ({
  value: `${realm}:${user.id}`,
  label: user.nickname ? `${user.username} (${user.nickname})` : user.username,
})

// UserPick selects a user by name, as admin:3, or as app:7 where app users count too.
// Users who can't list users enter the ID.
export function UserPick({ value, onChange, app = false, id, width = 200 }: Props) {
  const { may } = useAccount()
  const [options, setOptions] = useState<Option[]>([])
  const [search, setSearch] = useState('')
  const [opened, setOpened] = useState(false)
  const admins = may('admin.list.query')
  const apps = app && may('user.list.query')
  const missing = value !== undefined && !options.some((o) => o.value === value)

  useEffect(() => {
    if (!opened || !(admins || apps)) return
    const control = new AbortController()
    const list = async (path: '/admin/list' | '/user/list', realm: string) =>
      (await get(path, { keywordSearch: search, pageSize: 20 }, { signal: control.signal })).data.map((u) => named(realm, u))
    const wait = setTimeout(
      () => {
        void Promise.all([admins ? list('/admin/list', 'admin') : [], apps ? list('/user/list', 'app') : []]).then(
          (found) => setOptions(found.flat()),
          () => {},
        )
      },
      search ? 250 : 0,
    )
    return () => {
      clearTimeout(wait)
      control.abort()
    }
  }, [opened, search, admins, apps])

  useEffect(() => {
    // the name of the user in the URL
    const [realm, number] = (value ?? '').split(':')
    if (!missing || opened || !(realm === 'app' ? apps : admins)) return
    get(`${realm === 'app' ? '/user/list' : '/admin/list'}/${Number(number)}`, {}, { quiet: true }).then(
      (user) => setOptions((old) => [...old, named(realm!, user)]),
      () => {},
    )
  }, [missing, value, opened, admins, apps])

  if (!admins && !apps) {
    return (
      <Input
        id={id}
        inputMode="numeric"
        style={{ width }}
        placeholder={t('monitor.user_id')}
        aria-label={t('monitor.user_id')}
        value={value?.split(':')[1] ?? ''}
        onChange={(e) => {
          const n = Number(e.target.value.replace(/\D/g, ''))
          onChange?.(n ? `admin:${n}` : undefined)
        }}
      />
    )
  }
  const shown = missing ? [...options, { value, label: `#${value.split(':')[1]}` }] : options
  type Group = { label: string; options: Option[] }
  const group = (realm: string, label: string): Group => ({ label, options: shown.filter((o) => o.value.startsWith(realm)) })
  const grouped: (Option | Group)[] = app ? [group('admin', t('menu.admin.list')), group('app', t('menu.user.list'))].filter((g) => g.options.length) : shown
  return (
    <Select<string, Option | Group>
      id={id}
      allowClear
      showSearch={{ filterOption: false, onSearch: setSearch }}
      style={{ width }}
      placeholder={t('monitor.filter.user_id')}
      aria-label={t('monitor.filter.user_id')}
      value={value}
      onChange={(v?: string) => onChange?.(v)}
      onOpenChange={setOpened}
      notFoundContent={search ? t('empty.narrowed') : ' '}
      options={grouped}
    />
  )
}
