import { Select } from 'antd'
import { useEffect, useState } from 'react'
import { get } from '../api/request'
import { useGet } from './useGet'

type Found = { id: number; username: string; nickname: string }

type Props = {
  path: '/admin/list' | '/user/list' // path of the list
  label: string
  value?: number
  onChange: (id?: number) => void
}

// Finder selects a user by searching on the server.
export function Finder({ path, label, value, onChange }: Props) {
  const [typed, setTyped] = useState('')
  const [asked, setAsked] = useState<string>() // undefined until first opened
  const { data, loading } = useGet(asked === undefined ? '' : path, { keywordSearch: asked, pageSize: 20 })
  const [chosen, setChosen] = useState<Found>()

  useEffect(() => {
    if (asked === undefined) return
    const wait = setTimeout(() => setAsked(typed), 250)
    return () => clearTimeout(wait)
  }, [typed, asked])

  // The URL contains only an ID.
  useEffect(() => {
    // biome-ignore lint/nursery/useReactCompiler: without a value nothing is selected
    if (!value) return setChosen(undefined)
    if (chosen?.id === value) return
    const question = new AbortController()
    get(`${path}/${value}`, {}, { quiet: true, signal: question.signal }).then(setChosen, () => {}) // the ID is shown then
    return () => question.abort()
  }, [path, value, chosen])

  const people = [...(chosen && chosen.id === value && !data?.data.some(({ id }) => id === chosen.id) ? [chosen] : []), ...(data?.data ?? [])]
  return (
    <Select<number>
      allowClear
      showSearch={{ filterOption: false, onSearch: setTyped }}
      style={{ width: 200 }}
      placeholder={label}
      aria-label={label}
      loading={loading}
      value={value}
      onOpenChange={(open) => {
        if (open) setAsked((before) => before ?? '')
      }}
      onChange={(id?: number) => onChange(id)}
      options={people.map(({ id, username, nickname }) => ({ value: id, label: nickname && nickname !== username ? `${nickname} (${username})` : username }))}
    />
  )
}
