import { useCallback, useEffect, useState } from 'react'
import type { Answer, Path } from '../api/paths'
import type { Query } from '../api/request'
import { recall } from './answers'
import { lookAgain, type State, watch } from './polls'
import { topicsOf } from './topics'
import { useChanges } from './useChanges'
import { useLatest } from './useLatest'

// useLive polls a path of the API while the user is present. query is called each time;
// key is what it depends on, and tells it from other queries of the path, since components with the same
// path and key share the answers. No request is made while path is empty. Failures are not
// announced, since they would repeat: the old data stays, and failure has the cause. Changes
// that arrive as events appear at once; data that they contain in full is not polled.
export function useLive<P extends Path<'GET'> | ''>(path: P, seconds: number, query: () => Query = () => ({}), key = '') {
  type Data = Answer<'GET', Exclude<P, ''>>
  const question = `live ${path} ${key}`
  const [shown, setShown] = useState<State>()
  const make = useLatest(query)

  useEffect(() => (path ? watch(question, path, { seconds, query: () => make.current(), show: setShown }) : undefined), [path, seconds, question])

  const reload = useCallback(() => lookAgain(question), [question])
  useChanges(topicsOf(path), reload)

  const data = shown?.question === question ? shown.data : (recall(question) ?? shown?.data)
  return { data: data as Data | undefined, failure: shown?.failure, reload }
}
