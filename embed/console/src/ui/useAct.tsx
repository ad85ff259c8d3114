import { App, Button } from 'antd'
import type { ReactNode } from 'react'
import { t } from '../i18n'

type Further = { label: string; onClick: () => void }

type Question = { title: string; text?: ReactNode; ok: string; harmless?: boolean }

// useAct talks to the user about actions: sure asks for confirmation and names the
// consequences; done reports success and offers undo or a link if possible.
export function useAct() {
  const { message, modal } = App.useApp()
  return {
    sure: ({ title, text, ok, harmless = false }: Question): Promise<boolean> =>
      new Promise((answer) => {
        modal.confirm({
          title,
          content: text,
          okText: ok,
          okButtonProps: { danger: !harmless },
          cancelText: t('cancel'),
          autoFocusButton: 'cancel',
          onOk: () => answer(true),
          onCancel: () => answer(false),
        })
      }),
    done: (text: string, undo?: () => Promise<void>, further?: Further): void => {
      const key = `done-${text}`
      const offer = (label: string, act: () => void) => (
        <Button
          type="link"
          size="small"
          onClick={() => {
            message.destroy(key)
            act()
          }}
        >
          {label}
        </Button>
      )
      void message.open({
        key,
        type: 'success',
        duration: undo || further ? 10 : 3,
        content: (
          <>
            {text} {undo && offer(t('undo'), () => void undo())}
            {further && offer(further.label, further.onClick)}
          </>
        ),
      })
    },
  }
}
