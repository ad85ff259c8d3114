import { open, save } from '../../api/request'

// Not every browser lets a page write a file bit by bit, and none over plain HTTP
// from elsewhere; types for it are not everywhere either.
type Picker = (o: {
  suggestedName: string
  types: { accept: Record<string, string[]> }[]
}) => Promise<{ createWritable: () => Promise<WritableStream<Uint8Array>> }>

const picker = (window as { showSaveFilePicker?: Picker }).showSaveFilePicker

// straightToFile tells whether a backup goes to the disk as it comes. Otherwise the
// browser collects it first; the larger ones it puts on the disk itself.
export const straightToFile = picker !== undefined

// saveBackup saves a backup and answers whether it did: no when no file was chosen.
// What comes broken off is not kept.
export async function saveBackup(signal: AbortSignal, tell: (bytes: number, of: number) => void): Promise<boolean> {
  const name = `reeve-${new Date().toISOString().slice(0, 19).replace(/[-:]/g, '').replace('T', '-')}.tar`
  let file: WritableStream<Uint8Array> | undefined
  if (picker) {
    try {
      // A file can be asked for only right after the click.
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
    await file?.abort().catch(() => {}) // it has ended already where the bytes broke off
    throw cause
  }
}

// counting passes bytes on and tells how many there were, not more often than a
// screen can show.
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
