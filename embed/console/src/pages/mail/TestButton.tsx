import { Button } from 'antd'
import { t } from '../../i18n'
import { useTest } from './useTest'

// TestButton sends a test mail, beside the settings of the mail server.
export function TestButton() {
  const test = useTest()
  return (
    <>
      <Button size="small" disabled={test.off} title={test.off ? t('mail.test.off') : undefined} onClick={test.open}>
        {t('mail.test')}
      </Button>
      {test.panel}
    </>
  )
}
