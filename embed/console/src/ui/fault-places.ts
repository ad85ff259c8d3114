// split tells apart the faults of fields that a form has, and the others, which are said
// above it under the names of their fields.
export function split(errors: Record<string, string>, has: (name: string) => boolean): { here: [string, string][]; elsewhere: string[] } {
  const all = Object.entries(errors)
  return { here: all.filter(([name]) => has(name)), elsewhere: all.filter(([name]) => !has(name)).map(([name, fault]) => `${name}: ${fault}`) }
}
