import { PlusOutlined } from '@ant-design/icons'
import { Button } from 'antd'

// CreateButton opens the form for a new record.
export function CreateButton({ children, onClick }: { children: string; onClick: () => void }) {
  return (
    <Button type="primary" icon={<PlusOutlined />} onClick={onClick}>
      {children}
    </Button>
  )
}
