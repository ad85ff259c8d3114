import { Alert } from 'antd'
import { useAccountNotices } from '../../app/notices'
import { NoticeLines } from './NoticeLines'

// AccountNotices tells what has happened to the account while the user may not have looked.
export function AccountNotices(_: { onClose: () => void }) {
  const { lines, close } = useAccountNotices()
  if (!lines.length) return null
  return (
    <Alert
      type="warning"
      showIcon
      style={{ marginBottom: 16, alignItems: 'start' }}
      title={<NoticeLines lines={lines} onClose={(line) => void close(line)} />}
    />
  )
}
