// actingHeight is the height of the impersonation bar, in pixels; see frame.css.
export const actingHeight = (): number => parseFloat(getComputedStyle(document.documentElement).getPropertyValue('--acting')) || 0
