import { resolve } from 'node:path'
import { defineConfig } from 'vite'

// Builds bare.ts as one file, only for a test.
export default defineConfig({
  root: resolve(import.meta.dirname, '..'),
  define: { 'process.env.NODE_ENV': '"production"' },
  build: {
    target: 'es2022',
    copyPublicDir: false,
    reportCompressedSize: false,
    lib: { entry: 'scripts/bare.ts', formats: ['es'], fileName: 'bare' },
  },
})
