import type { Config as Values } from '../api.js'
import type { Reeve } from './client.js'
import { failureOf, parse, pause } from './send.js'
import type { Settings } from './types.js'

/** What to follow. */
export interface ConfigQuery {
  /** Keys of setting groups; absent for all that the key may read. */
  groups?: readonly string[]
  /** Codes of dictionaries; `['*']` for all that the key may read; absent for none. */
  dicts?: readonly string[]
}

/**
 * Settings and dictionaries that follow the server, see {@link Reeve.follow}. While the server cannot be
 * reached, the last values stay.
 */
export interface Config<S extends object = Settings> {
  /** Values by group and key: a number for a number, a boolean for a switch. */
  readonly settings: S
  /** Enabled dictionaries with their enabled items, by code. */
  readonly dicts: Values['dicts']
  /** Secrets that the key may not read, as `group.key`. */
  readonly withheld: string[]
  /** Calls a function after each change, and returns a function that ends this. What it throws goes to {@link onError}. */
  onChange(fn: () => unknown): () => void
  /** Calls a function after each failed attempt to read, and returns a function that ends this. Without one, failures are written to the console. */
  onError(fn: (error: unknown) => unknown): () => void
  /** Stops following. The last values stay. */
  close(): void
}

type Listeners = Set<(error: unknown) => unknown>

/** Reads the first values and starts to follow; see {@link Reeve.follow}. */
export async function follow<S extends object>(reeve: Reeve, { groups, dicts }: ConfigQuery): Promise<Config<S>> {
  const stop = new AbortController()
  const { signal } = stop
  const changed: Listeners = new Set()
  const failed: Listeners = new Set()
  const adder = (listeners: Listeners) => (fn: (error: unknown) => unknown) => {
    listeners.add(fn)
    return () => void listeners.delete(fn)
  }
  const tell = (listeners: Listeners, error?: unknown) => {
    if (listeners === failed && !failed.size) console.warn('Reeve: follow', error)
    for (const fn of listeners) (async () => fn(error))().catch((error) => listeners === changed && tell(failed, error))
  }
  const config = { settings: {} as S, dicts: {}, withheld: [], onChange: adder(changed), onError: adder(failed), close: () => stop.abort() }
  let known: Record<string, string> = {}

  async function read(seconds: number, retries?: { retries: number }): Promise<void> {
    const query = { groups: groups?.join(), dicts: dicts?.join(), wait: seconds }
    const timeout = reeve.timeout + seconds * 1000
    const { error, status, headers, text } = await reeve.exchange('GET', '/config', { query, headers: known, signal, timeout, ...retries })
    if (error) throw error
    if (status === 304) return
    const values = parse(text)?.data
    if (!values) throw failureOf(reeve.url, status, headers, '')
    known = { 'If-None-Match': headers.get('ETag') ?? '' }
    Object.assign(config, values)
    tell(changed)
  }

  async function run() {
    for (let failures = 0; !signal.aborted; ) {
      // A server that shuts down answers at once, and so does one whose ETag is lost on the way.
      let next = Date.now() + 1000
      try {
        await read(30, { retries: 0 })
        failures = 0
      } catch (error) {
        if (!signal.aborted) tell(failed, error)
        next = Date.now() + Math.min(30_000, 1000 * 2 ** failures++) * (0.5 + Math.random() / 2)
      }
      await pause(next - Date.now(), signal).catch(() => {})
    }
  }

  await read(0)
  void run()
  return config
}
