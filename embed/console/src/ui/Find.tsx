import { SearchOutlined } from '@ant-design/icons'
import { Input } from 'antd'
import { clear } from './clear'
import { useDebounced } from './useDebounced'

type Props = {
  label: string
  hint?: string // placeholder, where there is no room for the label
  value: string
  onChange: (text: string) => void
}

// Find is a search field that reports after a pause in typing.
export function Find({ label, hint = label, value, onChange }: Props) {
  const [text, setText] = useDebounced(value, onChange, 150)
  return <Input allowClear={clear()} prefix={<SearchOutlined />} aria-label={label} placeholder={hint} value={text} onChange={(e) => setText(e.target.value)} />
}
