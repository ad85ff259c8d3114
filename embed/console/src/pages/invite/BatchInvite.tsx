import { DownloadOutlined } from '@ant-design/icons'
import { Alert, Button, Modal, Typography } from 'antd'
import { useEffect, useState } from 'react'
import { Failure, post, type Query, save } from '../../api/request'
import { noticeShown } from '../../api/saved-notice'
import type { InvitedMany } from '../../api/types'
import { t } from '../../i18n'
import { count } from '../../ui/format'
import { useMail } from '../../ui/useMail'
import { words } from '../../ui/words'
import type { Realm } from '../people/realm'
import { ByRadio } from './ByRadio'
import { type By, csv, mostLinks } from './link'

// Batch is whom to invite, and how if that is not asked.
export type Batch = { query: Query; n: number; by?: By }

type Props = Batch & { open: boolean; realm: Realm; onClose: () => void; onDone: () => Promise<void> }

const download = (made: InvitedMany) => save({ blob: new Blob([csv(made.links ?? [])], { type: 'text/csv' }), name: 'invitations.csv' })

// BatchInvite invites many people, by mail or with links in a file, and reports who was skipped.
export function BatchInvite({ open, realm, query, n, by: fixed, onClose, onDone }: Props) {
  const mail = useMail()
  const [selected, setSelected] = useState<By>()
  const [made, setMade] = useState<InvitedMany>()
  const [problem, setProblem] = useState('')
  const [busy, setBusy] = useState(false)
  const off = {
    mail: mail === false ? t('people.mail.off') : undefined,
    link: n > mostLinks ? t('invite.batch.most', { n: mostLinks }) : undefined,
  }
  const by = fixed ?? selected ?? (off.mail ? 'link' : 'mail')

  useEffect(() => {
    if (!open) return
    setSelected(undefined)
    setMade(undefined)
    setProblem('')
  }, [open])

  async function run() {
    setBusy(true)
    setProblem('')
    try {
      const answer = await post(realm.invitations, { send: by === 'mail', copy: by === 'link' }, { query, quiet: true })
      noticeShown() // the result is shown
      setMade(answer)
      if (answer.links?.length) download(answer)
      await onDone()
    } catch (cause) {
      if (!(cause instanceof Failure)) throw cause
      setProblem(Object.values(cause.errors)[0] ?? words(cause))
    } finally {
      setBusy(false)
    }
  }

  const title = fixed === 'mail' ? 'invite.batch.again' : fixed === 'link' ? 'invite.batch.links' : 'invite.batch.title'
  if (made) {
    return (
      <Modal
        title={t('invite.batch.result')}
        open={open}
        closable={false}
        keyboard={!made.links?.length}
        mask={{ closable: !made.links?.length }}
        onCancel={onClose}
        destroyOnHidden
        footer={
          <Button type="primary" onClick={onClose}>
            {t('invite.link.done')}
          </Button>
        }
      >
        <Result made={made} />
      </Modal>
    )
  }
  return (
    <Modal
      title={t(title, { n: count(n) })}
      open={open}
      onCancel={onClose}
      onOk={() => void run()}
      okText={t(by === 'mail' ? 'invite.send' : 'invite.batch.download')}
      okButtonProps={{ loading: busy, disabled: !!off[by] }}
      cancelText={t('cancel')}
      destroyOnHidden
    >
      {problem && <Alert type="error" showIcon title={problem} style={{ marginBottom: 16 }} />}
      <p style={{ marginTop: 0 }}>{t(fixed ? 'invite.batch.renew' : 'invite.batch.text')}</p>
      {fixed ? (
        off[by] && <Alert type="warning" showIcon title={off[by]} />
      ) : (
        <ByRadio value={by} onChange={setSelected} mail={{ label: t('invite.by.mail'), off: off.mail }} link={{ label: t('invite.by.file'), off: off.link }} />
      )}
    </Modal>
  )
}

// Result says how many people were invited, and why others were not.
function Result({ made }: { made: InvitedMany }) {
  const { links, skipped } = made
  return (
    <div aria-live="polite">
      <p style={{ marginTop: 0 }}>{t('invite.batch.done', { n: count(made.count), m: count(skipped.length) })}</p>
      {!!links?.length && (
        <>
          <Alert type="warning" showIcon title={t('invite.batch.once')} />
          <p>
            <Button icon={<DownloadOutlined />} onClick={() => download(made)}>
              {t('invite.batch.download.again')}
            </Button>
          </p>
        </>
      )}
      {skipped.length > 0 && (
        <>
          <Typography.Text strong>{t('invite.batch.skipped')}</Typography.Text>
          <ul tabIndex={0} aria-label={t('invite.batch.skipped')} style={{ maxHeight: 240, overflow: 'auto', margin: '8px 0 0', paddingInlineStart: 20 }}>
            {skipped.map(({ user_id, username, reason }) => (
              <li key={user_id} style={{ overflowWrap: 'anywhere' }}>
                {!reason.includes(username) || !username ? (
                  <>
                    <bdi>{username || `#${user_id}`}</bdi>: {reason}
                  </>
                ) : (
                  reason
                )}
              </li>
            ))}
          </ul>
        </>
      )}
    </div>
  )
}
