import { Button } from 'antd'
import { t } from '../../i18n'
import { useTestMail } from './useTestMail'

// TestButton sends a test mail, beside the settings of the mail server.
export function TestButton() {
  const test = useTestMail()
  return (
    <>
      <Button size="small" disabled={test.off} title={test.off ? t('mail.test.off') : undefined} onClick={test.open}>
        {t('mail.test')}
      </Button>
      {test.panel}
    </>
  )
}
