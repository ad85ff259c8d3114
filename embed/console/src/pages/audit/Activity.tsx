import { DownloadOutlined } from '@ant-design/icons'
import { Button } from 'antd'
import { lazy, Suspense, useMemo } from 'react'
import { useNavigate, useParams } from 'react-router'
import { download, type Query, save } from '../../api/request'
import { useAccount } from '../../app/account'
import { t } from '../../i18n'
import { Bar } from '../../ui/Bar'
import { EntryList } from '../../ui/log/EntryList'
import { useLog } from '../../ui/log/useLog'
import { who } from '../../ui/log/words'
import { useLastValue } from '../../ui/useLastValue'
import { useQueryParams } from '../../ui/useQueryParams'
import { Filters, Narrowed, Periods } from './Filters'
import { meant } from './meant'

const EntryDrawer = lazy(async () => ({ default: (await import('../../ui/log/EntryDrawer')).EntryDrawer }))

const UndoAll = lazy(async () => ({ default: (await import('./UndoAll')).UndoAll }))

const filters = ['actor', 'collection', 'record', 'change', 'operation', 'action', 'address', 'job', 'at[]', 'keywordSearch']

// Activity is the change log: who did what, the newest first. The number of the open entry
// is in the URL.
export function Activity() {
  const { may } = useAccount()
  const navigate = useNavigate()
  const seq = Number(useParams()['*']) || undefined
  const kept = useLastValue(seq) // the drawer is loaded when first opened
  const { params, set } = useQueryParams()
  const search = params.toString()
  const query = useMemo(() => asked(new URLSearchParams(search)), [search])
  const log = useLog('/system/audit', query)
  const [one, range] = [params.get('actor'), params.getAll('at[]')]
  const ofOne = may('system.audit.undo') && one && range.length === 2 && filters.filter((name) => params.has(name)).length === 2
  const by = ofOne ? log.entries?.find(({ actor }) => `${actor.kind}:${actor.id}` === one) : undefined
  const narrowed = filters.some((name) => params.has(name))
  const show = (to?: number) => void navigate(`/system/audit${to ? `/${to}` : ''}${search && `?${search}`}`)
  return (
    <>
      <Bar
        title={t('menu.system.audit')}
        list={{ params, set, reload: log.reload }}
        filters={<Filters params={params} set={set} />}
        actions={
          <>
            {one && by && (
              <Suspense>
                <UndoAll actor={one} range={range as [string, string]} name={who(t, by.actor)} onUndone={log.reload} />
              </Suspense>
            )}
            {may('system.audit.export') && (
              <Button icon={<DownloadOutlined />} title={t('audit.export.hint')} onClick={() => void download('/system/audit-export').then(save)}>
                {t('audit.export')}
              </Button>
            )}
          </>
        }
      />
      <Periods params={params} set={set} />
      <Narrowed params={params} set={set} />
      <EntryList
        log={log}
        open={show}
        empty={t('audit.empty')}
        onClear={narrowed ? () => set(Object.fromEntries(filters.map((name) => [name, undefined]))) : undefined}
      />
      <Suspense>{kept && <EntryDrawer seq={seq} onClose={() => show()} />}</Suspense>
    </>
  )
}

// asked is the query of the API for the filters in the URL.
function asked(params: URLSearchParams): Query {
  const query: Query = {}
  for (const name of filters) {
    const values = params.getAll(name)
    if (values.length) query[name] = name.endsWith('[]') ? values : values[0]
  }
  const { rest, filters: further } = meant(params, t)
  return { ...query, keywordSearch: rest || undefined, ...further }
}
