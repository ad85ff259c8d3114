// arriving is how long a page may take until it has what a key needs, in milliseconds.
const arriving = 3000

// soon does what a key does once the page has what it needs, unless another key or the pointer is used first.
export function soon(act: () => boolean): void {
  if (act()) return
  const seen = new MutationObserver(() => act() && seen.disconnect())
  seen.observe(document.body, { childList: true, subtree: true })
  const stop = () => seen.disconnect()
  setTimeout(stop, arriving)
  for (const event of ['keydown', 'pointerdown']) addEventListener(event, stop, { once: true, capture: true })
}
