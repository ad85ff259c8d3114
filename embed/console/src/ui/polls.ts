import type { Path } from '../api/paths'
import { Failure, get, type Query } from '../api/request'
import { isStreaming } from '../app/live'
import { recall, remember } from './answers'
import { onReturn, present } from './presence'
import { isTold } from './topics'

// One poll per question, for all components that show its answer: as often as the most frequent of
// them needs (from the next time on), while the user is present. Data that events contain in full is not polled.

export type State = { question: string; data?: unknown; failure?: Failure }
export type Watcher = { seconds: number; query: () => Query; show: (state: State) => void }
type Poll = { watchers: Set<Watcher>; state: State; look: () => Promise<void>; stop: () => void }

const polls = new Map<string, Poll>()

// watch shows the answers to a question until the returned function is called.
export function watch(question: string, path: Path<'GET'>, watcher: Watcher): () => void {
  const known = polls.get(question)
  const poll = known ?? start(question, path)
  poll.watchers.add(watcher)
  if (known) watcher.show(poll.state)
  else void poll.look()
  return () => {
    poll.watchers.delete(watcher)
    if (poll.watchers.size > 0) return
    poll.stop()
    polls.delete(question)
  }
}

// lookAgain asks a question now, if a component shows its answer.
export const lookAgain = async (question: string): Promise<void> => polls.get(question)?.look()

function start(question: string, path: Path<'GET'>): Poll {
  const control = new AbortController()
  let wait: ReturnType<typeof setTimeout> | undefined
  let last = 0
  const watchers: Poll['watchers'] = new Set()
  const period = () => Math.min(...[...watchers].map(({ seconds }) => seconds)) * 1000
  const pushed = () => isTold(path) && isStreaming()
  const plan = () => {
    clearTimeout(wait)
    if (!control.signal.aborted) wait = setTimeout(tick, last + period() - Date.now())
  }
  const tick = () => {
    if (pushed()) {
      last = Date.now()
      plan()
    } else if (present()) void look()
  }
  const look = async () => {
    last = Date.now()
    const [first] = watchers
    try {
      const data = await get(path, first?.query(), { signal: control.signal, quiet: true })
      remember(question, data)
      poll.state = { question, data }
    } catch (cause) {
      if (cause instanceof Failure) poll.state = { ...poll.state, failure: cause }
    }
    for (const { show } of watchers) show(poll.state)
    plan()
  }
  const forget = onReturn(() => {
    if (!pushed() && Date.now() - last >= period()) void look()
  })
  const stop = () => {
    control.abort()
    clearTimeout(wait)
    forget()
  }
  const poll: Poll = { watchers, state: { question, data: recall(question) }, look, stop }
  polls.set(question, poll)
  return poll
}
