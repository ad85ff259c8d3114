import { store } from './store'

// Whether the user is present. Polling pauses some time after the last input, so that an
// unattended console does not keep its own session alive.

const patience = 5 * 60_000 // in milliseconds

let last = Date.now()
const returned = store(0) // time of the return

export function present(): boolean {
  return document.visibilityState === 'visible' && Date.now() - last < patience
}

// onReturn calls back when the user returns.
export const onReturn = returned.subscribe

function moved() {
  const before = Date.now() - last < patience
  last = Date.now()
  if (!before) returned.set(last)
}

for (const kind of ['pointermove', 'pointerdown', 'keydown', 'wheel', 'touchstart']) addEventListener(kind, moved, { capture: true, passive: true })
document.addEventListener('visibilitychange', () => {
  if (document.visibilityState !== 'visible') return
  moved()
  returned.set(last)
})
