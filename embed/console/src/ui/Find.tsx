import { SearchOutlined } from '@ant-design/icons'
import { Input } from 'antd'
import { useEffect, useState } from 'react'

type Props = { label: string; value: string; onChange: (text: string) => void }

// Find is a search that tells once somebody stops typing.
export function Find({ label, value, onChange }: Props) {
  const [text, setText] = useState(value)
  useEffect(() => setText(value), [value])
  useEffect(() => {
    if (text === value) return
    const wait = setTimeout(() => onChange(text), 150)
    return () => clearTimeout(wait)
  }, [text, value, onChange])
  return <Input allowClear prefix={<SearchOutlined />} aria-label={label} placeholder={label} value={text} onChange={(e) => setText(e.target.value)} />
}
