// Whether the department tree is open beside the users, stored in this browser.

const key = 'reeve.departments'

export function deptsOpen(): boolean {
  return localStorage.getItem(key) !== 'closed'
}

export function setDeptsOpen(open: boolean): void {
  localStorage.setItem(key, open ? 'open' : 'closed')
}

// deptsWidth is its width in pixels.
export function deptsWidth(): number {
  return deptsOpen() ? 204 : 32
}
