// Filters of a list by custom fields, in the query: fields.KEY for one value, and filter, a JSON object, for
// one of several.

type Chosen = Record<string, string[]>

function several(params: URLSearchParams): Chosen {
  try {
    return (JSON.parse(params.get('filter') ?? '{}') as Chosen | null) ?? {}
  } catch {
    return {}
  }
}

// chosen returns the values that a list is filtered by.
export function chosen(params: URLSearchParams, name: string): string[] {
  const one = params.get(name)
  return one === null ? (several(params)[name] ?? []) : [one]
}

// choose returns the parameters to change so that a list is filtered by values.
export function choose(params: URLSearchParams, name: string, values: string[]): Record<string, string | undefined> {
  const { [name]: _, ...others } = several(params)
  const filter: Chosen = values.length > 1 ? { ...others, [name]: values } : others
  return { [name]: values.length === 1 ? values[0] : undefined, filter: Object.keys(filter).length ? JSON.stringify(filter) : undefined }
}

// active returns the number of custom fields that a list is filtered by.
export function active(params: URLSearchParams): number {
  const names = [...params.keys()].filter((name) => name.startsWith('fields.'))
  return new Set([...names, ...Object.keys(several(params))]).size
}
