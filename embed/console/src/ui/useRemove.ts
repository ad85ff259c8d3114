import type { Path } from '../api/paths'
import { del, type Query } from '../api/request'
import type { Access } from '../api/types'
import { useAccount } from '../app/account'
import { useUndo } from './log/useUndo'
import { type Question, useAction } from './useAction'

type Removal = {
  path: Path<'DELETE'>
  query?: Query
  question: Question | (() => Promise<Question>)
  message: string // notice of success
  needs?: Access[] // permissions that undoing takes, besides system.audit.undo; absent if not all comes back
  undone?: () => void
  restore?: () => Promise<void> // undo for users without access to the change log
}

// useRemove deletes records that the change log can restore: at once, offering to undo it, or
// after a question for those who may not undo it. The result is whether they were deleted.
export function useRemove() {
  const { may } = useAccount()
  const { confirm, notify } = useAction()
  const undo = useUndo()
  return async ({ path, query, question, message, needs, undone, restore }: Removal): Promise<boolean> => {
    const undoes = may('system.audit.undo') && needs?.every(may)
    if (!undoes && !(await confirm(typeof question === 'function' ? await question() : question))) return false
    let entry = 0
    await del(path, query, { entry: (seq) => (entry = seq) })
    notify(message, undoes && entry ? () => undo(entry).then(undone) : restore)
    return true
  }
}
