import { App } from 'antd'
import { useNavigate } from 'react-router'
import { Failure, post, unconfirmed } from '../../api/request'
import { useAccount } from '../../app/account'
import { t } from '../../i18n'
import { useAction } from '../useAction'
import { notifyReconnect } from '../useReconnect'
import { words } from '../words'

// UndoAll selects the changes of one actor in a period.
export type UndoAll = { by: string; since: string; until: string; leave_changed: 1 }

// useUndo undoes an entry of the change log, or all of an actor, and says if it could not. Everything on the page is
// loaded again then.
export function useUndo() {
  const { may } = useAccount()
  const { notify } = useAction()
  const { message } = App.useApp()
  const navigate = useNavigate()
  return async (of: number | UndoAll): Promise<void> => {
    try {
      const options = { quiet: true }
      const { job } = typeof of === 'number' ? await post(`/system/audit/${of}/undo`, undefined, options) : await post('/system/audit-undo', of, options)
      const look = job && may('system.job.query') ? { label: t('undone.job'), onClick: () => void navigate('/system/job') } : undefined
      notify(t(job && job.state !== 'done' ? 'undone.running' : 'undone'), undefined, look)
    } catch (cause) {
      if (!(cause instanceof Failure)) throw cause
      if (!unconfirmed(cause)) void message.error(t('undone.not', { why: cause.code === 'changed_since' ? t('undone.changed') : words(cause) }))
      throw cause
    } finally {
      notifyReconnect()
    }
  }
}
