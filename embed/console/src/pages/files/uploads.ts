import { base } from '../../api/base'
import { actingHeaders } from '../../api/acting'
import { begin } from '../../api/changes'
import { Failure, failureIn, get, hooks, language } from '../../api/request'
import { words } from '../../ui/words'
import { store } from '../../ui/store'

// Uploads continue while other pages are open: they belong to the tab, not to a page.

export type Upload = {
  id: number
  file: File
  group: number
  state: 'unchecked' | 'checking' | 'asking' | 'waiting' | 'sending' | 'stored' | 'failed' | 'cancelled'
  same?: number // ID of a file of this name in the folder, while the user is asked
  into?: number // ID of the file whose new version it is
  sent: number // bytes
  problem: string
}

const atOnce = 3
const told = 250 // milliseconds between two progress reports

let uploads: Upload[] = []
const known = store(uploads) // the last report
let telling: ReturnType<typeof setTimeout> | undefined
let last = 0
const running = new Map<number, { abort: () => void }>()

export const useUploads = known.use

export const unfinished = (u: Upload) => u.state !== 'stored' && u.state !== 'failed' && u.state !== 'cancelled'

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

// add uploads files to a folder, 0 for none. If ask, the user chooses what becomes of a file whose name the folder
// has already. Finished uploads are removed from the list.
export function add(files: File[], group: number, ask: boolean): void {
  enqueue(files.map((file) => ({ file, group, state: ask ? 'unchecked' : 'waiting' })))
}

// addVersion uploads a new version of a file.
export function addVersion(file: File, into: number): void {
  enqueue([{ file, group: 0, state: 'waiting', into }])
}

function enqueue(added: Pick<Upload, 'file' | 'group' | 'state' | 'into'>[]): void {
  const before = uploads.some(unfinished) ? uploads : uploads.filter((u) => u.state === 'failed')
  set([...before, ...added.map((one): Upload => ({ ...one, id: ++last, sent: 0, problem: '' }))])
  next()
  tell()
}

// decide says what becomes of files whose names the folder has: a new version, or a file of its own.
export function decide(ids: number[], version: boolean): void {
  set(uploads.map((u) => (ids.includes(u.id) && u.state === 'asking' ? { ...u, state: 'waiting', into: version ? u.same : undefined } : u)))
  next()
  tell()
}

// check looks for a file of this name in the folder.
function check({ id, file, group }: Upload): void {
  const stop = new AbortController()
  running.set(id, stop)
  change(id, { state: 'checking' })
  const filter = JSON.stringify({ name: [file.name], group_id: [group] })
  void get('/file/list', { filter, pageSize: 1 }, { signal: stop.signal, quiet: true })
    .then(({ data }) => data[0]?.id)
    .catch(() => undefined) // then it becomes a file of its own, as without the question
    .then((same) => {
      if (stop.signal.aborted) return
      running.delete(id)
      change(id, same ? { state: 'asking', same } : { state: 'waiting' })
      next()
    })
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
    if (upload.state === 'unchecked') check(upload)
    else if (upload.state === 'waiting') send(upload)
  }
}

function send({ id, file, group, into }: Upload): void {
  const form = new FormData()
  const path = into ? (`/file/list/${into}/version` as const) : '/file/list'
  if (group && !into) form.set('group_id', String(group))
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
  hooks.sent('POST', path, path, form)
  request.open('POST', base + path)
  request.setRequestHeader('Accept-Language', language())
  for (const [name, value] of Object.entries(actingHeaders(path))) request.setRequestHeader(name, value)
  request.send(form)
}

// problemOf returns why a file was rejected: the fault of the file field is more specific
// than the message of the request.
function problemOf(request: XMLHttpRequest): string {
  const failure = failureIn(request.status, request.responseText)
  const fault = failure.errors.file
  return words(fault ? new Failure(failure.status, failure.code, fault.charAt(0).toUpperCase() + fault.slice(1), failure.showType) : failure)
}
