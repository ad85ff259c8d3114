import type { Query } from '../../api/request'
import type { useTable } from '../../ui/useTable'

// Asked is the part of a list that its filters read and set.
export type Asked = Pick<ReturnType<typeof useTable<never>>, 'params' | 'set'>

// selecting is the part of a list's query that filters it, without paging.
export function selecting(params: URLSearchParams): Query {
  const query: Query = {}
  for (const name of params.keys()) {
    if (!['page', 'pageSize', 'sorter', 'new'].includes(name)) query[name] = name.endsWith('[]') ? params.getAll(name) : params.get(name)
  }
  return query
}
