import { readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { brotliCompressSync, constants, gzipSync } from 'node:zlib'
import react from '@vitejs/plugin-react'
import { defineConfig, type Plugin } from 'vite'

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
    closeBundle() {
      const dir = join(outDir, 'assets')
      for (const name of readdirSync(dir)) {
        const path = join(dir, name)
        const bytes = readFileSync(path)
        writeFileSync(path + '.br', brotliCompressSync(bytes, {
          params: { [constants.BROTLI_PARAM_QUALITY]: 11, [constants.BROTLI_PARAM_SIZE_HINT]: statSync(path).size },
        }))
        writeFileSync(path + '.gz', gzipSync(bytes, { level: 9 }))
        rmSync(path)
      }
    },
  }
}

// unused are parts of the component library that come along with what is used and
// that nothing here asks for: what imports them, and what they are to it. The menus
// of a table's head are among them (filters stand above the lists), and choosing one
// row of a table alone.
const unused: [importer: string, imported: string, instead: string][] = [
  ['table/hooks/useFilter/index.js', './FilterDropdown', 'export const flattenKeys = () => []; export default () => null'],
  ['table/hooks/useSelection.js', '../../radio', 'export default () => null'],
  ['input/index.js', './Group', 'export default undefined'],
  ['input/index.js', './OTP', 'export default undefined'],
  ['input/index.js', './Search', 'export default undefined'],
  // These two are imported by themselves where a form has them.
  ['input/index.js', './TextArea', 'export default undefined'],
  ['input/index.js', './Password', 'export default undefined'],
  ['typography/Base/index.js', '../Editable', 'export default () => null'],
  ['typography/Base/index.js', './CopyBtn', 'export default () => null'],
  // A list can be in a form, and a table's rows can be chosen like a tree's: that would
  // bring all of both along to every list.
  ['form/context.js', '@rc-component/form', "export { FormProvider } from '@rc-component/form/es/FormContext'"],
  ['table/hooks/useSelection.js', '@rc-component/tree', `
    export const arrAdd = (list, key) => list.includes(key) ? list.slice() : [...list, key]
    export const arrDel = (list, key) => (list ?? []).filter((one) => one !== key)
    export const conductCheck = undefined, convertDataToEntities = undefined`],
  ['tree/index.js', './DirectoryTree', 'export default undefined'],
  ['tree/style/index.js', './directory', 'export const genDirectoryStyle = () => ({})'],
]

function withoutUnused(): Plugin {
  const mark = '\0unused:'
  return {
    name: 'without-unused',
    enforce: 'pre',
    resolveId(source, importer = '') {
      const i = unused.findIndex(([from, part]) => source === part && importer.endsWith(`/antd/es/${from}`))
      return i < 0 ? undefined : mark + i
    },
    load(id) {
      return id.startsWith(mark) ? unused[Number(id.slice(mark.length))][2] : undefined
    },
  }
}

// silentIcons puts our icon in the place of the one that all icons are made of.
function silentIcons(): Plugin {
  return {
    name: 'silent-icons',
    enforce: 'pre',
    resolveId(source, importer = '') {
      const icon = importer.includes('/@ant-design/icons/es/icons/') && source === '../components/AntdIconLight'
      return icon ? resolve(import.meta.dirname, 'src/ui/AntdIcon.tsx') : undefined
    },
  }
}

export default defineConfig({
  base: '/console/',
  plugins: [withoutUnused(), silentIcons(), react(), compressed()],
  build: {
    outDir: '../dist', emptyOutDir: true, modulePreload: { polyfill: false }, assetsInlineLimit: 0, target: 'es2022',
    // What the sign-in page needs is one file, and what every page with a list needs is
    // another: many small ones take longer and compress worse.
    rolldownOptions: {
      output: {
        codeSplitting: {
          groups: [
            { name: 'first', test: /src\/main\.tsx$/, priority: 2 },
            { name: 'frame', test: /src\/(app\/App|ui\/List)\.tsx$/, priority: 1 },
          ],
        },
      },
    },
  },
  server: { proxy: { '^/(admin|api|user|system|file|media|health|openapi.json)': 'http://127.0.0.1:8080' } },
})
