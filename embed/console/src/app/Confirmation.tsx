import { useEffect, useState } from 'react'
import { get, hooks } from '../api/request'
import type { Reauth } from '../api/types'
import { loadTexts } from '../i18n'
import { closed } from '../ui/focus-row'
import { late } from './late'

const Confirm = late(async () => (await Promise.all([import('../pages/factor/Confirm'), loadTexts('factor')]))[0].Confirm)

type Asked = {
  how: Reauth
  from: Element | null // had the focus
  answer: (confirmed: boolean) => void
  confirmed?: boolean // absent while it is asked
}

// Confirmation asks the user to confirm who it is when a request requires it.
export function Confirmation() {
  const [asked, setAsked] = useState<Asked>()
  useEffect(() => {
    hooks.confirm = async () => {
      const how = await get('/admin/reauth').catch(() => undefined) // already shown
      if (!how) return false
      await closed()
      return new Promise((answer) => setAsked({ how, from: document.activeElement, answer }))
    }
  }, [])
  // The focus returns at once: what the repeated request opens returns it to the same place.
  useEffect(() => {
    if (asked?.confirmed === undefined) return
    if (asked.from instanceof HTMLElement) asked.from.focus({ preventScroll: true })
    asked.answer(asked.confirmed)
  }, [asked])

  const end = (confirmed: boolean) => setAsked((now) => (now && now.confirmed === undefined ? { ...now, confirmed } : now))
  if (!asked) return null
  return (
    <Confirm
      open={asked.confirmed === undefined}
      how={asked.how}
      onConfirmed={() => end(true)}
      onClose={() => end(false)}
      onClosed={() => setAsked(undefined)} // the next one lies above what has opened since
    />
  )
}
