import { SearchOutlined } from '@ant-design/icons'
import { Input } from 'antd'
import { useTyped } from './useTyped'

type Props = { label: string; value: string; onChange: (text: string) => void }

// Find is a search that tells once somebody stops typing.
export function Find({ label, value, onChange }: Props) {
  const [text, setText] = useTyped(value, onChange, 150)
  return <Input allowClear prefix={<SearchOutlined />} aria-label={label} placeholder={label} value={text} onChange={(e) => setText(e.target.value)} />
}
