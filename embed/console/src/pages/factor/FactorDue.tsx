import { Alert, App, Button, Flex, Typography } from 'antd'
import dayjs from 'dayjs'
import relative from 'dayjs/plugin/relativeTime'
import { useNavigate } from 'react-router'
import { signOut } from '../../api/sign-out'
import { t } from '../../i18n'
import { SecondFactor } from './SecondFactor'

dayjs.extend(relative)

// dueText says until when a second factor has to be set up.
export const dueText = (at: string): string => t('factor.due', { when: dayjs(at).fromNow() })

// FactorDue reminds of a second factor that is required later.
export function FactorDue({ at, onClose }: { at: string; onClose: () => void }) {
  const navigate = useNavigate()
  return (
    <Alert
      type="warning"
      showIcon
      closable={{ onClose, 'aria-label': t('close') }}
      style={{ marginBottom: 16 }}
      title={dueText(at)}
      action={
        <Button size="small" onClick={() => void navigate('/account/security#factor')}>
          {t('factor.due.set_up')}
        </Button>
      }
    />
  )
}

// MustAdd is what a user sees who can do nothing before setting up a second factor. onDone loads the account again, and
// reports whether there is one.
export function MustAdd({ onDone }: { onDone: () => Promise<boolean>; onClose: () => void }) {
  const { message } = App.useApp()
  return (
    <main style={{ maxWidth: 640, margin: '0 auto', padding: 24 }}>
      <Typography.Title level={1} style={{ fontSize: 20 }}>
        {t('factor.must')}
      </Typography.Title>
      <p>{t('factor.must.text')}</p>
      <SecondFactor />
      <Flex gap={8} style={{ marginTop: 32 }}>
        <Button
          type="primary"
          onClick={() =>
            void onDone().then((done) => {
              if (!done) void message.warning(t('factor.must.not_yet'))
            })
          }
        >
          {t('factor.must.on')}
        </Button>
        <Button onClick={() => void signOut()}>{t('sign_out')}</Button>
      </Flex>
    </main>
  )
}
