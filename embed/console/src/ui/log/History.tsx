import { lazy, Suspense, useState } from 'react'
import { t } from '../../i18n'
import { useLastValue } from '../useLastValue'
import { EntryList } from './EntryList'
import { useLog } from './useLog'

const EntryDrawer = lazy(async () => ({ default: (await import('./EntryDrawer')).EntryDrawer }))

type Props = { collection: string; id: number; onUndone?: () => void }

// History lists the changes of one record, and undoes them.
export function History({ collection, id, onUndone }: Props) {
  const log = useLog(`/system/history/${collection}/${id}`)
  const [seq, setSeq] = useState<number>()
  const kept = useLastValue(seq) // the drawer is loaded when first opened
  return (
    <>
      <EntryList log={log} open={setSeq} empty={t('audit.empty.history')} />
      <Suspense>{kept && <EntryDrawer seq={seq} onClose={() => setSeq(undefined)} onUndone={onUndone} />}</Suspense>
    </>
  )
}
