import { base } from '../../api/base'
import { actingHeaders } from '../../api/acting'
import { begin } from '../../api/changes'
import { Failure, failureIn, hooks, language } from '../../api/request'
import { words } from '../../ui/words'
import { store } from '../../ui/store'

// Uploads continue while other pages are open: they belong to the tab, not to a page.

export type Upload = {
  id: number
  file: File
  group: number
  state: 'waiting' | 'sending' | 'stored' | 'failed' | 'cancelled'
  sent: number // bytes
  problem: string
}

const atOnce = 3
const told = 250 // milliseconds between two progress reports

let uploads: Upload[] = []
const known = store(uploads) // the last report
let telling: ReturnType<typeof setTimeout> | undefined
let last = 0
const running = new Map<number, XMLHttpRequest>()

export const useUploads = known.use

export const unfinished = (u: Upload) => u.state === 'waiting' || u.state === 'sending'

function warn(event: BeforeUnloadEvent): void {
  event.preventDefault()
}

// tell publishes the state of the uploads.
function tell(): void {
  clearTimeout(telling)
  telling = undefined
  known.set(uploads)
}

function set(next: Upload[]): void {
  uploads = next
  if (uploads.some(unfinished)) addEventListener('beforeunload', warn)
  else removeEventListener('beforeunload', warn)
  telling ??= setTimeout(tell, told)
}

function change(id: number, values: Partial<Upload>): void {
  set(uploads.map((u) => (u.id === id ? { ...u, ...values } : u)))
}

// add uploads files to a folder, 0 for none. Finished uploads are removed from the list.
export function add(files: File[], group: number): void {
  const before = uploads.some(unfinished) ? uploads : uploads.filter((u) => u.state === 'failed')
  set([...before, ...files.map((file): Upload => ({ id: ++last, file, group, state: 'waiting', sent: 0, problem: '' }))])
  next()
  tell()
}

export function retry(id: number): void {
  change(id, { state: 'waiting', sent: 0, problem: '' })
  next()
  tell()
}

export function cancel(ids: number[]): void {
  const gone = new Set(ids)
  set(uploads.map((u) => (gone.has(u.id) && unfinished(u) ? { ...u, state: 'cancelled' } : u)))
  for (const id of ids) {
    running.get(id)?.abort()
    running.delete(id)
  }
  next()
  tell()
}

// forget removes finished uploads from the list.
export function forget(): void {
  set(uploads.filter(unfinished))
  tell()
}

function next(): void {
  for (const upload of uploads) {
    if (running.size >= atOnce) return
    if (upload.state === 'waiting') send(upload)
  }
}

function send({ id, file, group }: Upload): void {
  const form = new FormData()
  if (group) form.set('group_id', String(group))
  form.set('file', file)
  const request = new XMLHttpRequest() // fetch does not report upload progress
  running.set(id, request)
  change(id, { state: 'sending' })
  const end = (values: Partial<Upload>) => {
    running.delete(id)
    change(id, values)
    next()
  }
  const ended = begin()
  request.onloadend = () => ended(request.getResponseHeader('Reeve-Entry'))
  request.upload.onprogress = (e) => change(id, { sent: Math.min(e.loaded, file.size) })
  request.onload = () => end(request.status === 200 ? { state: 'stored', sent: file.size } : { state: 'failed', problem: problemOf(request) })
  request.onerror = () => end({ state: 'failed', problem: problemOf(request) })
  hooks.sent('POST', '/file/list', '/file/list', form)
  request.open('POST', `${base}/file/list`)
  request.setRequestHeader('Accept-Language', language())
  for (const [name, value] of Object.entries(actingHeaders('/file/list'))) request.setRequestHeader(name, value)
  request.send(form)
}

// problemOf returns why a file was rejected: the fault of the file field is more specific
// than the message of the request.
function problemOf(request: XMLHttpRequest): string {
  const failure = failureIn(request.status, request.responseText)
  const fault = failure.errors.file
  return words(fault ? new Failure(failure.status, failure.code, fault.charAt(0).toUpperCase() + fault.slice(1), failure.showType) : failure)
}
