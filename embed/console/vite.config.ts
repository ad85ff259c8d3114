import react from '@vitejs/plugin-react'
import { defineConfig } from 'vite'
import { packages } from './scripts/packages.ts'
import { packed } from './scripts/packed.ts'
import { replace, replacements } from './scripts/replacements.ts'
import { source } from './scripts/source.ts'

const { inBuild, inServer } = replace(replacements)

export default defineConfig({
  base: '/console/',
  // Scripts find one another by relative URLs: the server may be below a path of its host. The
  // server changes the URLs in the page.
  experimental: { renderBuiltUrl: (_, { hostType }) => (hostType === 'html' ? undefined : { relative: true }) },
  html: { cspNonce: '__NONCE__' }, // which the server replaces in each page
  plugins: [inBuild, react(), packages(), packed('Meter'), source()],
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
        // The hash comes first: git compares files whose names end alike, so a new version of a
        // file takes only its differences in history. Letters and digits, since the go command
        // doesn't embed names that begin with an underscore.
        hashCharacters: 'base36',
        entryFileNames: 'assets/[hash]-[name].js',
        chunkFileNames: 'assets/[hash]-[name].js',
        assetFileNames: 'assets/[hash]-[name][extname]',
        codeSplitting: {
          groups: [
            { name: 'first', test: /src\/main\.tsx$/, priority: 2 },
            { name: 'frame', test: /src\/(app\/App|ui\/(List|CreateButton|useTable|useGet|useAction|usePanel|Wide|page-buttons))\.tsx?$/, priority: 1 },
          ],
        },
      },
    },
  },
  server: { proxy: { '^/(admin|api|auth|user|system|file|media|health|openapi.json)': 'http://127.0.0.1:8080' } },
})
