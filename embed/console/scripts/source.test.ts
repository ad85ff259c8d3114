import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { sourceOf } from './source'

let root = ''
const write = (path: string, text: string) => writeFileSync(join(root, path), text)

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'source-'))
  for (const dir of ['scripts', 'src', 'src/a']) mkdirSync(join(root, dir))
  for (const path of ['index.html', 'package-lock.json', 'tsconfig.json', 'vite.config.ts', 'scripts/a.ts', 'src/a.ts', 'src/a-b.ts']) write(path, path)
  write('src/a/ü.ts', 'ü')
})
afterEach(() => rmSync(root, { recursive: true }))

test('the hash is that of the blobs which git has', () => {
  const git = (...args: string[]) => execFileSync('git', ['-c', 'core.quotePath=false', ...args], { cwd: root, encoding: 'utf8' })
  git('init', '-q')
  git('add', '.')
  const lines = git('ls-files', '--format=%(objectname) %(path)')
  expect(lines.split('\n')).toHaveLength(9)
  expect(sourceOf(root)).toBe(createHash('sha256').update(lines).digest('hex'))
})

test('it follows every source, and no test', () => {
  const before = sourceOf(root)
  write('src/a.test.ts', 'test')
  write('src/a/b.test-d.tsx', 'test')
  write('packages.json', '[]')
  expect(sourceOf(root)).toBe(before)
  write('src/a/ü.ts', 'u')
  expect(sourceOf(root)).not.toBe(before)
})
