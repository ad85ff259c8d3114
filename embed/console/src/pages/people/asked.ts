import type { Query } from '../../api/request'

// selecting is the part of a list's address that selects its users, on all of its pages.
export function selecting(params: URLSearchParams): Query {
  const query: Query = {}
  for (const name of params.keys()) {
    if (!['page', 'pageSize', 'sorter', 'new'].includes(name)) query[name] = name.endsWith('[]') ? params.getAll(name) : params.get(name)
  }
  return query
}
