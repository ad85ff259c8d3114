type Dated = { id: number; updated_at: string }

// newest is a record as it was loaded again, or as a list has it by now.
export function newest<T extends Dated>(again: T | undefined, listed: T): T
export function newest<T extends Dated>(again: T | undefined, listed: T | undefined): T | undefined
export function newest<T extends Dated>(again: T | undefined, listed: T | undefined): T | undefined {
  return again && again.id === listed?.id && again.updated_at > listed.updated_at ? again : listed
}
