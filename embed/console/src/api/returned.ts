import { base } from './base'

// A confirmation with a sign-in provider takes place in a window of its own, so that the page that requires it stays. The
// window comes back with the parameter confirmed and tells the page.

const open = (): BroadcastChannel => new BroadcastChannel(`reeve.confirmed${base}`)

// isReturned reports whether this is that window.
export const isReturned = (): boolean => new URLSearchParams(location.search).has('confirmed')

// tellReturned tells the page, and closes the window if the browser lets it.
export function tellReturned(): void {
  const channel = open()
  channel.postMessage('')
  channel.close()
  window.close()
}

// returned resolves when a window has come back.
export async function returned(signal: AbortSignal): Promise<void> {
  const channel = open()
  try {
    await new Promise((resolve, reject) => {
      channel.onmessage = resolve
      signal.addEventListener('abort', () => reject(signal.reason), { once: true })
    })
  } finally {
    channel.close()
  }
}
