import { Alert, Button, Flex, Modal } from 'antd'
import { useState } from 'react'
import { save } from '../../api/request'
import { useAccount } from '../../app/account'
import { t } from '../../i18n'
import { Copy } from '../../ui/Copy'

// Recovery shows recovery codes, which can't be shown again. It closes only by its button.
export function Recovery({ codes, onClose }: { codes: string[]; onClose: () => void }) {
  const { info } = useAccount().info
  const [closing, setClosing] = useState(false) // the codes are shown until it is closed
  const text = `${t('factor.recovery.head', { name: info.username, site: document.title || 'Reeve' })}\n\n${codes.join('\n')}\n`
  return (
    <Modal
      title={t('factor.recovery')}
      open={codes.length > 0 && !closing}
      closable={false}
      keyboard={false}
      mask={{ closable: false }}
      afterClose={() => {
        setClosing(false)
        onClose()
      }}
      destroyOnHidden
      footer={
        <Button type="primary" onClick={() => setClosing(true)}>
          {t('factor.recovery.saved')}
        </Button>
      }
    >
      <p style={{ marginTop: 0 }}>{t('factor.recovery.text')}</p>
      <ul style={{ columns: '180px 2', listStyle: 'none', padding: 0 }}>
        {codes.map((code) => (
          <li key={code}>
            <code>{code}</code>
          </li>
        ))}
      </ul>
      <Flex gap={8} wrap style={{ marginBottom: 16 }}>
        <Copy text={text} />
        <Button onClick={() => save({ blob: new Blob([text], { type: 'text/plain' }), name: `recovery-codes-${info.username}.txt` })}>
          {t('factor.recovery.file')}
        </Button>
      </Flex>
      <Alert type="warning" showIcon title={t('factor.recovery.once')} />
    </Modal>
  )
}
