import { useEffect } from 'react'

const name = 'reeve-back'

// tellBack notifies that the server is reachable again.
export function tellBack(): void {
  dispatchEvent(new Event(name))
}

// useBack repeats requests that failed while the server was unreachable.
export function useBack(again: () => unknown): void {
  useEffect(() => {
    const told = () => void again()
    addEventListener(name, told)
    return () => removeEventListener(name, told)
  }, [again])
}
