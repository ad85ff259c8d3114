import { Select } from 'antd'
import { useEffect, useState } from 'react'
import { t } from '../../i18n'
import { useFound } from '../../ui/useFound'

type Props = { value?: string; onChange?: (value: string | undefined) => void; app?: boolean; id?: string; width?: number | string }

// UserPick selects a user by name, as admin:3, or as app:7 where app users count too. The permission
// for what it filters is enough.
export function UserPick({ value, onChange, app = false, id, width = 200 }: Props) {
  const [typed, setTyped] = useState('')
  const [asked, setAsked] = useState<string>() // undefined until first opened
  const [realm, number] = (value ?? '').split(':')
  const chosen = (of: string) => (realm === of ? Number(number) : undefined)
  const users = useFound('user', asked, chosen('admin')).found
  const appUsers = useFound('app_user', app ? asked : undefined, chosen('app')).found

  useEffect(() => {
    if (asked === undefined) return
    const wait = setTimeout(() => setAsked(typed), 250)
    return () => clearTimeout(wait)
  }, [typed, asked])

  const of = (name: string, people: typeof users) => people.map((one) => ({ value: `${name}:${one.value}`, label: one.label }))
  const groups = [
    { label: t('menu.admin.list'), options: of('admin', users) },
    { label: t('menu.user.list'), options: of('app', appUsers) },
  ]
  const known = [...users, ...appUsers].some((one) => one.value === Number(number))
  return (
    <Select<string>
      id={id}
      allowClear
      showSearch={{ filterOption: false, onSearch: setTyped }}
      style={{ width }}
      placeholder={t('monitor.filter.user_id')}
      aria-label={t('monitor.filter.user_id')}
      value={value}
      labelRender={known ? undefined : () => `#${number}`}
      onChange={(v?: string) => onChange?.(v)}
      onOpenChange={(open) => {
        if (open) setAsked((before) => before ?? '')
      }}
      notFoundContent={typed ? t('empty.narrowed') : ' '}
      options={app ? groups.filter((g) => g.options.length) : groups[0]!.options}
    />
  )
}
