// edits are what edits a record of a list, by the element that has its actions: the key e does it.
export const edits = new WeakMap<Element, () => void>()
