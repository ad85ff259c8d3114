import { Alert, Button, Flex, Input, Modal } from 'antd'
import { t } from '../../i18n'
import { Copy } from '../../ui/Copy'
import { names, type Person } from './person'

type Props = { open: boolean; user: Person; password: string; onClose: () => void }

// NewPassword shows a password that can't be retrieved again. It closes only by its
// button, not by a click outside.
export function NewPassword({ open, user, password, onClose }: Props) {
  return (
    <Modal
      title={t('people.password.of', { name: names([user]) })}
      open={open}
      closable={false}
      keyboard={false}
      mask={{ closable: false }}
      destroyOnHidden
      footer={
        <Button type="primary" onClick={onClose}>
          {t('people.password.noted')}
        </Button>
      }
    >
      <Flex gap={8} style={{ margin: '16px 0' }}>
        <Input readOnly aria-label={t('sign_in.password')} value={password} style={{ fontFamily: 'monospace' }} onFocus={(e) => e.target.select()} />
        <Copy text={password} />
      </Flex>
      <Alert type="warning" showIcon title={t('people.password.once')} />
    </Modal>
  )
}
