import { Select } from 'antd'
import { useEffect, useState } from 'react'
import { get } from '../api/request'
import { useGet } from './useGet'

type Found = { id: number; username: string; nickname: string }

type Props = {
  path: '/admin/list' | '/user/list' // where the records are asked for
  label: string
  value?: number
  onChange: (id?: number) => void
}

// Finder chooses a user by a few letters of their name; the server looks.
export function Finder({ path, label, value, onChange }: Props) {
  const [typed, setTyped] = useState('')
  const [asked, setAsked] = useState<string>() // undefined until it is first opened
  const { data, loading } = useGet(asked === undefined ? '' : path, { keywordSearch: asked, pageSize: 20 })
  const [chosen, setChosen] = useState<Found>()

  useEffect(() => {
    if (asked === undefined) return
    const wait = setTimeout(() => setAsked(typed), 250)
    return () => clearTimeout(wait)
  }, [typed, asked])

  // The address has no more than an id.
  useEffect(() => {
    // biome-ignore lint/nursery/useReactCompiler: without a value nothing is chosen
    if (!value) return setChosen(undefined)
    if (chosen?.id === value) return
    const question = new AbortController()
    get(`${path}/${value}`, {}, { quiet: true, signal: question.signal }).then(setChosen, () => {}) // the id stands there then
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
