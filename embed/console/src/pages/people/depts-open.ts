// Whether the departments lie open beside the users, which this browser remembers.

const key = 'reeve.departments'

export function deptsOpen(): boolean {
  return localStorage.getItem(key) !== 'closed'
}

export function setDeptsOpen(open: boolean): void {
  localStorage.setItem(key, open ? 'open' : 'closed')
}

// deptsWidth is how wide they are, in pixels.
export function deptsWidth(): number {
  return deptsOpen() ? 204 : 32
}
