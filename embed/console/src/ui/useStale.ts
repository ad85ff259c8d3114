import { Failure } from '../api/request'
import { t } from '../i18n'
import { useAct } from './useAct'

// useStale is for records that somebody else has changed since they were loaded: it
// offers to load them again. The failure is thrown on either way.
export function useStale() {
  const { sure } = useAct()
  return async (cause: unknown, load: () => Promise<void>): Promise<never> => {
    if (cause instanceof Failure && cause.code === 'stale' && (await sure({ title: t('stale'), text: t('stale.text'), ok: t('stale.ok'), harmless: true }))) await load()
    throw cause
  }
}

type Dated = { id: number; updated_at: string }

// newest is a record as it was loaded again, or as a list has it by now.
export function newest<T extends Dated>(again: T | undefined, listed: T | undefined): T | undefined {
  return again && again.id === listed?.id && again.updated_at > listed.updated_at ? again : listed
}
