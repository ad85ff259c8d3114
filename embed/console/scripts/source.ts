import { createHash } from 'node:crypto'
import { readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join, relative, resolve } from 'node:path'
import type { Plugin } from 'vite'

// What a build is made from. `.ci/run` takes the same from a commit.
const sources = ['index.html', 'package-lock.json', 'scripts', 'src', 'tsconfig.json', 'vite.config.ts']
const test = /\.test(-d)?\.tsx?$/

const filesBelow = (path: string): string[] => (statSync(path).isDirectory() ? readdirSync(path).flatMap((name) => filesBelow(join(path, name))) : [path])

// A file as git names it.
function blob(path: string): string {
  const bytes = readFileSync(path)
  return createHash('sha1').update(`blob ${bytes.length}\0`).update(bytes).digest('hex')
}

// sourceOf returns the hash of all sources, without tests: that of the lines which
// `git ls-tree -r --format='%(objectname) %(path)'` prints for them.
export function sourceOf(root: string): string {
  const paths = sources.flatMap((name) => filesBelow(join(root, name))).map((path) => relative(root, path))
  const hash = createHash('sha256')
  for (const path of paths.filter((path) => !test.test(path)).sort()) hash.update(`${blob(join(root, path))} ${path}\n`)
  return hash.digest('hex')
}

// source writes the file source, the hash of the sources, beside the page: it tells which
// sources a committed build is from. The import map is in the page, so its file goes.
export function source(): Plugin {
  let root = ''
  let outDir = ''
  return {
    name: 'source',
    apply: 'build',
    configResolved(config) {
      root = config.root
      outDir = resolve(config.root, config.build.outDir)
    },
    writeBundle() {
      rmSync(join(outDir, 'importmap.json'))
      writeFileSync(join(outDir, 'source'), `${sourceOf(root)}\n`)
    },
  }
}
