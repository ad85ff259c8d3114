import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import type { Plugin } from 'vite'

// packed compresses large files of the build that hardly ever change, which makes the program smaller. The
// others are stored as they are, since git keeps only the differences of their versions.
export function packed(...chunks: string[]): Plugin {
  return {
    name: 'packed',
    apply: 'build',
    writeBundle({ dir }, bundle) {
      for (const name of chunks) {
        const file = Object.values(bundle).find((chunk) => chunk.type === 'chunk' && chunk.name === name)
        if (!dir || !file) throw new Error(`there is no chunk ${name}`)
        const path = join(dir, file.fileName)
        writeFileSync(`${path}.gz`, gzipSync(readFileSync(path), { level: 9 }))
        rmSync(path)
      }
    },
  }
}
