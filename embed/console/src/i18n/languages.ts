import type { ConfigProviderProps } from 'antd'

// A language is a folder here, named by its code:
//
//   language.ts  what it is called, and how it writes what the Intl of browsers does not
//   first.ts     the words of the sign-in page, which come with the program
//   index.ts     the words of the frame; an area in each of the other files, see areas
//
// en has every key; the compiler and a test of the server hold the others to it.

export type Language = {
  name: string // in itself, as below
  short: string // where there is little room
  change: string // the command that changes to it
  day: string // a day of a year, as dayjs writes it
  library?: () => Promise<ConfigProviderProps['locale']> // what the component library and the calendar say; absent for English
}

const codeOf = (path: string) => path.split('/')[1] ?? ''

const table = <T>(files: Record<string, T>): Record<string, T> => Object.fromEntries(Object.entries(files).map(([path, file]) => [codeOf(path), file]))

export const languages = table(import.meta.glob<Language>('./*/language.ts', { eager: true, import: 'language' }))

export const firsts = table(import.meta.glob<Record<string, string>>('./*/first.ts', { eager: true, import: 'first' }))

// Each is loaded with what first uses it.
export const areas = import.meta.glob<Record<string, Record<string, string>>>(
  './*/{index,dashboard,info,people,rights,actions,settings,builtins,dicts,files,jobs,monitor}.ts',
)
