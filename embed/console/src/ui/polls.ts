import type { Path } from '../api/paths'
import { Failure, get, type Query } from '../api/request'
import { isStreaming } from '../app/live'
import { recall, remember } from './answers'
import { onReturn, present } from './presence'
import { isTold } from './topics'

// One poll per question, for all components that show its answer: as often as the most frequent of
// them needs, while the user is present. Data that events contain in full is not polled.

export type State = { question: string; data?: unknown; failure?: Failure }
export type Watcher = { seconds: number; query: () => Query; show: (state: State) => void }
type Poll = { watchers: Set<Watcher>; state: State; look: () => Promise<void>; join: (seconds: number) => void; stop: () => void }

const polls = new Map<string, Poll>()

// watch shows the answers to a question until the returned function is called. An answer that is too old for the
// component, or a failure, is asked for again at once.
export function watch(question: string, path: Path<'GET'>, watcher: Watcher): () => void {
  const known = polls.get(question)
  const poll = known ?? start(question, path)
  poll.watchers.add(watcher)
  if (known) watcher.show(poll.state)
  poll.join(watcher.seconds)
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
  let last = 0 // time of the newest request, or of its answer
  let [sent, shown] = [0, 0] // numbers of the newest request, and of that whose answer is shown
  const watchers: Poll['watchers'] = new Set()
  const pushed = () => isTold(path) && isStreaming()
  const left = () => last + Math.min(...[...watchers].map(({ seconds }) => seconds)) * 1000 - Date.now()
  const plan = () => {
    clearTimeout(wait)
    if (!control.signal.aborted) wait = setTimeout(tick, left())
  }
  const tick = () => {
    if (pushed()) {
      last = Date.now()
      plan()
    } else if (present()) void look()
  }
  const look = async () => {
    const number = ++sent
    last = Date.now()
    let next: State | undefined
    try {
      const data = await get(path, [...watchers][0]?.query(), { signal: control.signal, quiet: true })
      if (number > shown) remember(question, data)
      next = { question, data }
    } catch (cause) {
      if (cause instanceof Failure) next = { ...poll.state, failure: cause }
    }
    if (next && number > shown) {
      shown = number
      last = Date.now()
      poll.state = next
      for (const { show } of watchers) show(next)
    }
    plan()
  }
  const join = (seconds: number) => {
    if (!sent || (shown === sent && (poll.state.failure || Date.now() - last > seconds * 1000))) void look()
    else plan()
  }
  const forget = onReturn(() => {
    if (!pushed() && left() <= 0) void look()
    else plan()
  })
  const stop = () => {
    control.abort()
    clearTimeout(wait)
    forget()
  }
  const poll: Poll = { watchers, state: { question, data: recall(question) }, look, join, stop }
  polls.set(question, poll)
  return poll
}
