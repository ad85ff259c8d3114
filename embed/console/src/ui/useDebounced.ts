import { useEffect, useRef, useState } from 'react'
import { useLatest } from './useLatest'

// useDebounced is the text of a field that reports after a pause in typing. It follows when
// the value changes elsewhere.
export function useDebounced(asked: string, report: (text: string) => void, pause = 250) {
  const [text, setText] = useState(asked)
  const own = useRef(asked) // what this field has reported: more may have been typed since
  const latest = useLatest(report)
  useEffect(() => {
    if (asked !== own.current) setText(asked)
    own.current = asked
  }, [asked])
  useEffect(() => {
    if (text === asked) return
    const wait = setTimeout(() => {
      own.current = text
      latest.current(text)
    }, pause)
    return () => clearTimeout(wait)
  }, [text, asked, pause])
  return [text, setText] as const
}
