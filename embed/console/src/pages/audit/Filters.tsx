import { Button, Flex, Select, Tag, Typography, theme } from 'antd'
import { lazy, Suspense } from 'react'
import { joined, type Key, t } from '../../i18n'
import { Choice } from '../../ui/Choice'
import { Finder } from '../../ui/Finder'
import { daysAgo } from '../../ui/log/days'
import { what } from '../../ui/log/words'
import { useKeyName } from '../../ui/useKeyName'
import { actions, changes, collections, meant } from './meant'

// The calendar is large, and the list need not wait for it.
const Range = lazy(async () => ({ default: (await import('../../ui/Range')).Range }))

type Props = { params: URLSearchParams; set: (values: Record<string, string | string[] | undefined>) => void }

const capital = (text: string) => text.slice(0, 1).toUpperCase() + text.slice(1)

// Filters narrow the change log by person, kind of record, and action.
export function Filters({ params, set }: Props) {
  const [kind, id] = (params.get('actor') ?? '').split(':')
  const change = params.get('change')
  const action = params.get('action')
  const person = (of: 'user' | 'app_user') => (
    <Finder
      of={of}
      label={t('audit.filter.who')}
      value={kind === of ? Number(id) || undefined : undefined}
      onChange={(to) => set({ actor: to ? `${of}:${to}` : undefined })}
    />
  )
  return (
    <>
      {person(kind === 'app_user' ? 'app_user' : 'user')}
      <Choice
        list={{ params, set: (values) => set({ ...values, record: undefined }) }}
        name="collection"
        label={t('audit.filter.what')}
        options={collections.map((value) => ({ value, label: capital(what(t, value)) }))}
      />
      <Select<string>
        allowClear
        style={{ width: 160 }}
        placeholder={t('audit.filter.kind')}
        aria-label={t('audit.filter.kind')}
        value={change ? `change ${change}` : action ? `action ${action}` : undefined}
        onChange={(to?: string) => {
          const [name, value] = to?.split(' ') ?? []
          set({ change: undefined, action: undefined, ...(name && { [name]: value }) })
        }}
        options={[
          { label: t('audit.kind.changes'), options: changes.map((value) => ({ value: `change ${value}`, label: t(`audit.kind.${value}`) })) },
          { label: t('audit.kind.actions'), options: actions.map((value) => ({ value: `action ${value}`, label: t(`audit.kind.${value}`) })) },
        ]}
      />
    </>
  )
}

// Periods are the usual periods as buttons, and a calendar.
export function Periods({ params, set }: Props) {
  const { token } = theme.useToken()
  const range = params.getAll('at[]')
  const now = new Date()
  const period = (first: number, last: number) => [daysAgo(first, now).toISOString(), daysAgo(last, now, true).toISOString()]
  const periods: [Key, string[]][] = [
    ['audit.today', period(0, 0)],
    ['audit.yesterday', period(1, 1)],
    ['audit.week', period(6, 0)],
  ]
  return (
    <Flex gap={8} wrap align="center" role="group" aria-label={t('audit.period')} style={{ marginBottom: 16 }}>
      {periods.map(([key, at]) => {
        const on = at.join() === range.join()
        return (
          <Button key={key} type={on ? 'primary' : 'default'} aria-pressed={on} onClick={() => set({ 'at[]': on ? undefined : at })}>
            {t(key)}
          </Button>
        )
      })}
      <Suspense fallback={<span style={{ width: 240, height: token.controlHeight }} />}>
        <Range label={t('audit.period')} value={range} onChange={(to) => set({ 'at[]': to })} />
      </Suspense>
    </Flex>
  )
}

// Narrowed are the filters that links set and no field shows, to be removed.
export function Narrowed({ params, set }: Props) {
  const record = params.get('record')
  const operation = params.get('operation')
  const [job, address] = [params.get('job'), params.get('address')]
  const key = /^key:(\d+)$/.exec(params.get('actor') ?? '')?.[1]
  const keyName = useKeyName(key)
  const shown = (
    [
      ['record', record && t('audit.filter.record', { what: capital(what(t, params.get('collection') ?? 'record')), id: record })],
      ['actor', key && t('audit.filter.key', { name: keyName || key })],
      ['job', job && t('audit.filter.job', { id: job })],
      ['address', address && t('audit.filter.address', { address })],
      ['operation', operation && t('audit.filter.operation', { operation })],
    ] as const
  ).flatMap(([name, text]) => (text ? [{ name, text }] : []))
  const { words } = meant(params, t)
  if (shown.length + words.length === 0) return null
  return (
    <Flex gap={8} wrap align="center" style={{ marginBottom: 16 }}>
      {words.length > 0 && <Typography.Text type="secondary">{t('audit.meant', { words: joined(words) })}</Typography.Text>}
      {shown.map(({ name, text }) => (
        <Tag key={name} closable={{ 'aria-label': t('audit.filter.remove', { name: text }) }} onClose={() => set({ [name]: undefined })}>
          {text}
        </Tag>
      ))}
    </Flex>
  )
}
