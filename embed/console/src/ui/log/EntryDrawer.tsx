import { useState } from 'react'
import { Failure } from '../../api/request'
import { useAccount } from '../../app/account'
import { t } from '../../i18n'
import { useAction } from '../useAction'
import { useGet } from '../useGet'
import { useLastValue } from '../useLastValue'
import { ViewDrawer } from '../ViewDrawer'
import { Entry } from './Entry'
import { useUndo } from './useUndo'

type Props = { seq?: number; onClose: () => void; onUndone?: () => void }

// EntryDrawer shows an entry of the change log and undoes it.
export function EntryDrawer({ seq, onClose, onUndone }: Props) {
  const kept = useLastValue(seq)
  const { may } = useAccount()
  const { confirm } = useAction()
  const undo = useUndo()
  const [busy, setBusy] = useState(false)
  const { data, loading, reload } = useGet(seq ? `/system/audit/${seq}` : '', {}, false)
  const [entry, setEntry] = useState(data)
  if (data && data !== entry) setEntry(data)
  const shown = entry?.seq === kept ? entry : undefined
  const undoes = may('system.audit.undo')

  async function run() {
    if (!shown) return
    if (
      shown.undo.lost.length &&
      !(await confirm({ title: t('audit.undo.title'), text: t('audit.undo.text', { n: shown.undo.records }), ok: t('audit.undo') }))
    )
      return
    setBusy(true)
    try {
      await undo(shown.seq)
      onUndone?.()
      onClose()
    } catch (cause) {
      if (!(cause instanceof Failure)) throw cause
      await reload() // the failure has been shown; this shows what has changed since
    } finally {
      setBusy(false)
    }
  }

  return (
    <ViewDrawer
      open={seq !== undefined}
      title={t('audit.entry', { seq: kept ?? '' })}
      loading={loading}
      action={undoes && shown?.undo.possible === 1 && { label: t('audit.undo'), busy, onClick: () => void run() }}
      onClose={onClose}
    >
      {shown && <Entry entry={shown} undoes={undoes} />}
    </ViewDrawer>
  )
}
