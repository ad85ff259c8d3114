import { lazy, type ReactNode, Suspense } from 'react'
import { useAccount } from '../../app/account'
import { learn } from '../../i18n'
import { usePanel } from '../../ui/usePanel'

const TestMail = lazy(async () => ({ default: (await Promise.all([import('./TestMail'), learn('mail')]))[0].TestMail }))

// useTest is the dialog that sends a test mail; button is false without permission.
export function useTest(): { button: boolean; open: () => void; panel: ReactNode } {
  const { may } = useAccount()
  const panel = usePanel<true>()
  return {
    button: may('system.mail.test'),
    open: () => panel.show(true),
    panel: <Suspense>{panel.of && <TestMail open={panel.open} onClose={panel.hide} />}</Suspense>,
  }
}
