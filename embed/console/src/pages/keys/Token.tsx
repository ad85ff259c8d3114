import { Flex, theme } from 'antd'
import dayjs from 'dayjs'
import { t } from '../../i18n'
import { Copy } from '../../ui/Copy'
import { CopyOnce } from '../../ui/CopyOnce'
import { example, type KeyWithToken, name } from './key'

type Props = { open: boolean; of: KeyWithToken; onClose: () => void; onClosed: () => void }

// Token shows the token of a new or rotated key, and a command that uses it.
export function Token({ open, of, onClose, onClosed }: Props) {
  const { token } = theme.useToken()
  return (
    <CopyOnce
      open={open}
      title={t('keys.token.of', { name: name(of) })}
      label={t('keys.token')}
      secret={of.token}
      warning={t('keys.token.once')}
      ok={t('keys.token.done')}
      onClose={onClose}
      onClosed={onClosed}
      below={
        <section aria-label={t('keys.token.example')} style={{ marginTop: 16 }}>
          <Flex justify="space-between" align="center" gap={8} style={{ marginBottom: 8 }}>
            {t('keys.token.example')}
            <Copy text={example(of.token)} label={t('keys.token.example.copy')} />
          </Flex>
          <pre
            dir="ltr"
            style={{
              margin: 0,
              padding: 12,
              fontSize: 13,
              whiteSpace: 'pre-wrap',
              overflowWrap: 'anywhere',
              borderRadius: token.borderRadius,
              background: token.colorFillTertiary,
            }}
          >
            {example(of.token)}
          </pre>
        </section>
      }
    >
      <p style={{ marginTop: 0 }}>
        {t('keys.token.use')} {of.previous_until && t('keys.token.previous', { time: dayjs(of.previous_until).format('YYYY-MM-DD HH:mm') })}
      </p>
    </CopyOnce>
  )
}
