import { useRef, useState } from 'react'
import type { Answer, Body, Item, Path } from '../api/paths'
import { Failure, isUnanswered, request } from '../api/request'
import { t } from '../i18n'
import { newest } from './newest'

type Stored = { id: number; updated_at: string }

type Load<T> = (of: T) => Promise<T>

// useEditor creates or edits a record in a form. It saves the version that the form shows, so
// that no other change is overwritten; a record changed by another session is reloaded by its
// path or by load.
export function useEditor<P extends Path<'POST'> & Path<'GET'>, T extends Stored, V extends object>(
  path: P,
  record: T | undefined,
  valuesOf: (record: T) => V,
  ...[load]: Answer<'GET', Item<P>> extends T ? [load?: Load<T>] : [load: Load<T>]
) {
  type Change = Omit<Body<'PUT', Item<P>>, 'updated_at'>
  const [loaded, setLoaded] = useState<T>()
  const of = newest(loaded, record)
  const filled = useRef<T>(undefined) // the version that the form shows; the list may show a newer one
  const item = (id: number) => `${path}/${id}` as Path

  const pending = useRef('') // identifies a creation or change of which it is unknown whether the server has made it

  // once makes a request that can be repeated until it is answered.
  async function once<A>(make: (key: string) => Promise<A>): Promise<A> {
    pending.current ||= Array.from(crypto.getRandomValues(new Uint8Array(16)), (n) => n.toString(16).padStart(2, '0')).join('')
    try {
      const made = await make(pending.current)
      pending.current = ''
      return made
    } catch (cause) {
      if (!isUnanswered(cause)) pending.current = ''
      throw cause
    }
  }

  // create and change make quiet requests: the form shows failures.
  const create = (body: Body<'POST', P>) => once((key) => request<Answer<'POST', P>>('POST', path, { body, quiet: true, once: key }))
  const put = (body: Change) =>
    request<Answer<'PUT', Item<P>>>('PUT', item(of?.id ?? 0), { body: { ...body, updated_at: filled.current?.updated_at }, quiet: true })

  // change finds out whether the change of an attempt without a response was made, in which case the version is a later one.
  function change(body: Change): Promise<Answer<'PUT', Item<P>>> {
    const again = pending.current !== ''
    return once(() =>
      put(body).catch(async (cause: unknown) => {
        if (!again || !of || !(cause instanceof Failure) || cause.code !== 'stale') throw cause
        const fresh = await fetched(of, true)
        if (!holds(fresh, body)) throw cause
        return fresh as Answer<'PUT', Item<P>>
      }),
    )
  }

  const fetched = (old: T, quiet = false): Promise<T> => (load ? load(old) : request<T>('GET', item(old.id), { quiet }))

  async function reload(old: T): Promise<V> {
    const fresh = await fetched(old)
    setLoaded(fresh)
    filled.current = fresh
    return valuesOf(fresh)
  }

  const onFill = (version?: string) => {
    filled.current = of && { ...of, updated_at: version ?? of.updated_at }
    pending.current = ''
  }

  return {
    of,
    create,
    change,
    save: (body: Body<'POST', P> & Change) => (of ? change(body) : create(body)),
    // form are the props of a FormDrawer; blank are the values of a new record.
    form: (blank: Partial<V>) => ({
      initial: of ? valuesOf(of) : blank,
      reload: of && (() => reload(of)),
      onFill,
      draft: { key: of ? item(of.id) : path, version: () => filled.current?.updated_at, repeatable: true },
      ok: t(of ? 'save' : 'create'),
    }),
  }
}

// holds reports whether a record has the values of a change; flags are booleans in it and numbers in the record.
function holds(record: object, change: object): boolean {
  const text = (value: unknown) => JSON.stringify(typeof value === 'boolean' ? Number(value) : typeof value === 'string' ? value.trim() : value)
  const values = record as Record<string, unknown>
  return Object.entries(change).every(([name, value]) => value === undefined || text(values[name]) === text(value))
}
