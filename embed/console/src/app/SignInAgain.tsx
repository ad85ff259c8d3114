import { useEffect, useEffectEvent, useRef, useState } from 'react'
import { whoAmI } from '../api/request'
import { askBy, mark } from '../api/session'
import type { Info } from '../api/types'
import { t } from '../i18n'
import { SignIn } from '../pages/SignIn'

type User = Info['info']

// Asked is what covers the page: a sign-in, or the question what to do as another user.
type Asked = { code: string; other?: User; turn: number }

const called = (user: User) => user.nickname || user.username

// SignInAgain covers the page when the session ends, so that nothing that is typed in it is lost. The user of the page goes on
// with it. Another user leaves it, so that nothing is sent as a user who has not typed it.
export function SignInAgain({ user, onDone }: { user: User; onDone: () => void }) {
  const [asked, setAsked] = useState<Asked>()
  const cover = useRef<HTMLDialogElement>(null)
  const resume = useRef<() => void>(undefined)

  // look goes on if the user of the page has signed in, here or in another tab.
  const look = useEffectEvent(async (code = '') => {
    const now = mark() ? await whoAmI() : undefined
    const turn = Date.now()
    if (now?.id !== user.id || now.must_change_password) return setAsked({ code, other: now?.id === user.id ? undefined : now, turn })
    setAsked(undefined)
    resume.current?.()
    resume.current = undefined
    onDone()
  })

  useEffect(() => {
    askBy((code) => {
      void look(code)
      return new Promise((resolve) => {
        resume.current = resolve
      })
    })
    const listener = () => resume.current && mark() && void look()
    addEventListener('storage', listener)
    return () => removeEventListener('storage', listener)
  }, [])

  // It lies above drawers and dialogs, which do not hear its keys.
  const open = asked !== undefined
  useEffect(() => {
    const dialog = cover.current
    if (!open || !dialog) return
    dialog.showModal()
    dialog.querySelector<HTMLInputElement>('input[name=password]')?.focus()
    const reopen = () => dialog.showModal() // some browsers let Escape close it nevertheless
    const keep = (e: Event) => e.preventDefault()
    const hide = (e: KeyboardEvent) => e.key === 'Escape' && e.stopPropagation()
    dialog.addEventListener('close', reopen)
    dialog.addEventListener('cancel', keep)
    dialog.addEventListener('keydown', hide)
    return () => {
      dialog.removeEventListener('close', reopen)
      dialog.removeEventListener('cancel', keep)
      dialog.removeEventListener('keydown', hide)
      dialog.close() // which gives the focus back
    }
  }, [open])

  return (
    <dialog ref={cover} className="again" aria-label={t('sign_in')}>
      {asked?.other ? (
        <Other user={user} other={asked.other} onBack={() => setAsked({ ...asked, other: undefined })} />
      ) : (
        asked && <SignIn key={asked.turn} again={{ username: user.username, code: asked.code, onDone: () => void look() }} />
      )}
    </dialog>
  )
}

// Other is shown when another user has signed in.
function Other({ user, other, onBack }: { user: User; other: User; onBack: () => void }) {
  const names = { user: called(user), name: called(other) }
  return (
    <div className="sign-in">
      <form
        onSubmit={(e) => {
          e.preventDefault()
          onBack()
        }}
      >
        <p role="alert">{t('again.other', names)}</p>
        <button className="primary" autoFocus>
          {t('again.back', names)}
        </button>
        <button type="button" onClick={() => location.reload()}>
          {t('again.leave', names)}
        </button>
      </form>
    </div>
  )
}
