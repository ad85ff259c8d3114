import type { Path } from '../api/paths'
import { del, type Query } from '../api/request'
import type { Access } from '../api/types'
import { useAccount } from '../app/account'
import { useUndo } from './log/useUndo'
import { type Question, useAct } from './useAct'

type Removal = {
  path: Path<'DELETE'>
  query?: Query
  question: Question | (() => Promise<Question>)
  done: string // the message
  needs?: Access[] // permissions that undoing takes, besides system.audit.undo; absent if not all comes back
  undone?: () => void
  again?: () => Promise<void> // undoes it for those who may not use the change log
}

// useRemove deletes records that the change log can restore: at once, offering to undo it, or
// after a question for those who may not undo it. The result is whether they were deleted.
export function useRemove() {
  const { may } = useAccount()
  const { sure, done } = useAct()
  const undo = useUndo()
  return async ({ path, query, question, done: text, needs, undone, again }: Removal): Promise<boolean> => {
    const undoes = may('system.audit.undo') && needs?.every(may)
    if (!undoes && !(await sure(typeof question === 'function' ? await question() : question))) return false
    let entry = 0
    await del(path, query, { entry: (seq) => (entry = seq) })
    done(text, undoes && entry ? () => undo(entry).then(undone) : again)
    return true
  }
}
