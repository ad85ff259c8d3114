import { Button, Flex, Spin } from 'antd'
import { lazy, type ReactNode, Suspense, useCallback, useEffect, useRef, useState } from 'react'
import { Failure } from '../../api/request'
import type { File } from '../../api/types'
import { useAccount } from '../../app/account'
import { t } from '../../i18n'
import { bytes } from '../../ui/format'
import { words } from '../../ui/words'
import { fetchToDisk, linkTo, loadText, loadWhole, shapeOf } from './content'
import { Text } from './Text'
import { FileIcon } from './Thumb'

const Sheet = lazy(async () => ({ default: (await import('./Sheet')).Sheet }))

const large = 50 << 20 // bytes; larger files are not loaded automatically

// Content shows a file's content, as far as browsers can.
export function Content({ file }: { file: File }) {
  const { may } = useAccount()
  const [asked, setAsked] = useState(false)
  const shape = shapeOf(file)
  if (!may('file.list.download') && !(file.public && shape === 'image')) return <Instead file={file}>{t('files.no_preview.denied')}</Instead>
  switch (shape) {
    case 'audio':
    case 'video':
      return <Player file={file} shape={shape} />
    case 'text':
    case 'table':
      return (
        <Loaded file={file} load={loadText}>
          {(text) => (
            <Suspense fallback={<Text file={file} text="" />}>
              {shape === 'table' ? <Sheet file={file} text={text} /> : <Text file={file} text={text} />}
            </Suspense>
          )}
        </Loaded>
      )
    case 'image':
      if (file.size > large && !asked) {
        return (
          <Instead file={file}>
            {t('files.large', { size: bytes(file.size) })}
            <Button onClick={() => setAsked(true)}>{t('files.large.load')}</Button>
          </Instead>
        )
      }
      return (
        <Loaded file={file} load={loadWhole}>
          {(url) => <Picture file={file} url={url} />}
        </Loaded>
      )
    case 'pdf': // browsers refuse to show one in a sandbox
      return (
        <Instead file={file}>
          {t('files.no_preview.pdf')}
          <Button onClick={() => void fetchToDisk([file])}>{t('files.download')}</Button>
        </Instead>
      )
  }
  return <Instead file={file}>{t('files.no_preview')}</Instead>
}

// Instead is shown when there is no preview.
function Instead({ file, children }: { file: File; children: ReactNode }) {
  return (
    <div className="preview-stage">
      <Flex vertical align="center" gap={16} style={{ textAlign: 'center' }}>
        <span style={{ fontSize: 56 }}>
          <FileIcon file={file} />
        </span>
        {children}
      </Flex>
    </div>
  )
}

// Loaded shows the result of load; object URLs are revoked afterwards.
function Loaded({ file, load, children }: { file: File; load: (file: File, signal: AbortSignal) => Promise<string>; children: (loaded: string) => ReactNode }) {
  const [loaded, setLoaded] = useState<string>()
  const [problem, setProblem] = useState('')
  useEffect(() => {
    const gone = new AbortController()
    const answer = load(file, gone.signal)
    answer.then(
      (value) => gone.signal.aborted || setLoaded(value),
      (cause: unknown) => gone.signal.aborted || setProblem(cause instanceof Failure ? words(cause) : String(cause)),
    )
    return () => {
      gone.abort()
      answer.then(
        (value) => value.startsWith('blob:') && URL.revokeObjectURL(value),
        () => {},
      )
    }
  }, [file, load])
  if (problem) return <Instead file={file}>{problem}</Instead>
  return loaded === undefined ? (
    <div className="preview-stage">
      <Spin delay={200} />
    </div>
  ) : (
    children(loaded)
  )
}

function Picture({ file, url }: { file: File; url: string }) {
  const [broken, setBroken] = useState(false)
  if (broken) return <Instead file={file}>{t('files.broken')}</Instead>
  return (
    <div className="preview-stage">
      <img src={url} alt={file.name} onError={() => setBroken(true)} />
    </div>
  )
}

// Player plays from a temporary link, so that only the watched part is loaded. A link
// expires after minutes; playback continues with a new one.
function Player({ file, shape }: { file: File; shape: 'audio' | 'video' }) {
  const [src, setSrc] = useState('')
  const [problem, setProblem] = useState<'unplayable' | 'unreachable'>()
  const stopped = useRef({ at: 0, playing: false })
  const begin = useCallback(() => {
    // biome-ignore lint/nursery/useReactCompiler: the state is set when a player starts to load
    setProblem(undefined)
    linkTo(file).then(setSrc, () => setProblem('unreachable'))
  }, [file])
  useEffect(begin, [begin])

  // The player does not report the cause, but requesting the link does.
  async function failed(media: HTMLMediaElement) {
    stopped.current = { at: media.currentTime, playing: !media.paused }
    const answer = await fetch(src, { method: 'HEAD' }).catch(() => undefined)
    if (answer?.ok) setProblem('unplayable')
    else if (answer && !file.public) begin()
    else setProblem('unreachable')
  }

  function goOn(media: HTMLMediaElement) {
    const { at, playing } = stopped.current
    if (at > 0) media.currentTime = at
    if (playing) media.play().catch(() => {}) // shown with a retry button
  }

  if (problem === 'unplayable') return <Instead file={file}>{t('files.no_player')}</Instead>
  if (problem)
    return (
      <Instead file={file}>
        {t('files.unreachable')}
        <Button onClick={begin}>{t('uploads.again')}</Button>
      </Instead>
    )
  const Media = shape
  return (
    <div className="preview-stage">
      {src && <Media src={src} controls aria-label={file.name} onLoadedMetadata={(e) => goOn(e.currentTarget)} onError={(e) => void failed(e.currentTarget)} />}
    </div>
  )
}
