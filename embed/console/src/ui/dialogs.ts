// Focus in drawers and dialogs. The component library gives it to the frame or the close button of
// what opens, where typed text is lost, and lets it leave for the browser after the last button.

const frames = '.ant-drawer, .ant-modal'
const field = 'input:not([type=hidden], [type=file], [readonly]), textarea:not([readonly]), select, [contenteditable=true], [role=switch], [role=slider]'
const stop = `${field}, input, textarea, a[href], button, summary, audio, video, [tabindex]`

const usable = (e: HTMLElement) =>
  e.tabIndex >= 0 && !e.matches(':disabled, [inert] *, [aria-hidden=true] *') && e.checkVisibility({ visibilityProperty: true })

const all = (inside: Element, selector: string) => [...inside.querySelectorAll<HTMLElement>(selector)].filter(usable)

const frameOf = (at: unknown) => (at instanceof Element ? at.closest(frames) : null)

let current: Element | null = null // dialog that has the focus

// enter moves the focus into the first field of a dialog that opens. It waits for the next frame of
// the screen, since a form that is filled when it opens draws its fields again.
function enter({ target }: FocusEvent): void {
  const frame = frameOf(target)
  if (frame === current) return
  current = frame
  if (!frame || !(target instanceof HTMLElement) || target.matches(':active')) return
  if (target !== frame && !target.matches('.ant-modal-close, .ant-drawer-close')) return
  requestAnimationFrame(() => {
    const now = document.activeElement
    if (now === frame || now === target || now === document.body) all(frame, field)[0]?.focus({ preventScroll: true })
  })
}

// leave forgets the dialog when the page is used: it is closed.
function leave({ target }: Event): void {
  if (!frameOf(target)) current = null
}

// goRound moves the focus from the last element of a dialog to its first, and back.
function goRound(e: KeyboardEvent): void {
  const now = document.activeElement
  const frame = frameOf(now)
  if (e.key !== 'Tab' || e.defaultPrevented || !frame) return
  const stops = all(frame, stop)
  const [last, first] = e.shiftKey ? [stops[0], stops.at(-1)] : [stops.at(-1), stops[0]]
  if (now !== last && !(e.shiftKey && now === frame)) return
  e.preventDefault()
  first?.focus()
}

export function keepFocus(): void {
  addEventListener('focusin', enter)
  addEventListener('keydown', goRound)
  addEventListener('keydown', leave, true)
  addEventListener('pointerdown', leave, true)
}
