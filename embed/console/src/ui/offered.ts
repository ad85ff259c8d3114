import { t } from '../i18n'

// What a form offers of the records that can be chosen: those that are enabled and, marked, the
// disabled ones that the record has already.

type Named = { id: number; name: string }
type Choice = Named & { status: number; children?: Choice[] }

export type Option = { value: number; label: string }
export type Offered = Named & { disabled?: boolean; children?: Offered[] }

// marked is the name of a record, with a mark if it is disabled.
export const marked = ({ name, status }: Choice): string => (status ? name : t('choice.off', { name }))

// named are records of which a user has the IDs and the names.
export const named = (ids: number[] = [], names: string[] = []): Named[] => ids.map((id, i) => ({ id, name: names[i] ?? `#${id}` }))

// optionsOf returns the options of a select. Records that the caller may not choose have the names in had.
export function optionsOf(choices: Choice[] = [], had: Named[] = []): Option[] {
  const [known, kept] = [new Set(choices.map(({ id }) => id)), new Set(had.map(({ id }) => id))]
  return [
    ...choices.filter(({ id, status }) => status || kept.has(id)).map((choice) => ({ value: choice.id, label: marked(choice) })),
    ...had.filter(({ id }) => !known.has(id)).map(({ id, name }) => ({ value: id, label: name })),
  ]
}

// treeOf returns the nodes of a tree select. A disabled record stays, and can't be chosen, where it is
// above one that can.
export function treeOf(choices: Choice[] = [], had: Named[] = []): Offered[] {
  const [known, kept] = [new Set<number>(), new Set(had.map(({ id }) => id))]
  const offer = (nodes: Choice[]): Offered[] =>
    nodes.flatMap((node) => {
      known.add(node.id)
      const children = offer(node.children ?? [])
      const free = node.status !== 0 || kept.has(node.id)
      if (!free && !children.length) return []
      return [{ id: node.id, name: marked(node), disabled: !free, children: children.length ? children : undefined }]
    })
  const tops = offer(choices)
  return [...had.filter(({ id }) => !known.has(id)), ...tops]
}
