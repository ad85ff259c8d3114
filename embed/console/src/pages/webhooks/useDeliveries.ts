import { useCallback, useEffect, useRef, useState } from 'react'
import { Failure, get, type Query } from '../../api/request'
import type { Delivery, DeliveryPage } from '../../api/types'
import { useResponse } from '../../ui/useResponse'

type Found = DeliveryPage & { failure?: Failure }

const size = 20
const looks = 20 // pages that are read while nothing is found

// look reads pages until one has deliveries: filters apply after a page was read.
async function look(path: `/system/webhook/${number}/delivery`, query: Query, signal?: AbortSignal): Promise<Found> {
  let page = await get(path, { pageSize: size, ...query }, { signal, quiet: true })
  for (let n = 1; n < looks && page.next && !page.data.length; n++)
    page = await get(path, { pageSize: size, ...query, before: page.next }, { signal, quiet: true })
  return page
}

// useDeliveries loads what a webhook has sent, the newest first, and older deliveries on
// demand. Newer ones appear when at, the time of the last one, changes; but not while older
// ones are shown, which a reload drops.
export function useDeliveries(id: number, query: Query, at: string | null) {
  const path = `/system/webhook/${id}/delivery` as const
  const sent = JSON.stringify(query)
  const question = useCallback(
    async (signal: AbortSignal): Promise<Found> => {
      try {
        return await look(path, JSON.parse(sent) as Query, signal)
      } catch (failure) {
        if (!(failure instanceof Failure)) throw failure
        return { data: [], next: 0, node: '', pageSize: size, failure }
      }
    },
    [path, sent],
  )
  const { data, loading, reload, refresh } = useResponse(`${path}?${sent}`, path, question)
  const [older, setOlder] = useState<{ of: Found; deliveries: Delivery[]; next: number }>()
  const [busy, setBusy] = useState(false)
  const below = older && older.of === data ? older : undefined
  const next = (below ?? data)?.next ?? 0

  const failed = data?.failure !== undefined
  const seen = useRef(at)
  useEffect(() => {
    if (seen.current === at || below || busy || failed) return
    seen.current = at
    void refresh()
  }, [at, below, busy, failed, refresh])

  async function more() {
    if (!data) return
    setBusy(true)
    try {
      const page = await look(path, { ...query, before: next })
      setOlder({ of: data, deliveries: [...(below?.deliveries ?? []), ...page.data], next: page.next })
    } catch {
      // the button stays
    } finally {
      setBusy(false)
    }
  }

  return {
    deliveries: data && [...data.data, ...(below?.deliveries ?? [])],
    node: data?.node,
    failure: data?.failure,
    loading,
    busy,
    reload,
    more: next ? more : undefined,
  }
}
