type Dated = { id: number; updated_at: string }

// newest is a record as reloaded, or as it is in the list now.
export function newest<T extends Dated>(reloaded: T | undefined, listed: T): T
export function newest<T extends Dated>(reloaded: T | undefined, listed: T | undefined): T | undefined
export function newest<T extends Dated>(reloaded: T | undefined, listed: T | undefined): T | undefined {
  return reloaded && reloaded.id === listed?.id && reloaded.updated_at > listed.updated_at ? reloaded : listed
}
