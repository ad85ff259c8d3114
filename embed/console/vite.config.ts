import { readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { brotliCompressSync, constants, gzipSync } from 'node:zlib'
import react from '@vitejs/plugin-react'
import { defineConfig, type Plugin } from 'vite'
import { packages } from './scripts/packages.ts'
import { replace, replacements } from './scripts/replacements.ts'

// Every file but the page is shipped compressed alone: the server unpacks nothing,
// and whoever accepts neither br nor gzip does not exist among browsers.
function compressed(): Plugin {
  let outDir = ''
  return {
    name: 'compressed',
    apply: 'build',
    configResolved(config) {
      outDir = resolve(config.root, config.build.outDir)
    },
    writeBundle() {
      rmSync(join(outDir, 'importmap.json')) // it is in the page
      const dir = join(outDir, 'assets')
      for (const name of readdirSync(dir)) {
        const path = join(dir, name)
        const bytes = readFileSync(path)
        writeFileSync(
          `${path}.br`,
          brotliCompressSync(bytes, { params: { [constants.BROTLI_PARAM_QUALITY]: 11, [constants.BROTLI_PARAM_SIZE_HINT]: statSync(path).size } }),
        )
        writeFileSync(`${path}.gz`, gzipSync(bytes, { level: 9 }))
        rmSync(path)
      }
    },
  }
}

const { inBuild, inServer } = replace(replacements)

export default defineConfig({
  base: '/console/',
  // Scripts find one another by relative URLs: the server may be below a path of its host. The
  // server changes the URLs in the page.
  experimental: { renderBuiltUrl: (_, { hostType }) => (hostType === 'html' ? undefined : { relative: true }) },
  html: { cspNonce: '__NONCE__' }, // which the server replaces in each page
  plugins: [inBuild, react(), packages(), compressed()],
  optimizeDeps: { rolldownOptions: { plugins: [inServer] } },
  build: {
    // Files import one another by names that do not change with their content; a map in the
    // page leads from these to the files. Without it, a change of one file changes the name,
    // and so the content, of nearly all: of 159, a change of one line changes 1 instead of 127.
    chunkImportMap: true,
    outDir: '../dist',
    emptyOutDir: true,
    modulePreload: { polyfill: false },
    assetsInlineLimit: 0,
    target: 'es2022',
    // What the sign-in page needs is one file, and what every page with a list needs is
    // another: many small ones take longer and compress worse.
    rolldownOptions: {
      output: {
        codeSplitting: {
          groups: [
            { name: 'first', test: /src\/main\.tsx$/, priority: 2 },
            { name: 'frame', test: /src\/(app\/App|ui\/(List|CreateButton|useTable|useGet|useAction|usePanel|Wide|page-buttons))\.tsx?$/, priority: 1 },
          ],
        },
      },
    },
  },
  server: { proxy: { '^/(admin|api|user|system|file|media|health|openapi.json)': 'http://127.0.0.1:8080' } },
})
