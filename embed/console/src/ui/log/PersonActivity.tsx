import { Radio } from 'antd'
import { lazy, Suspense, useMemo, useState } from 'react'
import { t } from '../../i18n'
import { useLastValue } from '../useLastValue'
import { EntryList } from './EntryList'
import { History } from './History'
import { useLog } from './useLog'

const EntryDrawer = lazy(async () => ({ default: (await import('./EntryDrawer')).EntryDrawer }))

type Props = { collection: 'user' | 'app_user'; id: number; name: string; onUndone?: () => void }

// PersonActivity is what a person did, and what was changed about the person.
export function PersonActivity({ collection, id, name, onUndone }: Props) {
  const [about, setAbout] = useState(false)
  return (
    <>
      <Radio.Group
        optionType="button"
        aria-label={t('menu.system.audit')}
        value={about}
        onChange={(e) => setAbout(e.target.value as boolean)}
        options={[
          { value: false, label: t('audit.person.by', { name }) },
          { value: true, label: t('audit.person.about', { name }) },
        ]}
        style={{ marginBottom: 16 }}
      />
      {about ? <History collection={collection} id={id} onUndone={onUndone} /> : <Done actor={`${collection}:${id}`} onUndone={onUndone} />}
    </>
  )
}

// Done lists what an actor did.
function Done({ actor, onUndone }: { actor: string; onUndone?: () => void }) {
  const log = useLog(
    '/system/audit',
    useMemo(() => ({ actor }), [actor]),
  )
  const [seq, setSeq] = useState<number>()
  const kept = useLastValue(seq) // the drawer is loaded when first opened
  return (
    <>
      <EntryList log={log} open={setSeq} empty={t('audit.empty')} />
      <Suspense>{kept && <EntryDrawer seq={seq} onClose={() => setSeq(undefined)} onUndone={onUndone} />}</Suspense>
    </>
  )
}
