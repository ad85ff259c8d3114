import { Button } from 'antd'
import { del, put } from '../../api/request'
import type { AppUser } from '../../api/types'
import { useAccount } from '../../app/account'
import { t } from '../../i18n'
import { useAction } from '../../ui/useAction'
import type { BatchProps } from './People'
import { names } from './person'
import { app } from './realm'

// AppUserBatch contains the actions on the selected app users. The API changes one at a time; a
// dialog shows the progress.
export function AppUserBatch({ chosen, people }: BatchProps<AppUser>) {
  const { may } = useAccount()
  const { confirm } = useAction()
  const none = chosen.length === 0

  function turn(users: AppUser[], to: 0 | 1) {
    people.run({
      title: t(to ? 'people.batch.enable' : 'people.batch.disable'),
      done: t(to ? 'people.batch.enabled' : 'people.batch.disabled', { n: users.length }),
      on: users,
      act: (user) => put(`${app.path}/${user.id}/status`, { status: to }, { quiet: true }),
      undo: () => turn(users, to ? 0 : 1),
    })
  }

  const switched = (to: 0 | 1) =>
    turn(
      chosen.filter((user) => user.status !== to),
      to,
    )

  async function disable() {
    const ok = await confirm({ title: t('people.batch.disable.sure', { names: names(chosen) }), text: t('people.batch.disable.text'), ok: t('people.disable') })
    if (ok) switched(0)
  }

  async function deleteAll() {
    const ok = await confirm({ title: t('people.delete.sure', { names: names(chosen) }), text: t('people.delete.app_text'), ok: t('delete') })
    if (ok)
      people.run({
        title: t('people.batch.delete'),
        done: t('people.deleted', { n: chosen.length }),
        on: chosen,
        act: (user) => del(`${app.path}/${user.id}`, {}, { quiet: true }),
      })
  }

  return (
    <>
      {may('user.list.status') && (
        <Button disabled={none} onClick={() => switched(1)}>
          {t('people.enable')}
        </Button>
      )}
      {may('user.list.status') && (
        <Button disabled={none} onClick={() => void disable()}>
          {t('people.disable')}
        </Button>
      )}
      {may('user.invite.create') && (
        <Button disabled={none} onClick={() => people.links.batch({ query: { ids: chosen.map(({ id }) => id).join(',') }, n: chosen.length })}>
          {t('people.invite')}
        </Button>
      )}
      {may('user.list.delete') && (
        <Button disabled={none} onClick={() => void deleteAll()}>
          {t('delete')}
        </Button>
      )}
    </>
  )
}
