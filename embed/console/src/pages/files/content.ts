import { download, post, save } from '../../api/request'
import type { File } from '../../api/types'

// File contents in the console. Uploads are untrusted, so none becomes a document of the
// console's origin: bytes get one of a few inert types, whatever type the server reports.

export type Shape = 'image' | 'audio' | 'video' | 'pdf' | 'table' | 'text'

const pictures = ['image/png', 'image/jpeg', 'image/gif', 'image/webp']
const texts = ['application/json', 'application/x-ndjson']

const bare = (mime: string) => mime.split(';', 1)[0]!.trim().toLowerCase()

// shapeOf returns how a file can be shown; undefined if it can't.
export function shapeOf(file: File): Shape | undefined {
  const mime = bare(file.mime)
  if (pictures.includes(mime)) return 'image'
  if (mime === 'application/pdf') return 'pdf'
  if (mime.startsWith('audio/')) return 'audio'
  if (mime.startsWith('video/')) return 'video'
  if (mime.startsWith('text/') && /\.(csv|tsv)$/i.test(file.name)) return 'table'
  if (mime.startsWith('text/') || texts.includes(mime)) return 'text'
  return undefined
}

const path = (file: File) => `/file/list/${file.id}/content` as const

// loadThumb returns an object URL of a thumbnail; the caller revokes it.
export async function loadThumb(file: File, thumb: string, signal: AbortSignal): Promise<string> {
  const { blob } = await download(path(file), { thumb }, { signal, quiet: true })
  return URL.createObjectURL(blob.slice(0, blob.size, blob.type === 'image/png' ? 'image/png' : 'image/jpeg'))
}

// loadWhole returns an object URL of an image; the caller revokes it.
export async function loadWhole(file: File, signal: AbortSignal): Promise<string> {
  const mime = bare(file.mime)
  if (!pictures.includes(mime)) throw new Error(`no picture: ${mime}`)
  const { blob } = await download(path(file), {}, { signal, quiet: true })
  return URL.createObjectURL(blob.slice(0, blob.size, mime))
}

// textBytes is how much of a text file is shown.
export const textBytes = 256 << 10

export async function loadText(file: File, signal: AbortSignal): Promise<string> {
  const range = file.size > textBytes ? `bytes=0-${textBytes - 1}` : undefined
  const { blob } = await download(path(file), {}, { signal, quiet: true, range })
  const charset = /charset="?([\w-]+)/i.exec(file.mime)?.[1] ?? 'utf-8'
  const bytes = await blob.arrayBuffer()
  try {
    return new TextDecoder(charset).decode(bytes)
  } catch {
    return new TextDecoder().decode(bytes) // a charset that the browser does not support
  }
}

// linkTo returns a URL that needs no token, for players and browser downloads, which load
// only what they need and keep nothing in memory.
export async function linkTo(file: Pick<File, 'id' | 'public' | 'url'>): Promise<string> {
  return file.public ? file.url : (await post(`/file/list/${file.id}/link`, {})).url
}

// saveVersion downloads an earlier version of a file.
export async function saveVersion(file: File, version_id: number): Promise<void> {
  const link = document.createElement('a')
  link.href = (await post(`/file/list/${file.id}/link`, { version_id })).url
  link.download = file.name
  link.click()
}

const largest = 1 << 30 // bytes of an archive, which the browser collects before it saves it

// fetchToDisk downloads a file, or several as one archive unless that is too large.
export async function fetchToDisk(files: File[]): Promise<void> {
  if (files.length > 1 && files.length <= 200 && files.reduce((sum, { size }) => sum + size, 0) <= largest)
    return save(await download('/file/list-zip', { ids: files.map(({ id }) => id).join() }))
  for (const file of files) {
    const link = document.createElement('a')
    link.href = await linkTo(file)
    link.download = file.name
    link.click()
  }
}
