import { resolve } from 'node:path'
import type { Plugin } from 'vite'

// A Replacement is a module of the component library that a module of this project, or
// source text, takes the place of.
export type Replacement = {
  importer: string // the end of the path of the module that imports it
  imported: string // as the importer writes it
  by: { code: string } | { file: string }
}

const code = (importer: string, imported: string, code: string): Replacement => ({ importer: `/antd/es/${importer}`, imported, by: { code } })

// Parts that come along with what the console uses and that nothing here needs. What
// they did is missing in the console, so src/antd.d.ts takes it out of the types: a new
// entry here needs one there and a line in src/antd.test-d.tsx.
const unused: Replacement[] = [
  // Filters in the head of a table: filters are above the lists.
  code('table/hooks/useFilter/index.js', './FilterDropdown', 'export const flattenKeys = () => []; export default () => null'),
  // The choice of one row of a table.
  code('table/hooks/useSelection.js', '../../radio', 'export default () => null'),
  // Input alone: no Group, OTP and Search, and a form that has a TextArea or Password imports it by itself.
  code('index.js', './input', "export { default } from 'antd/es/input/Input'"),
  code('typography/Base/index.js', '../Editable', 'export default () => null'),
  code('typography/Base/index.js', './CopyBtn', 'export default () => null'),
  // A list can be in a form, and the rows of a table can be chosen like those of a tree:
  // that would bring all of both to every list.
  code('form/context.js', '@rc-component/form', "export { FormProvider } from '@rc-component/form/es/FormContext'"),
  code(
    'table/hooks/useSelection.js',
    '@rc-component/tree',
    `
    export const arrAdd = (list, key) => list.includes(key) ? list.slice() : [...list, key]
    export const arrDel = (list, key) => (list ?? []).filter((one) => one !== key)
    export const conductCheck = undefined, convertDataToEntities = undefined`,
  ),
  code('tree/index.js', './DirectoryTree', 'export default undefined'),
]

// In an open list, Tab chooses the highlighted option and stays there. Without a code of its own it is
// left to the browser: the focus moves on, which closes the list, and nothing is chosen.
const tab: Replacement = {
  importer: '/@rc-component/select/es/OptionList.js',
  imported: '@rc-component/util',
  by: {
    code: `
    import { KeyCode as codes } from '@rc-component/util'
    export { omit, pickAttrs, useMemo } from '@rc-component/util'
    export const KeyCode = { ...codes, TAB: -1 }`,
  },
}

// The rules of a component stay ready when the last one of its kind is gone. Otherwise a form would
// make those of most of its fields again, whenever it opens.
const rules: Replacement = {
  importer: '/@ant-design/cssinjs/es/StyleContext.js',
  imported: './Cache',
  by: {
    code: `
    import Cache from '@ant-design/cssinjs/es/Cache'
    export default class extends Cache {
      opUpdate(path, next) {
        super.opUpdate(path, path.startsWith('style%') ? (before) => next(before ?? [1]) : next)
      }
    }`,
  },
}

// A field asks whether it can be seen, which lays out the page, only to measure its margin again.
const visible: Replacement = {
  importer: '/antd/es/form/FormItem/ItemHolder.js',
  imported: '@rc-component/util',
  by: {
    code: `
    export { isNonNullable, omit, useLayoutEffect } from '@rc-component/util'
    export const isVisible = () => true`,
  },
}

// Every icon is made of this one.
const icon: Replacement = { importer: '', imported: '../components/AntdIconLight', by: { file: resolve(import.meta.dirname, '../src/ui/AntdIcon.tsx') } }
const icons = '/@ant-design/icons/es/icons/'

export const replacements = [...unused, tab, rules, visible, icon]

const isFrom = (importer: string, { importer: from }: Replacement) => (from ? importer.endsWith(from) : importer.includes(icons))

// replace puts the replacements in place, in a build and in the modules that the
// development server bundles, so that both run the same code. A build fails when one of
// them replaces nothing: the library has moved that module, or nobody imports it.
export function replace(all: Replacement[]) {
  const mark = '\0replacement:'
  const done = new Set<Replacement>()
  const both = {
    name: 'replace',
    resolveId(source: string, importer?: string) {
      const found = all.find((one) => one.imported === source && isFrom(importer ?? '', one))
      if (!found) return undefined
      done.add(found)
      return 'file' in found.by ? found.by.file : mark + all.indexOf(found)
    },
    load(id: string) {
      const by = id.startsWith(mark) ? all[Number(id.slice(mark.length))]?.by : undefined
      return by && 'code' in by ? by.code : undefined
    },
  }
  const inBuild: Plugin = {
    ...both,
    enforce: 'pre',
    apply: 'build',
    buildEnd(cause) {
      const missing = all.filter((one) => !done.has(one)).map((one) => `${one.imported} in ${one.importer || icons}`)
      if (!cause && missing.length) this.error(`replaces nothing: ${missing.join(', ')}`)
    },
  }
  return { inBuild, inServer: both, done }
}
