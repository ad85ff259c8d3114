import { actingAs } from '../api/acting'
import { writtenAt } from '../api/changes'
import { hooks } from '../api/request'
import { lapse, mark } from '../api/session'
import type { Message } from '../api/sse'
import { type Change, pause, read } from '../api/stream'
import { onReturn, present } from '../ui/presence'
import { store } from '../ui/store'

// Changes by others, from the event stream. The tabs of a browser share one stream: the tab that
// holds a lock has it, and passes on what it receives. When that tab closes, the next one
// continues at the same position. Browsers offer locks only with HTTPS; without them, each
// visible tab has its own stream.

// Missed means that changes may have been missed, so that all data must be loaded again. written is the
// moment when this tab was told that it has made a change; absent if it has not made it.
export type News = (Change & { written?: number }) | 'missed'

// Told is what tabs tell each other. The one that has the stream sends its messages and whether it is
// open; hello asks for that. anyone asks whether the user is present in a tab, and here says so.
type Told = { message: Message } | { on: boolean; last: string } | 'missed' | 'hello' | 'anyone' | 'here'

const listeners = new Set<(news: News) => void>()
const streaming = store(false)

let last = '' // position of the last message
let tabs: BroadcastChannel | undefined // undefined if the tabs share nothing
let started = false
let leads = false // whether this tab has the stream
let idle = false // whether the stream waits until the user is present in some tab
let elsewhere = false // whether the user is present in another tab
let wake = (): void => {} // ends a wait before the next attempt
let lost: ReturnType<typeof setTimeout> | undefined

// onNews calls back with each change until the returned function is called.
export function onNews(told: (news: News) => void): () => void {
  listeners.add(told)
  return () => void listeners.delete(told)
}

// isStreaming reports whether changes arrive, so that polling for them is not necessary.
export const isStreaming = streaming.get

// receive handles a message of the stream, from the server or the tab that has it.
async function receive(message: Message): Promise<void> {
  if (message.id) last = message.id
  if (message.type === 'open' || !message.data) return
  const change = JSON.parse(message.data) as Change
  const written = change.own ? await writtenAt(change.id) : undefined
  for (const told of listeners) told({ ...change, written })
}

function missed(): void {
  for (const told of listeners) told('missed')
}

const tell = (what: Told): void => tabs?.postMessage(what)

// become notes whether the stream is open. After 10 s without it, the user learns whether the server is
// unreachable.
function become(on: boolean): void {
  clearTimeout(lost)
  if (!on) lost = setTimeout(() => present() && void hooks.lost(), 10_000)
  streaming.set(on)
  tell({ on, last })
}

// until waits for a time, wake or signal.
const until = (signal: AbortSignal, milliseconds?: number): Promise<void> =>
  new Promise((resolve) => {
    const over = () => {
      clearTimeout(timer)
      signal.removeEventListener('abort', over)
      resolve()
    }
    const timer = milliseconds === undefined ? undefined : setTimeout(over, milliseconds)
    signal.addEventListener('abort', over)
    wake = over
  })

// run keeps the stream open until signal or the session ends. It connects only while the user is
// present in a tab: every connection prolongs the session.
async function run(signal: AbortSignal): Promise<void> {
  let session = mark()
  let failures = 0
  while (!signal.aborted) {
    if (!present() && !elsewhere) {
      idle = true
      tell('anyone')
      await until(signal)
      idle = false
      continue
    }
    elsewhere = false
    const { status, code = '' } = await read(last, signal, (message) => {
      if (message.type === 'open') {
        if (failures && !last) {
          // it does not continue where the page has stopped
          missed()
          tell('missed')
        }
        failures = 0
        become(true)
      }
      void receive(message)
      tell({ message })
    })
    if (signal.aborted) return
    if (streaming.get() || !failures) become(false)
    if (status === 401) {
      clearTimeout(lost)
      if (!(await lapse(session, code))) return
      session = mark()
      failures = 0
      continue
    }
    if (status === 410) {
      last = '' // the position is gone
      failures = 0
    }
    await until(signal, pause(failures++, Math.random()))
  }
}

// hear handles what other tabs tell.
function hear(what: Told): void {
  if (what === 'missed') missed()
  else if (what === 'hello') {
    if (leads) tell({ on: streaming.get(), last })
  } else if (what === 'anyone') {
    if (present()) tell('here')
  } else if (what === 'here') {
    elsewhere = idle
    if (idle) wake()
  } else if ('message' in what) void receive(what.message)
  else {
    last = what.last || last
    streaming.set(what.on)
    if (!what.on && present()) tell('here')
  }
}

// share takes its turn to have the stream for all tabs of the session that act as the same user.
function share(): void {
  const name = `reeve-events ${mark()}${actingAs && ` as ${actingAs}`}` // tabs of different sessions share nothing
  tabs = new BroadcastChannel(name)
  tabs.onmessage = (e: MessageEvent<Told>) => hear(e.data)
  tell('hello')
  void navigator.locks.request(name, () => {
    leads = true
    return run(new AbortController().signal).then(() => new Promise(() => {})) // the lock lasts as long as the tab
  })
}

// alone has a stream while the tab is visible.
function alone(): void {
  let control: AbortController | undefined
  const look = () => {
    control?.abort()
    if (document.visibilityState !== 'visible') return streaming.set(false)
    control = new AbortController()
    void run(control.signal)
  }
  look()
  document.addEventListener('visibilitychange', look)
}

// listen starts to receive changes, once. A page keeps its session: signing in or out loads another.
export function listen(): void {
  if (started || !mark()) return
  started = true
  onReturn(() => {
    wake()
    if (!leads && !streaming.get()) tell('here')
  })
  addEventListener('reeve-back', () => wake()) // the server is reachable again
  if (navigator.locks) share()
  else alone()
}
