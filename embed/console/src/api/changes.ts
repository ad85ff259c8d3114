// The changes that this tab makes. The event stream only tells which changes the session has made; the
// header Reeve-Entry of each response to a write names its entry in the change log.

const most = 200 // entries that are remembered

const running = new Set<Promise<void>>()
const written = new Map<string, number>()
let last = 0

// moment returns a larger number with each call: what has happened in order has moments in this order.
export const moment = (): number => ++last

// isWriting reports whether a change is under way.
export const isWriting = (): boolean => running.size > 0

// begin notes that a change begins. The returned function notes its end; entry is the header of the
// response.
export function begin(): (entry: string | null) => void {
  let over = () => {}
  const ended = new Promise<void>((resolve) => {
    over = resolve
  })
  running.add(ended)
  return (entry) => {
    if (entry) written.set(entry, moment())
    for (const oldest of written.keys()) {
      if (written.size <= most) break
      written.delete(oldest)
    }
    running.delete(ended)
    over()
  }
}

// writtenAt returns the moment when this tab was told that it has written an entry; undefined if it has
// not. It first waits for the changes under way, since one of them may have written it.
export async function writtenAt(entry: string): Promise<number | undefined> {
  if (!written.has(entry)) await Promise.all(running)
  return written.get(entry)
}
