import { consoleURL } from '../../api/base'
import type { Access } from '../../api/types'
import { t } from '../../i18n'
import { count } from '../../ui/format'
import type { ApiKey } from './key'

// Deleted says what follows from deleting keys: the users whom they created stay. It is shown in a
// dialog, which is outside of the pages.
export function Deleted({ keys, may }: { keys: ApiKey[]; may: (permission: Access) => boolean }) {
  const only = keys.length === 1 ? keys[0] : undefined
  const left = [
    { path: 'admin/list', seen: may('admin.list.query'), text: 'keys.delete.users', n: sum(keys.map(({ created }) => created.users)) },
    { path: 'user/list', seen: may('user.list.query'), text: 'keys.delete.app_users', n: sum(keys.map(({ created }) => created.app_users)) },
  ] as const
  return (
    <>
      {t('keys.delete.text')}
      {left.map(
        ({ path, seen, text, n }) =>
          n > 0 && (
            <div key={path} style={{ marginTop: 8 }}>
              {t(text, { n: count(n) })}{' '}
              {only && seen && (
                <a href={consoleURL(`${path}?created_by_key=${only.id}`)} target="_blank" rel="noopener" style={{ textDecoration: 'underline' }}>
                  {t('keys.delete.show')}
                </a>
              )}
            </div>
          ),
      )}
    </>
  )
}

const sum = (all: number[]): number => all.reduce((total, n) => total + n, 0)
