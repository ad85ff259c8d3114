import { Select } from 'antd'
import { useEffect, useState } from 'react'
import { useFound } from './useFound'

type Props = {
  of: 'user' | 'app_user'
  label: string
  value?: number
  onChange: (id?: number) => void
}

// Finder selects a user by searching on the server. The permission for the list that it filters is
// enough.
export function Finder({ of, label, value, onChange }: Props) {
  const [typed, setTyped] = useState('')
  const [asked, setAsked] = useState<string>() // undefined until first opened
  const { found, loading } = useFound(of, asked, value)

  useEffect(() => {
    if (asked === undefined) return
    const wait = setTimeout(() => setAsked(typed), 250)
    return () => clearTimeout(wait)
  }, [typed, asked])

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
      options={found}
    />
  )
}
