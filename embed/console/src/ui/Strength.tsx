import { type ComponentType, useEffect, useState } from 'react'
import { loadTexts } from '../i18n'

type Props = { password: string; shortest: number; own?: string[] }

// Strength shows how strong a new password is, and never blocks: the server decides. Texts of own are bad in it; without
// own, those of the account. shortest is the minimum length. What estimates it is large, and loaded when something is typed. If it can't be loaded, nothing
// is shown.
export function Strength({ password, shortest, own }: Props) {
  const [loaded, setLoaded] = useState<{ Meter: ComponentType<Props> }>()
  const typed = password !== ''
  useEffect(() => {
    if (!typed || loaded) return
    Promise.all([import('../pages/strength/Meter'), loadTexts('strength')]).then(
      ([{ Meter }]) => setLoaded({ Meter }),
      () => {},
    )
  }, [typed, loaded])
  return (
    <div aria-live="polite" style={{ fontSize: 13 }}>
      {typed && loaded && <loaded.Meter password={password} shortest={shortest} own={own} />}
    </div>
  )
}
