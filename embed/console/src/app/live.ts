import { actingAs } from '../api/acting'
import { writtenAt } from '../api/changes'
import { heard, hooks } from '../api/request'
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
export type ChangeNotice = (Change & { written?: number }) | 'missed'

// TabMessage is a message between tabs. The one that has the stream sends its messages and whether it is
// open; hello asks for that. anyone asks whether the user is present in a tab, and here says so.
type TabMessage = { message: Message } | { on: boolean; last: string } | 'missed' | 'hello' | 'anyone' | 'here'

const listeners = new Set<(notice: ChangeNotice) => void>()
const streaming = store(false)

let last = '' // position of the last message
let tabs: BroadcastChannel | undefined // undefined if the tabs share nothing
let started = false
let leads = false // whether this tab has the stream
let idle = false // whether the stream waits until the user is present in some tab
let elsewhere = false // whether the user is present in another tab
let wake = (): void => {} // ends a wait before the next attempt
let lost: ReturnType<typeof setTimeout> | undefined

// onChanges calls back with each change until the returned function is called.
export function onChanges(listener: (notice: ChangeNotice) => void): () => void {
  listeners.add(listener)
  return () => void listeners.delete(listener)
}

// isStreaming reports whether changes arrive, so that polling for them is not necessary.
export const isStreaming = streaming.get

// receive handles a message of the stream, from the server or the tab that has it.
async function receive(message: Message): Promise<void> {
  if (message.id) last = message.id
  if (!message.data) return
  const change = JSON.parse(message.data) as Change
  heard(change.commit)
  if (message.type === 'open') return
  const written = change.own ? await writtenAt(change.id) : undefined
  for (const listener of listeners) listener({ ...change, written })
}

function missed(): void {
  for (const listener of listeners) listener('missed')
}

const broadcast = (what: TabMessage): void => tabs?.postMessage(what)

// setOnline notes whether the stream is open. After 10 s without it, the user learns whether the server is
// unreachable.
function setOnline(on: boolean): void {
  clearTimeout(lost)
  if (!on) lost = setTimeout(() => present() && void hooks.lost(), 10_000)
  streaming.set(on)
  broadcast({ on, last })
}

// waitFor waits for a time, wake or signal.
const waitFor = (signal: AbortSignal, milliseconds?: number): Promise<void> =>
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
      broadcast('anyone')
      await waitFor(signal)
      idle = false
      continue
    }
    elsewhere = false
    const { status, code = '' } = await read(last, signal, (message) => {
      if (message.type === 'open') {
        if (failures && !last) {
          // it does not continue where the page has stopped
          missed()
          broadcast('missed')
        }
        failures = 0
        setOnline(true)
      }
      void receive(message)
      broadcast({ message })
    })
    if (signal.aborted) return
    if (streaming.get() || !failures) setOnline(false)
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
    await waitFor(signal, pause(failures++, Math.random()))
  }
}

// handleMessage handles a message of another tab.
function handleMessage(what: TabMessage): void {
  if (what === 'missed') missed()
  else if (what === 'hello') {
    if (leads) broadcast({ on: streaming.get(), last })
  } else if (what === 'anyone') {
    if (present()) broadcast('here')
  } else if (what === 'here') {
    elsewhere = idle
    if (idle) wake()
  } else if ('message' in what) void receive(what.message)
  else {
    last = what.last || last
    streaming.set(what.on)
    if (!what.on && present()) broadcast('here')
  }
}

// share takes its turn to have the stream for all tabs of the session that act as the same user.
function share(): void {
  const name = `reeve-events ${mark()}${actingAs && ` as ${actingAs}`}` // tabs of different sessions share nothing
  tabs = new BroadcastChannel(name)
  tabs.onmessage = (e: MessageEvent<TabMessage>) => handleMessage(e.data)
  broadcast('hello')
  void navigator.locks.request(name, () => {
    leads = true
    return run(new AbortController().signal).then(() => new Promise(() => {})) // the lock lasts as long as the tab
  })
}

// runAlone has a stream while the tab is visible.
function runAlone(): void {
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
    if (!leads && !streaming.get()) broadcast('here')
  })
  addEventListener('reeve-back', () => wake()) // the server is reachable again
  if (navigator.locks) share()
  else runAlone()
}
