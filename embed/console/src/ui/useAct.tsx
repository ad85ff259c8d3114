import { App, Button } from 'antd'
import type { ReactNode } from 'react'
import { t } from '../i18n'

type Question = { title: string; text?: ReactNode; ok: string; harmless?: boolean }

// useAct is how a page speaks of what its user does: sure asks before something
// that cannot be taken back, naming what follows from it; done says that something
// has happened and, where that is possible, offers to undo it.
export function useAct() {
  const { message, modal } = App.useApp()
  return {
    sure: ({ title, text, ok, harmless = false }: Question): Promise<boolean> =>
      new Promise((answer) => {
        modal.confirm({
          title, content: text, okText: ok, okButtonProps: { danger: !harmless }, cancelText: t('cancel'), autoFocusButton: 'cancel',
          onOk: () => answer(true), onCancel: () => answer(false),
        })
      }),
    done: (text: string, undo?: () => Promise<void>): void => {
      const key = `done-${text}`
      void message.open({
        key, type: 'success', duration: undo ? 10 : 3,
        content: undo ? <>{text} <Button type="link" size="small" onClick={() => { message.destroy(key); void undo() }}>{t('undo')}</Button></> : text,
      })
    },
  }
}
