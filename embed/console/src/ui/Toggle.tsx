import { Switch } from 'antd'
import { useState } from 'react'

type Props = {
  on: boolean
  label: (on: boolean) => string
  turn: (to: boolean) => Promise<unknown> // which shows its failures
  title?: (on: boolean) => string
  disabled?: boolean
  tabIndex?: number
}

// Toggle is a switch in a list. It shows what it is switched to at once, and goes back if that fails.
export function Toggle({ on, label, turn, title, disabled, tabIndex }: Props) {
  const [to, setTo] = useState<boolean>() // while it is being saved
  const shown = to ?? on
  async function change(next: boolean) {
    if (to !== undefined) return
    setTo(next)
    try {
      await turn(next)
    } catch {
      // already shown
    } finally {
      setTo(undefined)
    }
  }
  return (
    <Switch
      size="small"
      checked={shown}
      disabled={disabled}
      tabIndex={tabIndex}
      aria-label={label(shown)}
      title={title?.(shown)}
      onChange={(next) => void change(next)}
    />
  )
}
