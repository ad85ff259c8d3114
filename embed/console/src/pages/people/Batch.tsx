import { Button } from 'antd'
import { del, put } from '../../api/request'
import { t } from '../../i18n'
import { useAct } from '../../ui/useAct'
import { names, type Person } from './person'
import type { People } from './usePeople'

type Props<T extends Person> = {
  chosen: T[]
  path: string // of the list
  people: People<T>
  switches: boolean // may enable and disable
  remove: false | 'each' | ((users: T[]) => Promise<void>) // 'each' where the interface deletes one at a time
}

// Batch is what can be done with all chosen users. What the interface does one at a
// time goes on beside its progress.
export function Batch<T extends Person>({ chosen, path, people, switches, remove }: Props<T>) {
  const { sure } = useAct()
  const none = chosen.length === 0

  function turn(users: T[], to: 0 | 1) {
    people.run({
      title: t(to ? 'people.batch.enable' : 'people.batch.disable'), done: t(to ? 'people.batch.enabled' : 'people.batch.disabled', { n: users.length }),
      on: users, act: (user) => put(`${path}/${user.id}/status`, { status: to }, { quiet: true }),
      undo: () => turn(users, to ? 0 : 1),
    })
  }

  const switched = (to: 0 | 1) => turn(chosen.filter((user) => user.status !== to), to)

  async function disable() {
    const ok = await sure({ title: t('people.batch.disable.sure', { names: names(chosen) }), text: t('people.batch.disable.text'), ok: t('people.disable') })
    if (ok) switched(0)
  }

  async function deleteEach() {
    const ok = await sure({ title: t('people.delete.sure', { names: names(chosen) }), text: t('people.delete.app_text'), ok: t('delete') })
    if (ok) people.run({ title: t('people.batch.delete'), done: t('people.deleted', { n: chosen.length }), on: chosen, act: (user) => del(`${path}/${user.id}`, {}, { quiet: true }) })
  }

  return (
    <>
      {switches && <Button disabled={none} onClick={() => switched(1)}>{t('people.enable')}</Button>}
      {switches && <Button disabled={none} onClick={() => void disable()}>{t('people.disable')}</Button>}
      {remove && <Button disabled={none} onClick={() => void (remove === 'each' ? deleteEach() : remove(chosen))}>{t('delete')}</Button>}
    </>
  )
}
