import { useState } from 'react'

// useKept is a value and, while there is none, the last one: what a drawer is about
// stays in sight while it closes.
export function useKept<T>(value: T | undefined): T | undefined {
  const [kept, keep] = useState(value)
  if (value !== undefined && value !== kept) keep(value)
  return value ?? kept
}
