import { useState } from 'react'

// useLastValue is a value or, when there is none, the last one: the content of a drawer while
// it closes.
export function useLastValue<T>(value: T | undefined): T | undefined {
  const [kept, keep] = useState(value)
  if (value !== undefined && value !== kept) keep(value)
  return value ?? kept
}
