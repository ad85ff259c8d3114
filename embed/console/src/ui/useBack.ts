import { useEffect } from 'react'

const name = 'reeve-back'

// tellBack says everywhere that the server can be asked again.
export function tellBack(): void {
  dispatchEvent(new Event(name))
}

// useBack asks again what could not be answered while the server was away.
export function useBack(again: () => unknown): void {
  useEffect(() => {
    const told = () => void again()
    addEventListener(name, told)
    return () => removeEventListener(name, told)
  }, [again])
}
