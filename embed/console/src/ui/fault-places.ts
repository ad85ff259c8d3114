// split separates the faults of a form's fields from the others, which are shown above the
// form.
export function split(errors: Record<string, string>, has: (name: string) => boolean): { here: [string, string][]; elsewhere: [string, string][] } {
  const all = Object.entries(errors)
  return { here: all.filter(([name]) => has(name)), elsewhere: all.filter(([name]) => !has(name)) }
}
