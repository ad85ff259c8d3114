import { useEffect, useState } from 'react'
import { get } from '../api/request'
import { useAccount } from '../app/account'

// useKeyName returns the name of an API key; undefined if it is not known.
export function useKeyName(id?: string): string | undefined {
  const may = useAccount().may('admin.key.query')
  const [known, setKnown] = useState<{ id: string; name: string }>()
  useEffect(() => {
    if (!id || !may) return
    const question = new AbortController()
    get(`/admin/key/${Number(id)}`, {}, { quiet: true, signal: question.signal }).then(
      ({ name }) => setKnown({ id, name }),
      () => {}, // the ID is shown then
    )
    return () => question.abort()
  }, [id, may])
  return known?.id === id ? known?.name : undefined
}
