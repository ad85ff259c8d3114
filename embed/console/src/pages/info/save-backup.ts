import { open, save } from '../../api/request'

// Not every browser can stream to a file, and none over plain HTTP from another host;
// TypeScript lacks some of the types.
type Picker = (o: {
  suggestedName: string
  types: { accept: Record<string, string[]> }[]
}) => Promise<{ createWritable: () => Promise<WritableStream<Uint8Array>> }>

const picker = (window as { showSaveFilePicker?: Picker }).showSaveFilePicker

// straightToFile reports whether a backup can be streamed to disk. Otherwise the browser
// collects it first; it puts large ones on disk itself.
export const straightToFile = picker !== undefined

// saveBackup saves a backup and reports whether it did: false if no file was selected.
// Incomplete backups are discarded.
export async function saveBackup(signal: AbortSignal, tell: (bytes: number, of: number) => void): Promise<boolean> {
  const name = `reeve-${new Date().toISOString().slice(0, 19).replace(/[-:]/g, '').replace('T', '-')}.tar`
  let file: WritableStream<Uint8Array> | undefined
  if (picker) {
    try {
      // File pickers open only in response to a click.
      file = await (await picker({ suggestedName: name, types: [{ accept: { 'application/x-tar': ['.tar'] } }] })).createWritable()
    } catch (cause) {
      if (cause instanceof DOMException && cause.name === 'AbortError') return false
      throw cause
    }
  }
  try {
    tell(0, 0)
    const response = await open('/system/backup', signal)
    const of = Number(response.headers.get('Content-Length'))
    const counted = response.body!.pipeThrough(counting((bytes) => tell(bytes, of)))
    if (file) await counted.pipeTo(file, { signal })
    else save({ blob: await new Response(counted, { headers: { 'Content-Type': 'application/x-tar' } }).blob(), name })
    return true
  } catch (cause) {
    await file?.abort().catch(() => {}) // already closed if the stream failed
    throw cause
  }
}

// counting forwards bytes and reports their number, at most once per frame.
function counting(tell: (bytes: number) => void): TransformStream<Uint8Array, Uint8Array> {
  let [bytes, told] = [0, 0]
  return new TransformStream({
    transform(chunk, on) {
      bytes += chunk.length
      if (Date.now() - told > 100) {
        told = Date.now()
        tell(bytes)
      }
      on.enqueue(chunk)
    },
  })
}
