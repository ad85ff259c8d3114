import { useRef, useState } from 'react'
import type { Answer, Body, Item, Path } from '../api/paths'
import { request } from '../api/request'
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

  // create and change make quiet requests: the form shows failures.
  const create = (body: Body<'POST', P>) => request<Answer<'POST', P>>('POST', path, { body, quiet: true })
  const change = (body: Change) =>
    request<Answer<'PUT', Item<P>>>('PUT', item(of?.id ?? 0), { body: { ...body, updated_at: filled.current?.updated_at }, quiet: true })

  async function reload(old: T): Promise<V> {
    const fresh = load ? await load(old) : await request<T>('GET', item(old.id))
    setLoaded(fresh)
    filled.current = fresh
    return valuesOf(fresh)
  }

  const onFill = () => {
    filled.current = of
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
      ok: t(of ? 'save' : 'create'),
    }),
  }
}
