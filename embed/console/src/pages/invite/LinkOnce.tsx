import { Flex, QRCode } from 'antd'
import dayjs from 'dayjs'
import type { OneTimeLink } from '../../api/types'
import { t } from '../../i18n'
import { CopyOnce } from '../../ui/CopyOnce'
import { names } from '../people/person'
import type { Addressee, Purpose } from './link'

type Props = { open: boolean; user: Pick<Addressee, 'username'>; purpose: Purpose; link: OneTimeLink; onClose: () => void; onClosed: () => void }

// LinkOnce shows a link for another user, which can't be shown again, also as a QR code.
export function LinkOnce({ open, user, purpose, link, onClose, onClosed }: Props) {
  const url = link.url ?? ''
  return (
    <CopyOnce
      open={open}
      title={t(purpose === 'invite' ? 'invite.link.of' : 'invite.reset.of', { name: names([user]) })}
      label={t('invite.link')}
      secret={url}
      warning={t('invite.link.once')}
      ok={t('invite.link.done')}
      onClose={onClose}
      onClosed={onClosed}
      below={
        <Flex justify="center" style={{ marginTop: 16 }}>
          {/* Readers need dark on light, in dark mode too. */}
          <div role="img" aria-label={t('invite.link.qr')}>
            <QRCode type="svg" value={url} size={184} color="#000" bgColor="#fff" aria-hidden />
          </div>
        </Flex>
      }
    >
      <p style={{ marginTop: 0, overflowWrap: 'anywhere' }}>
        {t(purpose === 'invite' ? 'invite.link.text' : 'invite.reset.link.text', { name: names([user]) })}{' '}
        {link.expires_at && t('invite.link.until', { time: dayjs(link.expires_at).format('YYYY-MM-DD HH:mm') })}
      </p>
    </CopyOnce>
  )
}
