import { store } from './store'

// Whether somebody is at the screen. What a page asks by itself is asked no more a
// while after the last movement: a console that was left open must not keep its own
// session from ending unused.

const patience = 5 * 60_000 // in milliseconds

let last = Date.now()
const returned = store(0) // when

export function present(): boolean {
  return document.visibilityState === 'visible' && Date.now() - last < patience
}

// onReturn calls when somebody is there again who was not.
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
