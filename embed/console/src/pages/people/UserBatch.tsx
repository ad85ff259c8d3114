import { App, Button } from 'antd'
import { lazy, useState } from 'react'
import { useNavigate } from 'react-router'
import { put, type Query } from '../../api/request'
import type { User } from '../../api/types'
import { useAccount } from '../../app/account'
import { t } from '../../i18n'
import { count } from '../../ui/format'
import { useAction } from '../../ui/useAction'
import { Panel, usePanel } from '../../ui/usePanel'
import { selecting } from './asked'
import { EndAndDelete } from './EndAndDelete'
import type { BatchProps } from './People'
import { type Change, names } from './person'
import { backend } from './realm'

const BatchDialog = lazy(async () => ({ default: (await import('./BatchDialog')).BatchDialog }))

type Props = BatchProps<User> & {
  params: URLSearchParams // the filters that they match
  reload: () => Promise<void>
}

// UserBatch contains the actions on all selected users, each in one request. It never
// changes the user's own account.
export function UserBatch({ chosen, whole, params, reload, people }: Props) {
  const { info, may } = useAccount()
  const { confirm, notify } = useAction()
  const { message } = App.useApp()
  const navigate = useNavigate()
  const [busy, setBusy] = useState<0 | 1>()
  const dialog = usePanel<{ what: 'dept_id' | 'role_ids'; on: User[]; query: Query }>()
  const own = info.info.id
  const users = chosen.filter((user) => user.id !== own)
  const none = whole === undefined && users.length === 0
  const these = (some: User[]): Query => ({ ids: some.map((user) => user.id).join(',') })
  const query: Query = whole === undefined ? these(users) : { ...selecting(params), all: 1, except: own }

  // change returns how many users were changed; large changes run as a job.
  async function change(body: Change, of: Query, said: (n: number) => string, undo?: () => Promise<void>, quiet = false) {
    const { count: n, job } = await put('/admin/list', body, { query: of, quiet }).catch(async (cause: unknown) => {
      await reload() // some of them may have been deleted
      throw cause
    })
    const look = job && may('system.job.query') ? { label: t('people.batch.job'), onClick: () => void navigate(`/system/job?user_id=${own}`) } : undefined
    if (job && job.state !== 'done') message.info(t('people.batch.running'))
    notify(n ? said(n) : t('people.batch.nothing'), n ? undo : undefined, look)
    await reload()
  }

  const turn = (some: User[], to: 0 | 1): Promise<void> => {
    const others = some.filter((user) => user.status !== to)
    return change(
      { status: to },
      these(some),
      (n) => t(to ? 'people.batch.enabled' : 'people.batch.disabled', { n }),
      () => turn(others, to ? 0 : 1),
    )
  }

  async function turnAll(to: 0 | 1) {
    setBusy(to)
    try {
      const { count: n } = await put('/admin/list', { status: to }, { query: { ...query, dry_run: 1 } })
      if (n === 0) return notify(t('people.batch.nothing'))
      const [title, text, ok] = to
        ? [t('people.batch.enable.all', { n: count(n) }), undefined, t('people.enable')]
        : [t('people.batch.disable.all', { n: count(n) }), t('people.batch.disable.text'), t('people.disable')]
      if (await confirm({ title, text, ok, harmless: to === 1 }))
        await change({ status: to }, query, (n) => t(to ? 'people.batch.enabled' : 'people.batch.disabled', { n: count(n) }))
    } finally {
      setBusy(undefined)
    }
  }

  async function switched(to: 0 | 1) {
    if (whole !== undefined) return turnAll(to)
    const ok =
      to === 1 ||
      (await confirm({ title: t('people.batch.disable.sure', { names: names(users) }), text: t('people.batch.disable.text'), ok: t('people.disable') }))
    if (ok) await turn(users, to)
  }

  // undoOf restores users' previous values, with one request per distinct value.
  const undoOf = (field: 'dept_id' | 'role_ids', on: User[]) => async () => {
    const had = (user: User) => JSON.stringify(user[field])
    try {
      for (const before of new Set(on.map(had)))
        await put('/admin/list', { [field]: JSON.parse(before) as unknown }, { query: these(on.filter((user) => had(user) === before)) })
    } finally {
      await reload()
    }
  }

  const ask = (what: 'dept_id' | 'role_ids') => dialog.show({ what, on: whole === undefined ? users : [], query })
  return (
    <>
      {may('admin.list.status') && (
        <Button disabled={none} loading={busy === 1} onClick={() => void switched(1)}>
          {t('people.enable')}
        </Button>
      )}
      {may('admin.list.status') && (
        <Button disabled={none} loading={busy === 0} onClick={() => void switched(0)}>
          {t('people.disable')}
        </Button>
      )}
      {may('admin.list.update') && (
        <Button disabled={none} onClick={() => ask('dept_id')}>
          {t('people.batch.move')}
        </Button>
      )}
      {may('admin.list.update') && (
        <Button disabled={none} onClick={() => ask('role_ids')}>
          {t('people.batch.roles')}
        </Button>
      )}
      {may('admin.invite.create') && (
        <Button disabled={none} onClick={() => people.links.batch({ query, n: whole ?? users.length })}>
          {t('people.invite')}
        </Button>
      )}
      <EndAndDelete realm={backend} people={people} none={none} of={{ query, names: whole === undefined ? names(users) : undefined }} />
      <Panel of={dialog}>
        {(of, open) => (
          <BatchDialog
            open={open}
            {...of}
            onClose={dialog.hide}
            apply={({ what, on, query: of }, body) =>
              change(
                body,
                of,
                (n) => t(what === 'dept_id' ? 'people.batch.moved' : 'people.batch.roles.set', { n: count(n) }),
                on.length ? undoOf(what, on) : undefined,
                true,
              )
            }
          />
        )}
      </Panel>
    </>
  )
}
