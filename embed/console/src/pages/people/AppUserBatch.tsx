import { Button } from 'antd'
import { getAll } from '../../api/get-all'
import { put, type Query } from '../../api/request'
import type { AppUser } from '../../api/types'
import { useAccount } from '../../app/account'
import { t } from '../../i18n'
import { count } from '../../ui/format'
import { useAction } from '../../ui/useAction'
import { selecting } from './asked'
import { EndAndDelete } from './EndAndDelete'
import type { BatchProps } from './People'
import { names } from './person'
import { app } from './realm'

type Props = BatchProps<AppUser> & { params: URLSearchParams } // the filters that they match

// AppUserBatch contains the actions on the selected app users. The API enables and disables one at a time; a
// dialog shows the progress.
export function AppUserBatch({ chosen, whole, params, people }: Props) {
  const { may } = useAccount()
  const { confirm } = useAction()
  const none = chosen.length === 0
  const query: Query = whole === undefined ? { ids: chosen.map(({ id }) => id).join(',') } : { ...selecting(params), all: 1 }

  function turn(users: AppUser[], to: 0 | 1) {
    people.run({
      title: t(to ? 'people.batch.enable' : 'people.batch.disable'),
      done: users.length ? t(to ? 'people.batch.enabled' : 'people.batch.disabled', { n: users.length }) : t('people.batch.nothing'),
      on: users,
      act: (user) => put(`${app.path}/${user.id}/status`, { status: to }, { quiet: true }),
      undo: users.length ? () => turn(users, to ? 0 : 1) : undefined,
    })
  }

  async function switched(to: 0 | 1) {
    const all = whole === undefined ? chosen : await getAll<AppUser>(app.path, selecting(params))
    const users = all.filter((user) => user.status !== to)
    if (whole !== undefined && users.length) {
      const n = count(users.length)
      const [title, text, ok] = to
        ? [t('people.batch.enable.all', { n }), undefined, t('people.enable')]
        : [t('people.batch.disable.all', { n }), t('people.batch.disable.text'), t('people.disable')]
      if (!(await confirm({ title, text, ok, harmless: to === 1 }))) return
    }
    turn(users, to)
  }

  async function disable() {
    const sure =
      whole !== undefined ||
      (await confirm({ title: t('people.batch.disable.sure', { names: names(chosen) }), text: t('people.batch.disable.text'), ok: t('people.disable') }))
    if (sure) await switched(0)
  }

  return (
    <>
      {may('user.list.status') && (
        <Button disabled={none} onClick={() => void switched(1)}>
          {t('people.enable')}
        </Button>
      )}
      {may('user.list.status') && (
        <Button disabled={none} onClick={() => void disable()}>
          {t('people.disable')}
        </Button>
      )}
      {may('user.invite.create') && (
        <Button disabled={none} onClick={() => people.links.batch({ query, n: whole ?? chosen.length })}>
          {t('people.invite')}
        </Button>
      )}
      <EndAndDelete realm={app} people={people} none={none} of={{ query, names: whole === undefined ? names(chosen) : undefined }} />
    </>
  )
}
