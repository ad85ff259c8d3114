import { FileImageOutlined, FileOutlined, FilePdfOutlined, FileTextOutlined, FileZipOutlined, SoundOutlined, VideoCameraOutlined } from '@ant-design/icons'
import { type ComponentType, useEffect, useRef, useState } from 'react'
import type { File } from '../../api/types'
import { useAccount } from '../../app/account'
import { loadThumb, shapeOf } from './content'

const icons: Record<string, ComponentType> = {
  image: FileImageOutlined,
  audio: SoundOutlined,
  video: VideoCameraOutlined,
  archive: FileZipOutlined,
  document: FileTextOutlined,
}

export function FileIcon({ file }: { file: File }) {
  const Kind = shapeOf(file) === 'pdf' ? FilePdfOutlined : (icons[file.kind] ?? FileOutlined)
  return <Kind />
}

// Thumb is a file's thumbnail, or the icon of its kind.
export function Thumb({ file, size = '200x200' }: { file: File; size?: '64x64' | '200x200' | '400x400' }) {
  const { may } = useAccount()
  const picture = shapeOf(file) === 'image' && (file.public === 1 || may('file.list.download'))
  return (
    <span className="file-thumb" aria-hidden>
      {picture ? <Picture key={`${file.sha256} ${file.url}`} file={file} size={size} /> : <FileIcon file={file} />}
    </span>
  )
}

function Picture({ file, size }: { file: File; size: string }) {
  const [broken, setBroken] = useState(false)
  const [loaded, ref] = useLoaded(file, size, () => setBroken(true))
  const src = file.public ? `${file.url}?thumb=${size}` : loaded
  if (broken) return <FileIcon file={file} />
  return src ? <img src={src} alt="" loading="lazy" draggable={false} onError={() => setBroken(true)} /> : <span ref={ref} className="file-thumb-wait" />
}

// useLoaded loads a thumbnail that needs the token once it is close to the viewport.
function useLoaded(file: File, size: string, failed: () => void) {
  const [src, setSrc] = useState('')
  const ref = useRef<HTMLSpanElement>(null)
  // biome-ignore lint/correctness/useExhaustiveDependencies: a file's thumbnail never changes: the caller keys by it
  useEffect(() => {
    if (file.public || !ref.current) return
    const gone = new AbortController()
    let url = ''
    const seen = new IntersectionObserver(
      ([entry]) => {
        if (!entry?.isIntersecting) return
        seen.disconnect()
        inTurn(() => loadThumb(file, size, gone.signal), gone.signal).then(
          (loaded) => {
            url = loaded
            if (gone.signal.aborted) URL.revokeObjectURL(url)
            else setSrc(url)
          },
          () => gone.signal.aborted || failed(),
        )
      },
      { rootMargin: '200px' },
    )
    seen.observe(ref.current)
    return () => {
      seen.disconnect()
      gone.abort()
      URL.revokeObjectURL(url)
    }
    // A file's thumbnail never changes: the caller keys by it.
  }, [])
  return [src, ref] as const
}

// inTurn limits parallel thumbnails, so that connections stay free for the user's
// requests.
const atOnce = 3
let busy = 0
const waiting = new Set<() => void>()

async function inTurn<T>(load: () => Promise<T>, signal: AbortSignal): Promise<T> {
  if (busy >= atOnce) {
    await new Promise<void>((go, leave) => {
      waiting.add(go)
      signal.addEventListener('abort', () => waiting.delete(go) && leave(signal.reason as Error))
    })
  } else {
    busy++
  }
  try {
    signal.throwIfAborted()
    return await load()
  } finally {
    const [first] = waiting
    if (first) {
      waiting.delete(first) // its slot is passed on
      first()
    } else {
      busy--
    }
  }
}
