import { PlusOutlined } from '@ant-design/icons'
import { Button } from 'antd'
import { singleKeys } from '../app/keys'

// CreateButton opens the form for a new record, and so does the key c.
export function CreateButton({ children, onClick }: { children: string; onClick: () => void }) {
  const hint = singleKeys() ? { 'aria-keyshortcuts': 'c', title: `${children} (c)` } : {}
  return (
    <Button type="primary" icon={<PlusOutlined />} onClick={onClick} data-create {...hint}>
      {children}
    </Button>
  )
}
