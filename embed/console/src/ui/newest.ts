type Dated = { id: number; updated_at: string }

// newest is a record as reloaded, or as it is in the list now.
export function newest<T extends Dated>(again: T | undefined, listed: T): T
export function newest<T extends Dated>(again: T | undefined, listed: T | undefined): T | undefined
export function newest<T extends Dated>(again: T | undefined, listed: T | undefined): T | undefined {
  return again && again.id === listed?.id && again.updated_at > listed.updated_at ? again : listed
}
