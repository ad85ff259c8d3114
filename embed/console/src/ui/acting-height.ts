// actingHeight is the height of the bar of somebody who acts as a user, in pixels; see frame.css.
export const actingHeight = (): number => parseFloat(getComputedStyle(document.documentElement).getPropertyValue('--acting')) || 0
