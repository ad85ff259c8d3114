// Reading the CSV file of an import in the browser, which of its columns hold what, and the files that are made of it. The
// server reads what is sent again, so a file that is not understood here is sent as it is, for its message.

import { folded } from '../../ui/fold'

export type Row = { line: number; cells: string[] }
export type Sheet = { header: string[]; rows: Row[] }

// Target is what a column can hold: a column of the API and the title of it.
export type Target = { column: string; title: string }

export const largest = 8 * 1024 * 1024 // bytes
const most = 10_000 // rows

// decode returns the text of a file and its encoding; undefined if it has another one or the browser does not know it.
export function decode(bytes: ArrayBuffer, charset: string): { text: string; charset: string } | undefined {
  const [a, b] = new Uint8Array(bytes)
  const marked = a === 0xff && b === 0xfe ? 'utf-16le' : a === 0xfe && b === 0xff ? 'utf-16be' : ''
  const name = marked || (charset === 'utf-16' ? 'utf-16le' : charset) || 'utf-8'
  try {
    return { text: new TextDecoder(name, { fatal: true }).decode(bytes), charset: name }
  } catch {
    return undefined
  }
}

// parse returns the table of a text; undefined if it has a misplaced quotation mark, no rows or too many.
export function parse(text: string): Sheet | undefined {
  const first = text.slice(0, text.search(/[\r\n]|$/))
  const [, stated] = /^"?sep=([,;\t|])"?$/i.exec(first) ?? []
  const comma = stated ?? /[,;\t]/.exec(first)?.[0] ?? ','
  const records: Row[] = []
  let cells: string[] = []
  let line = 1
  let began = 1
  const end = () => {
    if (cells.length > 1 || cells[0]?.trim()) records.push({ line: began, cells })
    cells = []
  }
  for (let i = stated ? first.length : 0; i < text.length; ) {
    if (cells.length === 0) began = line
    let cell = ''
    if (text[i] === '"') {
      for (i++; ; ) {
        const close = text.indexOf('"', i)
        if (close < 0) return undefined
        cell += text.slice(i, close)
        i = close + 1
        if (text[i] !== '"') break
        cell += '"'
        i++
      }
      line += cell.match(/\r\n|\r|\n/g)?.length ?? 0
    } else {
      let to = i
      while (to < text.length && text[to] !== comma && text[to] !== '\n' && text[to] !== '\r' && text[to] !== '"') to++
      if (text[to] === '"') return undefined
      cell = text.slice(i, to)
      i = to
    }
    cells.push(cell)
    if (text[i] === comma) {
      i++
      if (i < text.length) continue
      cells.push('')
    } else if (i < text.length && text[i] !== '\n' && text[i] !== '\r') return undefined
    end()
    if (records.length > most + 1) return undefined
    if (text[i] === '\r' && text[i + 1] === '\n') i++
    i++
    line++
  }
  const [header, ...rows] = records
  return header && rows.length ? { header: header.cells.map((cell) => cell.trim()), rows } : undefined
}

// Names of columns in other programs, without spaces and punctuation, in English and Chinese.
const names: Record<string, string> = {
  username: 'username user userid uid login loginname loginid account accountname samaccountname 用户名 用户名称 用户账号 登录名 登录账号 账号 帐号 账户 工号',
  nickname: 'nickname displayname name fullname realname cn 昵称 用户昵称 姓名 名字 真实姓名 显示名 显示名称',
  email: 'email emailaddress mail mailaddress 邮箱 用户邮箱 邮箱地址 电子邮箱 电子邮件 邮件 邮件地址',
  mobile: 'mobile mobilephone mobilenumber phone phonenumber telephone tel cell cellphone 手机 手机号 手机号码 电话 电话号码 联系电话 联系方式',
  sex: 'sex gender 性别 用户性别',
  department: 'department departmentname dept deptname division team unit orgunit 部门 部门名称 所属部门 所在部门 组织',
  roles: 'roles role rolename rolenames group groups 角色 角色名称 用户角色',
  status: 'status state enabled active 状态 启用 是否启用 账号状态 帐号状态 用户状态',
  password_hash: 'passwordhash hash 密码哈希 密码散列',
}

