// Order of records by sort number, then by ID, as in the API: computes which numbers must
// change to move a record.

export type Placed = { id: number; sort: number }

const gap = 10
const bound = 1_000_000 // the API takes numbers from -bound to bound

// between returns the numbers that put an item between those before and after it: only its
// own if there is room, else as few others as possible.
export function between(before: Placed[], item: Placed, after: Placed[]): Placed[] {
  const [previous, next] = [before.at(-1), after[0]]
  const low = previous ? least(previous, item) : next ? greatest(item, next) - gap : item.sort
  const high = next ? greatest(item, next) : previous ? least(previous, item) + gap : item.sort
  const ways =
    low <= high ? [[{ id: item.id, sort: Math.floor((low + high) / 2) }]] : [pushed(low, [item, ...after], 1), pushed(high, [item, ...before.toReversed()], -1)]
  const possible = ways.filter((way) => way.every(({ sort }) => Math.abs(sort) <= bound))
  const all = [...before, item, ...after]
  return possible.sort((a, b) => a.length - b.length)[0] ?? all.map(({ id }, i) => ({ id, sort: (i + 1) * gap })).filter(({ sort }, i) => sort !== all[i]!.sort)
}

// least is the smallest number that puts an item after another.
const least = (other: Placed, item: Placed): number => (item.id > other.id ? other.sort : other.sort + 1)

// greatest is the largest number that puts an item before another.
const greatest = (item: Placed, other: Placed): number => (item.id < other.id ? other.sort : other.sort - 1)

// pushed sets the first item's number, and moves others as far as necessary.
function pushed(sort: number, [first, ...others]: Placed[], way: 1 | -1): Placed[] {
  const changed = [{ id: first!.id, sort }]
  for (const next of others) {
    const placed = changed.at(-1)!
    const room = way > 0 ? least(placed, next) : greatest(next, placed)
    if (way > 0 ? next.sort >= room : next.sort <= room) break
    changed.push({ id: next.id, sort: room })
  }
  return changed
}
