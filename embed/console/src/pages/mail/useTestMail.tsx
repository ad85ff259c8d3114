import { lazy, type ReactNode } from 'react'
import { useAccount } from '../../app/account'
import { loadTexts } from '../../i18n'
import { useGet } from '../../ui/useGet'
import { useMail } from '../../ui/useMail'
import { Panel, usePanel } from '../../ui/usePanel'

const TestMail = lazy(async () => ({ default: (await Promise.all([import('./TestMail'), loadTexts('mail')]))[0].TestMail }))

// useTestMail is the dialog that sends a test mail; button is false without permission, and off while no mail server is set.
export function useTestMail(): { button: boolean; off: boolean; open: () => void; panel: ReactNode } {
  const { may } = useAccount()
  const panel = usePanel<true>()
  const on = useMail()
  const reads = may('system.setting.query')
  const values = useGet(reads ? '/system/setting-value' : '').data as Record<string, Record<string, unknown>> | undefined
  return {
    button: may('system.mail.test'),
    off: reads ? values !== undefined && !values.mail?.host : on === false,
    open: () => panel.show(true),
    panel: <Panel of={panel}>{(_, open) => <TestMail open={open} onClose={panel.hide} />}</Panel>,
  }
}
