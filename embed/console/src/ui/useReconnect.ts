import { useEffect, useEffectEvent } from 'react'

const name = 'reeve-back'

// notifyReconnect notifies that the server is reachable again.
export function notifyReconnect(): void {
  dispatchEvent(new Event(name))
}

// useReconnect repeats requests that failed while the server was unreachable.
export function useReconnect(retry: () => unknown): void {
  useEffect(() => {
    const listener = () => void retry()
    addEventListener(name, listener)
    return () => removeEventListener(name, listener)
  }, [retry])
}

// useRetry calls the function of the last render when the server is reachable again.
export function useRetry(retry: () => unknown): void {
  const act = useEffectEvent(retry)
  useEffect(() => {
    const listener = () => void act()
    addEventListener(name, listener)
    return () => removeEventListener(name, listener)
  }, [])
}
