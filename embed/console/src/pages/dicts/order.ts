// The order of items is by sort, and by id among those of the same sort. Here it is found
// out how few of them have to change for one to move.

export type Placed = { id: number; sort: number }

const gap = 10

// move tells the new sort of every item that needs one for the item at `from` to stand
// at `to`; items are in their order.
export function move(items: Placed[], from: number, to: number): Placed[] {
  const order = items.toSpliced(from, 1).toSpliced(to, 0, items[from]!)
  const [item, before, after] = [order[to]!, order[to - 1], order[to + 1]]
  const low = before ? least(before, item) : after ? greatest(item, after) - gap : item.sort
  const high = after ? greatest(item, after) : before ? least(before, item) + gap : item.sort
  if (low <= high) return [{ id: item.id, sort: Math.floor((low + high) / 2) }]
  const down = pushed(order, to, low, 1, (placed, next) => next.sort >= least(placed, next) ? undefined : least(placed, next))
  const up = pushed(order, to, high, -1, (placed, next) => next.sort <= greatest(next, placed) ? undefined : greatest(next, placed))
  return down.length <= up.length ? down : up
}

// least is the smallest sort with which an item comes after another one.
function least(other: Placed, item: Placed): number {
  return item.id > other.id ? other.sort : other.sort + 1
}

// greatest is the largest sort with which an item comes before another one.
function greatest(item: Placed, other: Placed): number {
  return item.id < other.id ? other.sort : other.sort - 1
}

// pushed gives an item its place, and makes room on one side of it as far as it must.
function pushed(order: Placed[], at: number, sort: number, step: 1 | -1, room: (placed: Placed, next: Placed) => number | undefined): Placed[] {
  const changed = [{ id: order[at]!.id, sort }]
  for (let i = at + step; i >= 0 && i < order.length; i += step) {
    const next = order[i]!
    const to = room(changed.at(-1)!, next)
    if (to === undefined) break
    changed.push({ id: next.id, sort: to })
  }
  return changed
}
