import { Button } from 'antd'
import { useState } from 'react'
import { Failure, post } from '../../api/request'
import { t } from '../../i18n'
import { count } from '../../ui/format'
import { useUndo } from '../../ui/log/useUndo'
import { useAction } from '../../ui/useAction'

type Props = { actor: string; range: [string, string]; name: string; onUndone: () => void }

// UndoAll undoes what an actor did in a period, once it is known what that would do.
export function UndoAll({ actor, range: [since, until], name, onUndone }: Props) {
  const { confirm } = useAction()
  const undo = useUndo()
  const [busy, setBusy] = useState(false)

  async function run() {
    const of = { by: actor, since, until, leave_changed: 1 } as const
    setBusy(true)
    try {
      const { records, lost, left } = await post('/system/audit-undo', of, { query: { dry_run: 1 } })
      const kinds = [...new Set(lost.map(({ what }) => what))]
      const text = (
        <>
          {t('audit.undo.text', { n: count(records) })}
          {left > 0 && <p>{t('audit.undo_all.left', { n: count(left) })}</p>}
          {kinds.length > 0 && (
            <>
              <p>{t('audit.undo.lost')}</p>
              <ul style={{ margin: 0, paddingInlineStart: 16 }}>
                {kinds.map((what) => (
                  <li key={what}>{t(`audit.undo.lost.${what}`)}</li>
                ))}
              </ul>
            </>
          )}
        </>
      )
      if (!(await confirm({ title: t('audit.undo_all.title', { name }), text, ok: t('audit.undo_all') }))) return
      await undo(of)
      onUndone()
    } catch (cause) {
      if (!(cause instanceof Failure)) throw cause // otherwise already shown
    } finally {
      setBusy(false)
    }
  }

  return (
    <Button danger loading={busy} onClick={() => void run()}>
      {t('audit.undo_all')}
    </Button>
  )
}
