import { useEffect } from 'react'
import type { Place } from './menu'
import { edits } from '../ui/edits'
import { useLatest } from '../ui/useLatest'

// Keyboard shortcuts. Those without Ctrl or ⌘ can be turned off, for users of speech input
// and to avoid accidents.

export const jumps: Record<string, string> = {
  h: '/',
  u: '/admin/list',
  r: '/admin/role',
  p: '/admin/rule',
  d: '/admin/dept',
  a: '/user/list',
  f: '/file/list',
  g: '/file/group',
  t: '/file/trash',
  s: '/system/setting',
  w: '/system/dict',
  e: '/system/session',
  l: '/system/loginlog',
  m: '/system/monitor',
  i: '/system/info',
  o: '/account',
}

const off = 'reeve.keys'

export const singleKeys = (): boolean => localStorage.getItem(off) !== 'off'

export function setSingleKeys(on: boolean): void {
  if (on) localStorage.removeItem(off)
  else localStorage.setItem(off, 'off')
}

// within is the time to press the second key after g, in milliseconds.
const within = 1500

type Acts = { palette: () => void; help: () => void; requests: () => void; go: (path: string) => void; places: Place[] }

const typing = (at: EventTarget | null) =>
  at instanceof Element && at.closest('input:not([type=checkbox], [type=radio]), textarea, select, [contenteditable], [role=textbox], [role=menu]') !== null

// Keys in lists.
export const listKeys = { c: 'create', j: 'next', k: 'previous', x: 'select', e: 'edit', Enter: 'open' } as const

const rows = 'main .ant-table-tbody > .ant-table-row, main .cards > li, main .log [data-seq]'
const heads = ':is(td:not(.ant-table-selection-column), .cards-head > div)'

// inList does what a key does in a list, and reports whether there was something to do.
function inList(key: keyof typeof listKeys, at: Element, repeated: boolean): boolean {
  if (key === 'c') {
    const create = [...document.querySelectorAll<HTMLElement>('main [data-create]')].at(-1) // of the dictionary, not of all
    create?.focus() // which gets the focus back from the form
    create?.click()
    return !!create
  }
  const row = at.closest<HTMLElement>(rows)
  if (key === 'j' || key === 'k') {
    const all = [...document.querySelectorAll<HTMLElement>(rows)].filter((one) => one.checkVisibility())
    const next = row ? all[all.indexOf(row) + (key === 'j' ? 1 : -1)] : all[0]
    if (next && !next.matches('button')) next.tabIndex = -1
    next?.focus()
    return next !== undefined
  }
  if (!row || repeated) return false
  const box = row.querySelector('[data-actions]')
  const edit = box ? edits.get(box) : undefined
  if (key === 'x') row.querySelector<HTMLElement>('input[type=checkbox]')?.click()
  else if (key === 'e') edit?.()
  else if (at === row && !row.matches('button')) {
    const open = row.querySelector(heads)?.querySelector<HTMLElement>('a, button.link')
    if (open) open.click()
    else edit?.()
  } else return false
  return true
}

// search moves the focus into the search field of the page, if there is one.
function search(): boolean {
  const field = document.querySelector<HTMLInputElement>('main [data-search]')
  field?.focus()
  field?.select()
  return !!field
}

// later does what a key does once the page has what it needs.
const later = (act: () => boolean) => void import('./soon').then(({ soon }) => soon(act))

// toMain moves the focus to the start of the page, from where a few Tabs reach its controls.
export const toMain = () => document.getElementById('main')?.focus({ preventScroll: true })

// No shortcuts in a dialog: leaving it would discard its content.
const dialog = () => [...document.querySelectorAll('dialog[open], .ant-modal-wrap, .ant-drawer-open')].some((shown) => shown.checkVisibility())

export function useKeys(acts: Acts): void {
  const now = useLatest(acts)
  useEffect(() => {
    let prefix = 0 // when g was pressed
    let taken = '' // the key that moved the focus into a field and is still held; it must not type there
    function pressed(e: KeyboardEvent) {
      if (e.isComposing || e.defaultPrevented) return
      if (e.repeat && e.key === taken) return e.preventDefault()
      taken = ''
      const { palette, help, requests, go, places } = now.current
      if ((e.ctrlKey || e.metaKey) && !e.altKey && !e.shiftKey && e.key.toLowerCase() === 'k') {
        e.preventDefault() // also in a dialog, instead of the browser's own search
        if (!dialog()) palette()
        return
      }
      if (e.ctrlKey || e.metaKey || e.altKey || !singleKeys() || typing(e.target) || dialog()) return
      const jump = Date.now() - prefix < within ? jumps[e.key] : undefined
      prefix = 0
      if (jump !== undefined) {
        e.preventDefault()
        if (jump === '/' || jump === '/account' || places.some((place) => place.path === jump)) {
          go(jump)
          toMain()
        }
      } else if (e.key === 'g') {
        prefix = Date.now()
      } else if (e.key === '?') {
        e.preventDefault()
        help()
      } else if (e.key === 'a') {
        e.preventDefault()
        requests()
      } else if (e.key in listKeys && e.target instanceof Element) {
        if (!inList(e.key as keyof typeof listKeys, e.target, e.repeat)) {
          if (e.key === 'c') later(() => inList('c', document.body, false))
          return
        }
        e.preventDefault()
        if ('ce'.includes(e.key)) taken = e.key
      } else if (e.key === '/') {
        if (search()) {
          e.preventDefault()
          taken = e.key
        } else later(search)
      }
    }
    addEventListener('keydown', pressed)
    return () => removeEventListener('keydown', pressed)
  }, [])
}
