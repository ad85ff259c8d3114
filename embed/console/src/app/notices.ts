import { Failure, put } from '../api/request'
import { mark } from '../api/session'
import { store } from '../ui/store'
import { useLive } from '../ui/useLive'
import { useAccount } from './account'
import { type Closed, kindsOf, type Line, open, readUntil } from './notice-lines'
import { useUnproven } from './useUnproven'

const name = 'reeve.notices_closed'

function stored(): Closed {
  try {
    const { session, closed } = JSON.parse(sessionStorage.getItem(name) ?? '') as { session: string; closed: Closed }
    return session === mark() ? closed : {}
  } catch {
    return {}
  }
}

const closed = store<Closed>(stored())

function useUnwell(): string[] {
  const { may } = useAccount()
  const { data } = useLive(may('system.info') ? '/system/health' : '', 120)
  return data?.parts.filter(({ state }) => state !== 'ok').map((part) => part.name) ?? []
}

// useAccountNotices returns the lines of the account, and how to close one.
export function useAccountNotices(): { lines: Line[]; close: (line: Line) => Promise<void> } {
  const { info, reload } = useAccount()
  const hidden = closed.use()

  async function close(line: Line) {
    document.getElementById('main')?.focus({ preventScroll: true })
    const next = { ...hidden, [line.key]: line.stamp }
    const until = 'notices' in line && readUntil(info.notices, next)
    try {
      if (until) await put('/admin/account/notice', { until })
    } catch (cause) {
      if (!(cause instanceof Failure)) throw cause
      return // already shown
    }
    sessionStorage.setItem(name, JSON.stringify({ session: mark(), closed: next }))
    closed.set(next)
    if (until) await reload()
  }

  return { lines: kindsOf(open(info.notices, hidden)), close }
}

// useNotices returns all lines.
export function useNotices(): ReturnType<typeof useAccountNotices> {
  const { info } = useAccount()
  const hidden = closed.use()
  const { lines, close } = useAccountNotices()
  const unproven = useUnproven()
  const parts = useUnwell()
  const due = info.acting ? null : info.factor_due
  const lasting: Line[] = [
    ...(due ? [{ key: 'factor_due', stamp: due, due }] : []),
    ...(unproven.length ? [{ key: 'unproven', stamp: unproven.map((one) => one.name).join(), unproven }] : []),
    ...(parts.length ? [{ key: 'health', stamp: parts.join(), parts }] : []),
  ]
  return { lines: [...lines, ...lasting.filter(({ key, stamp }) => hidden[key] !== stamp)], close }
}
