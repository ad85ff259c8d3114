import { readFileSync, writeFileSync } from 'node:fs'
import { resolve } from 'node:path'
import type { Plugin } from 'vite'

// The packages that modules without a file are from.
const virtual: [beginning: string, directory: string][] = [
  ['\0vite/', 'node_modules/vite'],
  ['\0rolldown/', 'node_modules/rolldown'],
]

const unknown = (id: string) => id.startsWith('\0') && !id.startsWith('\0replacement:')

// packageOf returns the directory, relative to the project, of the package that a module
// is from, or undefined for a module of this project.
export function packageOf(id: string): string | undefined {
  const of = virtual.find(([beginning]) => id.startsWith(beginning))
  if (of) return of[1]
  const found = /^(.*\/node_modules\/(?:@[^/]+\/)?[^/]+)\//.exec(id)?.[1]
  if (!found && unknown(id)) throw new Error(`${JSON.stringify(id)} is from no known package: add it to scripts/packages.ts`)
  return found?.slice(found.indexOf('node_modules/'))
}

// packages lists the npm packages that have code in the build in packages.json. The file
// NOTICE is generated from that list: most installed packages are tools, or are left out
// of the build because nothing uses them.
export function packages(): Plugin {
  let list = ''
  return {
    name: 'packages',
    apply: 'build',
    configResolved(config) {
      list = resolve(config.root, 'packages.json')
    },
    generateBundle(_, bundle) {
      const used = new Set<string>()
      for (const chunk of Object.values(bundle)) {
        if (chunk.type !== 'chunk') continue
        for (const [id, module] of Object.entries(chunk.modules)) {
          // The rules of a style sheet are in a file of their own: its module is empty.
          const directory = module.renderedLength || id.endsWith('.css') ? packageOf(id) : undefined
          if (directory) used.add(directory)
        }
      }
      const text = `${JSON.stringify([...used].sort(), null, 2)}\n`
      if (readFileSync(list, 'utf8') !== text) writeFileSync(list, text)
    },
  }
}
