import { type RefObject, useEffect } from 'react'
import { isWriting, moment } from '../api/changes'
import { onChanges } from '../app/live'
import { onReturn, present } from './presence'
import { useLatest } from './useLatest'

const gap = 1000 // minimum time between two reloads, in milliseconds
const calm = 250 // time in which a page reloads after its own change

// everything is the topic of all changes.
export const everything: readonly string[] = ['*']

// useChanges calls refresh after changes of some topics: collections, records such as user:12, or types of
// events. It waits while the user is absent, and while this tab makes further changes. It does nothing if
// the data was loaded since, at the moment in fresh.
export function useChanges(topics: readonly string[] | undefined, refresh: () => unknown, fresh?: RefObject<number>): void {
  const key = topics?.join() ?? ''
  const latestRef = useLatest(refresh)
  useEffect(() => {
    if (!key) return
    const wanted = key.split(',')
    let wait: ReturnType<typeof setTimeout> | undefined
    let [others, own] = [0, 0] // moments of the newest changes by others and by this tab that are not shown
    let began = 0 // time of the last refresh
    const look = () => {
      wait = undefined
      if (!(others || own) || !present()) return
      const busy = others || !isWriting() ? gap - (Date.now() - began) : calm
      if (busy > 0) {
        wait = setTimeout(look, busy)
        return
      }
      const newest = Math.max(others, own)
      others = 0
      own = 0
      if (fresh && fresh.current > newest) return
      began = Date.now()
      latestRef.current()
    }
    const forget = onChanges((notice) => {
      if (
        notice !== 'missed' &&
        key !== '*' &&
        ![notice.collection, `${notice.collection}:${notice.record}`, notice.type].some((topic) => wanted.includes(topic))
      )
        return
      if (notice !== 'missed' && notice.written) own = notice.written
      else others = moment()
      wait ??= setTimeout(look, calm)
    })
    const back = onReturn(() => {
      wait ??= setTimeout(look)
    })
    return () => {
      forget()
      back()
      clearTimeout(wait)
    }
  }, [key, fresh])
}
