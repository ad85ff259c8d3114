import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { build, createServer, mergeConfig, type InlineConfig } from 'vite'
import { expect, test } from 'vitest'
import { replace, replacements } from './replacements'

const root = resolve(import.meta.dirname, '..')

test('a build fails when a replacement replaces nothing', async () => {
  const { inBuild } = replace([
    { importer: '/antd/es/input/index.js', imported: './OTP', by: { code: 'export default undefined' } },
    { importer: '/antd/es/input/index.js', imported: './Gone', by: { code: 'export default undefined' } },
  ])
  const page: InlineConfig = {
    configFile: false,
    root,
    logLevel: 'silent',
    plugins: [inBuild],
    build: {
      write: false,
      minify: false,
      lib: { entry: 'node_modules/antd/es/input/index.js', formats: ['es'] },
      rolldownOptions: { external: /^(react|@|clsx|\.\.\/)/ },
    },
  }
  await expect(build(page)).rejects.toThrow('replaces nothing: ./Gone in /antd/es/input/index.js')
})

test('the development server replaces what the build replaces', async () => {
  const cacheDir = await mkdtemp(join(tmpdir(), 'reeve-vite-'))
  const { inServer, done } = replace(replacements)
  const { default: own } = await import('../vite.config')
  const config = mergeConfig(own, { configFile: false, root, cacheDir, logLevel: 'silent', server: { middlewareMode: true, ws: false } }) as InlineConfig
  expect(own.optimizeDeps?.rolldownOptions?.plugins, 'the plugin in vite.config.ts').toMatchObject([{ name: inServer.name }])
  config.optimizeDeps = { rolldownOptions: { plugins: [inServer] } }
  const server = await createServer(config)
  try {
    const optimizer = server.environments.client.depsOptimizer
    await optimizer?.scanProcessing
    await Promise.all(Object.values(optimizer?.metadata.discovered ?? {}).map((dep) => dep.processing))
    await expect.poll(() => replacements.filter((one) => !done.has(one)).map((one) => one.imported), { timeout: 60_000 }).toEqual([])
  } finally {
    await server.close()
    await rm(cacheDir, { recursive: true, force: true })
  }
}, 90_000)
