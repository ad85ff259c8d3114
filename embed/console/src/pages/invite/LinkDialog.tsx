import { Button } from 'antd'
import { useEffect, useRef, useState } from 'react'
import { Failure, post } from '../../api/request'
import { noticeShown } from '../../api/saved-notice'
import type { OneTimeLink } from '../../api/types'
import { useAccount } from '../../app/account'
import { t } from '../../i18n'
import { Question } from '../../ui/Question'
import { useAction } from '../../ui/useAction'
import { useMail } from '../../ui/useMail'
import { names } from '../people/person'
import type { Realm } from '../people/realm'
import { ByRadio } from './ByRadio'
import type { Addressee, By, Purpose } from './link'

type Props = {
  open: boolean
  user: Addressee
  realm: Realm
  purpose: Purpose
  onClose: () => void
  onReset: () => void // asks for a password reset link instead
  onMade: (link: OneTimeLink) => void // a link that was not mailed, shown once the dialog is closed
  onDone: () => void
}

// LinkDialog creates a link with which another user sets a password, and mails it or returns it.
export function LinkDialog({ open, user, realm, purpose, onClose, onReset, onMade, onDone }: Props) {
  const { may } = useAccount()
  const { notify } = useAction()
  const mail = useMail()
  const made = useRef<OneTimeLink>(undefined)
  const [selected, setSelected] = useState<By>()
  const [known, setKnown] = useState(false) // whether the user turned out to have a password
  const invites = purpose === 'invite'
  const resets = may(`${realm.access}.password`)
  const off = user.email === '' ? t('people.mail.no_address') : mail === false ? t('people.mail.off') : undefined
  const by = off ? 'link' : (selected ?? 'mail')

  useEffect(() => {
    if (!open) return
    // biome-ignore lint/nursery/useReactCompiler: the dialog opens as new
    setSelected(undefined)
    setKnown(false)
  }, [open])

  async function run() {
    try {
      const link = await post(`${realm.path}/${user.id}/${purpose}`, { send: by === 'mail' }, { quiet: true })
      noticeShown() // the link is shown
      if (link.url) made.current = link
      else notify(t('invite.mailed', { email: link.email ?? user.email }))
      onDone()
    } catch (cause) {
      if (cause instanceof Failure && cause.code === 'has_password') setKnown(true)
      throw cause
    }
  }

  function closed() {
    if (made.current) onMade(made.current)
    made.current = undefined
  }

  return (
    <Question
      open={open}
      title={t(invites ? 'invite.title' : 'invite.reset.title', { name: names([user]) })}
      ok={t(by === 'mail' ? 'invite.send' : 'invite.create')}
      initial={{}}
      run={run}
      onClose={onClose}
      onClosed={closed}
    >
      {known && invites && resets && (
        <p style={{ marginTop: 0 }}>
          <Button onClick={onReset}>{t('invite.reset.instead')}</Button>
        </p>
      )}
      <p style={{ marginTop: 0 }}>{t(invites ? 'invite.text' : 'invite.reset.text')}</p>
      <ByRadio
        value={by}
        onChange={setSelected}
        mail={{ label: user.email ? t('invite.by.mail.to', { email: user.email }) : t('invite.by.mail'), off }}
        link={{ label: t('invite.by.link') }}
      />
    </Question>
  )
}
