import { useEffect, useRef } from 'react'
import { useLatest } from '../../ui/useLatest'
import { unfinished, useUploads } from './uploads'

const soon = 100
const later = 1000

// AfterUploads reloads the list: soon after the last upload, and now and then before. It
// is a separate component so that the page does not render with each upload.
export function AfterUploads({ reload }: { reload: () => Promise<unknown> }) {
  const uploads = useUploads()
  const stored = uploads.filter((upload) => upload.state === 'stored').length
  const busy = uploads.some(unfinished)
  const seen = useRef(stored)
  const fresh = useRef(false)
  const wait = useRef<ReturnType<typeof setTimeout>>(undefined)
  const latest = useLatest(reload)
  useEffect(() => {
    if (stored > seen.current) fresh.current = true // less when the upload list was cleared
    seen.current = stored
    if (!fresh.current) return
    if (!busy) clearTimeout(wait.current)
    else if (wait.current) return
    wait.current = setTimeout(
      () => {
        wait.current = undefined
        fresh.current = false
        void latest.current()
      },
      busy ? later : soon,
    )
  }, [stored, busy])
  useEffect(() => () => clearTimeout(wait.current), [])
  return null
}
