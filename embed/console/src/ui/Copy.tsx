import { CheckOutlined, CopyOutlined } from '@ant-design/icons'
import { App, Button } from 'antd'
import { useState } from 'react'
import { t } from '../i18n'

// copy writes to the clipboard, even over plain HTTP, where the browser has no clipboard
// API.
async function copy(text: string): Promise<boolean> {
  if (navigator.clipboard) {
    try {
      await navigator.clipboard.writeText(text)
      return true
    } catch {
      // not permitted: try the old way
    }
  }
  const area = document.createElement('textarea')
  area.value = text
  area.style.position = 'fixed'
  area.style.opacity = '0'
  const active = document.activeElement as HTMLElement | null
  // A dialog traps the focus, so the field must be inside.
  ;(active?.closest('[role=dialog]') ?? document.body).append(area)
  area.select()
  const done = document.execCommand('copy')
  area.remove()
  active?.focus()
  return done
}

// Copy is a button that copies a text and reports the result; label names the text.
export function Copy({ text, label = t('copy') }: { text: string; label?: string }) {
  const [done, setDone] = useState(false)
  const { message } = App.useApp()
  return (
    <Button
      icon={done ? <CheckOutlined /> : <CopyOutlined />}
      onClick={() =>
        void copy(text).then((worked) => {
          if (!worked) return void message.warning(t('not_copied'))
          setDone(true)
          setTimeout(() => setDone(false), 2000)
        })
      }
    >
      {done ? t('copied') : label}
    </Button>
  )
}
