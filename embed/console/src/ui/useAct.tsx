import { App, Button, Input } from 'antd'
import type { ReactNode } from 'react'
import { giveReason } from '../api/request'
import { t } from '../i18n'

type Further = { label: string; onClick: () => void }

type Question = { title: string; text?: ReactNode; ok: string; harmless?: boolean }

// useAct talks to the user about actions: sure asks for confirmation, names the consequences and,
// unless the action is harmless, asks for a reason, which the change log keeps; done reports success and offers undo or a link if possible.
export function useAct() {
  const { message, modal } = App.useApp()
  return {
    sure: ({ title, text, ok, harmless = false }: Question): Promise<boolean> =>
      new Promise((answer) => {
        giveReason('')
        modal.confirm({
          title,
          content: harmless ? (
            text
          ) : (
            <>
              {text}
              <Input
                style={{ marginTop: 12 }}
                maxLength={200}
                aria-label={t('reason')}
                placeholder={t('reason')}
                onChange={(e) => giveReason(e.target.value)}
              />
            </>
          ),
          okText: ok,
          okButtonProps: { danger: !harmless },
          cancelText: t('cancel'),
          autoFocusButton: 'cancel',
          onOk: () => answer(true),
          onCancel: () => {
            giveReason('')
            answer(false)
          },
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
