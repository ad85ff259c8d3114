import { Button } from 'antd'
import { useEffect, useState } from 'react'
import { stopActing } from '../api/acting'
import { Failure, del, get } from '../api/request'
import type { Info } from '../api/types'
import { t } from '../i18n'

type Props = { acting: NonNullable<Info['acting']>; name: string }

const every = 10_000 // milliseconds

// ActingBar says on every page that the user acts as another one, and stops it.
export function ActingBar({ acting: { by, writes, until }, name }: Props) {
  const [left, setLeft] = useState(() => Date.parse(until) - Date.now())
  const [busy, setBusy] = useState(false)

  // The clocks may differ: the server says whether it is over, and a response that says so reloads
  // the page.
  useEffect(() => {
    const timer = setInterval(() => {
      const left = Date.parse(until) - Date.now()
      setLeft(left)
      if (left <= 0) get('/admin/info', {}, { quiet: true }).catch(() => {})
    }, every)
    return () => clearInterval(timer)
  }, [until])

  async function stop() {
    setBusy(true)
    try {
      await del('/admin/act-as')
      stopActing()
    } catch (cause) {
      if (!(cause instanceof Failure)) throw cause // already shown
    } finally {
      setBusy(false)
    }
  }

  return (
    <div role="status" className="acting">
      <span className="acting-text">
        <b>
          <Who by={by} name={name} />
        </b>{' '}
        {t(writes ? 'acting.writes' : 'acting.read_only')} {/* It would be announced every minute. */}
        <span aria-live="off">{t('acting.left', { n: Math.max(0, Math.ceil(left / 60_000)) })}</span>
      </span>
      <Button size="small" loading={busy} onClick={() => void stop()}>
        {t('acting.stop')}
      </Button>
    </div>
  )
}

// Who says who acts as whom. Long names are shortened each, so that the text around them stays.
function Who(names: { by: string; name: string }) {
  const parts = t('acting.as').split(/\{(by|name)\}/) // every second part is a name
  return parts.map((part, n) => {
    if (part !== 'by' && part !== 'name') return part
    return (
      <bdi key={n} className="acting-name" title={names[part]}>
        {names[part]}
      </bdi>
    )
  })
}
