import type { ConfigProviderProps } from 'antd'

// A language is a folder named by its code:
//
//   language.ts  its name, and formats that Intl does not provide
//   first.ts     texts of the sign-in page, bundled with the program
//   index.ts     texts of the frame; the other files contain one area each, see areas
//
// en defines the keys; the compiler and a server test check the other languages.

export type Language = {
  name: string // in its own language, as below
  short: string // for narrow screens
  change: string // command that switches to it
  day: string // dayjs format of a day in a year
  library?: () => Promise<ConfigProviderProps['locale']> // locale of the component library and calendar; absent for English
}

const codeOf = (path: string) => path.split('/')[1] ?? ''

const table = <T>(files: Record<string, T>): Record<string, T> => Object.fromEntries(Object.entries(files).map(([path, file]) => [codeOf(path), file]))

export const languages = table(import.meta.glob<Language>('./*/language.ts', { eager: true, import: 'language' }))

export const firsts = table(import.meta.glob<Record<string, string>>('./*/first.ts', { eager: true, import: 'first' }))

// Each file is loaded when first used. Those that are left out come with another.
export const areas = import.meta.glob<Record<string, Record<string, string>>>(['./*/*.ts', '!./*/{account,errors,first,frame,language,library,sessions}.ts'])