const plain = (name: string) => name.toLowerCase().replace(/[\s_\-.·:：()（）/*]+/g, '')

const looks: [column: string, test: RegExp][] = [
  ['email', /^[^\s@]+@[^\s@]+\.[^\s@]+$/],
  ['mobile', /^'?\+?[\d\s()./-]{6,}$/],
  ['username', /^(?=.*[a-z])[\w.-]{3,32}$/i],
]

// Known are the folded names of the departments and roles that there are.
export type Known = Partial<Record<'department' | 'roles', Set<string>>>

type Named = { name: string; children?: Named[] | null }

// namesOf returns the folded names of records, which are paths for those below others, as the server finds them.
export function namesOf(records: Named[], above = '', names = new Set<string>()): Set<string> {
  for (const { name, children } of records) {
    names.add(folded(above + name))
    namesOf(children ?? [], `${above}${name}/`, names)
  }
  return names
}

// guess returns what each column of a table holds, and '' for those that are left out: by the names of the API, by names
// in other programs, then by content.
export function guess({ header, rows }: Sheet, targets: Target[], known: Known = {}): string[] {
  const chosen = header.map(() => '')
  const free = (column: string) => targets.some((one) => one.column === column) && !chosen.includes(column)
  const take = (find: (name: string, at: number) => string | undefined) =>
    header.forEach((name, at) => {
      const column = chosen[at] ? undefined : find(name, at)
      if (column && free(column)) chosen[at] = column
    })
  take((name) => name.toLowerCase())
  take((name) => targets.find(({ column, title }) => plain(title) === plain(name) || plain(column) === plain(name))?.column)
  take((name) => Object.keys(names).find((column) => names[column]!.split(' ').includes(plain(name))))
  const { department, roles } = known
  const tests: [column: string, test: (cell: string) => boolean][] = [
    ['department', (cell) => department?.has(folded(cell)) ?? false],
    ['roles', (cell) => cell.split(';').every((name) => roles?.has(folded(name)))],
    ...looks.map(([column, test]): (typeof tests)[number] => [column, (cell) => test.test(cell)]),
  ]
  for (const [column, test] of tests)
    take((_, at) => {
      const given = rows.slice(0, 50).flatMap(({ cells }) => cells[at]?.trim() || [])
      const alike = given.filter(test).length
      return given.length && alike >= given.length * 0.8 && (column !== 'username' || new Set(given).size === given.length) ? column : undefined
    })
  return chosen
}

// isExact reports whether each column has a name of the API, so that no one has to be asked.
export const isExact = ({ header }: Sheet, chosen: string[]): boolean => header.every((name, at) => name === '' || name.toLowerCase() === chosen[at])

const words: Record<string, Record<string, string>> = {
  sex: { male: '1', m: '1', man: '1', 男: '1', 男性: '1', female: '2', f: '2', woman: '2', 女: '2', 女性: '2', unknown: '0', 未知: '0' },
  status: Object.fromEntries([
    ...'enabled active yes true y 启用 正常 是 在职'.split(' ').map((word) => [word, '1']),
    ...'disabled inactive no false n 停用 禁用 否 离职'.split(' ').map((word) => [word, '0']),
  ]),
}

// meant is a cell as the server reads it.
export const meant = (column: string, cell = ''): string => words[column]?.[cell.trim().toLowerCase()] ?? cell

const quoted = (cell: string): string => `"${cell.replaceAll('"', '""')}"`

// made returns the file to send with some rows, and the line of the table for each line of it.
export function made(rows: Row[], chosen: string[]): { file: File; lines: Map<number, number> } {
  const used = chosen.flatMap((column, at) => (column ? [{ column, at }] : []))
  const lines = new Map<number, number>()
  let at = 2
  const texts = rows.map(({ line, cells }) => {
    lines.set(at, line)
    const text = used.map((one) => quoted(meant(one.column, cells[one.at]))).join(',')
    at += (text.match(/\r\n|\r|\n/g)?.length ?? 0) + 1
    return text
  })
  return { file: new File([[used.map(({ column }) => quoted(column)).join(','), ...texts, ''].join('\n')], 'import.csv', { type: 'text/csv' }), lines }
}

const opens = (cell: string, at: number): boolean => at === 0 || ',;\t\r\n'.includes(cell[at - 1]!)

function computed(text: string, first: boolean): boolean {
  if (first && "=+-@\t\r'".includes(text[0]!)) return true
  const [start = ''] = text.replace(/^'+/, '').replace(/^[ "]+/, '')
  return start !== '' && '=+-@'.includes(start)
}

// safe puts an apostrophe before whatever a spreadsheet would compute, as the server does in exports; bare is its inverse.
export const safe = (cell: string): string =>
  Array.from({ length: cell.length }, (_, i) => (opens(cell, i) && computed(cell.slice(i), i === 0) ? `'${cell[i]}` : cell[i])).join('')
export const bare = (cell: string): string =>
  Array.from({ length: cell.length }, (_, i) =>
    cell[i] === "'" && i + 1 < cell.length && opens(cell, i) && computed(cell.slice(i + 1), i === 0) ? '' : cell[i],
  ).join('')

// rejected returns the file with rows that were not imported, as they were and with the reasons.
export function rejected({ header, rows }: Sheet, title: string, reasons: Map<number, string>): Blob {
  const line = (cells: string[], reason: string) => [...header.map((_, at) => safe(bare((cells[at] ?? '').trim()))), safe(reason)].map(quoted).join(',')
  const bad = rows.flatMap(({ line: at, cells }) => (reasons.has(at) ? [line(cells, reasons.get(at)!)] : []))
  return new Blob([`\uFEFF${[line(header, title), ...bad, ''].join('\r\n')}`], { type: 'text/csv' })
}
