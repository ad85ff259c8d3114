import { App, Button, Input } from 'antd'
import type { ReactNode } from 'react'
import { giveReason } from '../api/request'
import { noticeShown } from '../api/saved-notice'
import { t } from '../i18n'

// noticeTime is how long a message with a button stays, in milliseconds, and longer while it is
// pointed at or has the focus.
const noticeTime = 8000

const typing = (at: EventTarget | null) => at instanceof Element && at.closest('input, textarea, [contenteditable]') !== null

// offered undoes what the newest message offers to undo; Ctrl+Z does so, too.
let offered: { id: string; undo: () => void } | undefined

addEventListener('keydown', (e) => {
  if (!offered || e.key.toLowerCase() !== 'z' || !(e.ctrlKey || e.metaKey) || e.shiftKey || e.altKey || typing(e.target)) return
  e.preventDefault()
  offered.undo()
})

let notices = 0

// newest are the IDs of the messages that are shown, by key: a message replaces the one with the
// same text.
const newest = new Map<string, string>()

type Further = { label: string; onClick: () => void }

export type Question = { title: string; text?: ReactNode; ok: string; harmless?: boolean }

// useAction talks to the user about actions. confirm asks for confirmation, names the consequences and,
// unless the action is harmless, asks for a reason, which the change log keeps. notify reports success,
// and offers undo or a link if possible. An undo resolves to false if it didn't succeed, or will report later;
// otherwise its success is reported here, unless it does so itself.
export function useAction() {
  const { message, modal } = App.useApp()
  return {
    confirm: ({ title, text, ok, harmless = false }: Question): Promise<boolean> =>
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
    notify,
  }

  function notify(text: string, undo?: () => Promise<unknown>, further?: Further): void {
    noticeShown()
    const key = `done-${text}`
    const id = `notice-${++notices}`
    const end = () => {
      if (newest.get(key) === id) message.destroy(key)
      if (offered?.id === id) offered = undefined
    }
    const revert =
      undo &&
      (() => {
        end()
        const before = notices
        void undo().then((done) => {
          if (done !== false && notices === before) notify(t('undone'))
        })
      })
    const look = () => {
      if (document.getElementById(id)?.matches(':hover, :focus-within')) setTimeout(look, 1000)
      else end()
    }
    const offer = (label: string, act: () => void, shortcut?: string) => (
      <Button
        type="link"
        size="small"
        aria-keyshortcuts={shortcut}
        onClick={() => {
          end()
          act()
        }}
      >
        {label}
      </Button>
    )
    void message.open({
      key,
      type: 'success',
      duration: revert || further ? 0 : 3,
      content: (
        <span id={id}>
          {text} {revert && offer(t('undo'), revert, 'Control+Z Meta+Z')}
          {further && offer(further.label, further.onClick)}
        </span>
      ),
    })
    if (revert || further) setTimeout(look, noticeTime)
    newest.set(key, id)
    if (revert) offered = { id, undo: revert }
  }
}
