import type { Layout } from './layout'

// State is what a view saves of a list.
export type State = { query: string; columns: string[]; shown: string[]; hidden: string[]; compact: 0 | 1 }

// queryOf returns the parameters of a list in a comparable form, without the page.
export function queryOf(search: string): string {
  const params = new URLSearchParams(search)
  params.delete('page')
  params.delete('pageSize')
  params.sort()
  return params.toString()
}

// stateOf returns what a view of a list in its present state saves.
export function stateOf(search: string, { order = [], shown = {}, compact }: Layout): State {
  const keys = Object.keys(shown).sort()
  return {
    query: queryOf(search),
    columns: order,
    shown: keys.filter((key) => shown[key]),
    hidden: keys.filter((key) => !shown[key]),
    compact: compact ? 1 : 0,
  }
}

// layoutIn returns the columns and density of a view.
export const layoutIn = (view: State): Layout => ({
  ...(view.columns.length > 0 && { order: view.columns }),
  shown: Object.fromEntries([...view.shown.map((key) => [key, true]), ...view.hidden.map((key) => [key, false])]),
  compact: view.compact === 1,
})

// differs reports whether a list was changed since a view was applied.
export const differs = (view: State, now: State): boolean => JSON.stringify(stateOf(view.query, layoutIn(view))) !== JSON.stringify(now)

// sizeIn returns the page size that a query asks for; 0 for none.
export const sizeIn = (search: string): number => Number(new URLSearchParams(search).get('pageSize') ?? 0)

// paramsTo returns the changes of URL parameters that lead from one query to another, with a page size; 0 leaves the size.
export function paramsTo(search: string, query: string, size = 0): Record<string, string | string[] | undefined> {
  const to = new URLSearchParams(query)
  const values: Record<string, string | string[] | undefined> = {}
  for (const name of new URLSearchParams(search).keys()) if (name !== 'pageSize') values[name] = undefined
  for (const name of to.keys()) values[name] = name.endsWith('[]') ? to.getAll(name) : (to.get(name) ?? undefined)
  if (size) values.pageSize = String(size)
  return values
}
