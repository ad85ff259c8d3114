import { Alert, Button, Flex, Input, Modal } from 'antd'
import type { NewSecret } from '../../api/types'
import { t } from '../../i18n'
import { Copy } from '../../ui/Copy'
import { kindName } from './Plan'

type Props = { open: boolean; secrets: NewSecret[]; onClose: () => void; onClosed: () => void }

// Secrets shows the secrets of new objects, which can't be retrieved again. It closes only by its
// button.
export function Secrets({ open, secrets, onClose, onClosed }: Props) {
  return (
    <Modal
      title={t('setup.secrets')}
      open={open}
      closable={false}
      keyboard={false}
      mask={{ closable: false }}
      afterClose={onClosed}
      destroyOnHidden
      footer={
        <Button type="primary" onClick={onClose}>
          {t('setup.secrets.done')}
        </Button>
      }
    >
      <Alert type="warning" showIcon title={t('setup.secrets.once')} />
      {secrets.map(({ kind, key, secret }) => {
        const label = `${kindName(kind)} ${key}`
        return (
          <section key={label} aria-label={label} style={{ marginTop: 16 }}>
            <div style={{ overflowWrap: 'anywhere' }}>{label}</div>
            <Flex gap={8}>
              <Input readOnly aria-label={label} value={secret} style={{ fontFamily: 'monospace' }} onFocus={(e) => e.target.select()} />
              <Copy text={secret} />
            </Flex>
          </section>
        )
      })}
    </Modal>
  )
}
