import { Alert, Button, Flex, Input, Modal } from 'antd'
import type { ReactNode } from 'react'
import { Copy } from './Copy'

type Props = {
  open: boolean
  title: string
  label: string // names the secret
  secret: string
  warning: string // that it is shown only once
  ok: string // the button that closes it
  onClose: () => void
  onClosed: () => void // it is closed: forget the secret
  children?: ReactNode // above the secret
  below?: ReactNode // below the warning
}

// CopyOnce shows a secret that can't be retrieved again. It closes only by its button, not by a
// click outside.
export function CopyOnce({ open, title, label, secret, warning, ok, onClose, onClosed, children, below }: Props) {
  return (
    <Modal
      title={title}
      open={open}
      closable={false}
      keyboard={false}
      mask={{ closable: false }}
      afterClose={onClosed}
      destroyOnHidden
      footer={
        <Button type="primary" onClick={onClose}>
          {ok}
        </Button>
      }
    >
      {children}
      <Flex gap={8} style={{ margin: '16px 0' }}>
        <Input readOnly aria-label={label} value={secret} style={{ fontFamily: 'monospace' }} onFocus={(e) => e.target.select()} />
        <Copy text={secret} />
      </Flex>
      <Alert type="warning" showIcon title={warning} />
      {below}
    </Modal>
  )
}
