import { useCallback, useEffect, useRef, useState } from 'react'
import type { Answer, Path } from '../api/paths'
import { Failure, get, type Query } from '../api/request'
import { isStreaming } from '../app/live'
import { recall, remember } from './answers'
import { onReturn, present } from './presence'
import { isTold, topicsOf } from './topics'
import { useLatest } from './useLatest'
import { useChanges } from './useChanges'

// useLive polls a path of the API while the user is present. query is called each time;
// key is what it depends on. No request is made while path is empty. Failures are not
// announced, since they would repeat: the old data stays, and failure has the cause. Changes
// that arrive as events appear at once; data that they contain in full is not polled.
export function useLive<P extends Path<'GET'> | ''>(path: P, seconds: number, query: () => Query = () => ({}), key = '') {
  type Data = Answer<'GET', Exclude<P, ''>>
  const question = `live ${path} ${key}`
  const [given, setGiven] = useState<{ question: string; data: Data }>()
  const [failure, setFailure] = useState<Failure>()
  const make = useLatest(query)
  const look = useRef<() => Promise<void>>(async () => {})

  useEffect(() => {
    if (!path) return
    const control = new AbortController()
    let wait: ReturnType<typeof setTimeout> | undefined
    let last = 0
    look.current = async () => {
      clearTimeout(wait)
      last = Date.now()
      try {
        const data = await get(path as Exclude<P, ''>, make.current(), { signal: control.signal, quiet: true })
        setGiven({ question, data })
        remember(question, data)
        setFailure(undefined)
      } catch (cause) {
        if (cause instanceof Failure) setFailure(cause)
      }
      clearTimeout(wait)
      if (!control.signal.aborted) wait = setTimeout(poll, seconds * 1000)
    }
    const pushed = () => isTold(path) && isStreaming()
    const poll = () => {
      if (pushed()) wait = setTimeout(poll, seconds * 1000)
      else if (present()) void look.current()
    }
    const forget = onReturn(() => {
      if (!pushed() && Date.now() - last >= seconds * 1000) void look.current()
    })
    void look.current()
    return () => {
      control.abort()
      clearTimeout(wait)
      forget()
    }
  }, [path, seconds, question])

  useChanges(topicsOf(path), () => look.current())

  const data = given?.question === question ? given.data : (recall<Data>(question) ?? given?.data)
  return { data, failure, reload: useCallback(() => look.current(), []) }
}
