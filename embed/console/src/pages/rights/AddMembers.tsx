import { Button, Select } from 'antd'
import { useEffect, useState } from 'react'
import { get, put } from '../../api/request'
import type { Role, User } from '../../api/types'
import { t } from '../../i18n'
import { useFound } from '../../ui/useFound'
import { Panel, usePanel } from '../../ui/usePanel'
import { type Job, Progress } from '../people/Progress'

const most = 50 // people at once; each is one request

type Chosen = { value: number; label: string }

// AddMembers gives a role to people, who keep their other roles.
export function AddMembers({ role, reload }: { role: Role; reload: () => Promise<void> }) {
  const [typed, setTyped] = useState('')
  const [asked, setAsked] = useState<string>() // undefined until first opened
  const [chosen, setChosen] = useState<Chosen[]>([])
  const [busy, setBusy] = useState(false)
  const { found, loading } = useFound('user', asked)
  const job = usePanel<Job<User>>()

  useEffect(() => {
    if (asked === undefined) return
    const wait = setTimeout(() => setAsked(typed), 250)
    return () => clearTimeout(wait)
  }, [typed, asked])

  const set = (user: User, role_ids: number[]) => put(`/admin/list/${user.id}`, { role_ids, updated_at: user.updated_at }, { quiet: true })

  async function add() {
    setBusy(true)
    try {
      const people = await Promise.all(chosen.map(({ value }) => get(`/admin/list/${value}`)))
      const on = people.filter((user) => !user.role_ids.includes(role.id))
      job.show({
        title: t('role.members.adding'),
        done: on.length ? t('role.members.added', { n: on.length, name: role.name }) : t('role.members.all'),
        on,
        act: (user) => set(user, [...user.role_ids, role.id]),
      })
      setChosen([])
    } catch {
      // already shown
    } finally {
      setBusy(false)
    }
  }

  return (
    <div style={{ display: 'flex', gap: 8, flexWrap: 'wrap', alignSelf: 'stretch' }}>
      <Select<Chosen[]>
        mode="multiple"
        labelInValue
        maxCount={most}
        showSearch={{ filterOption: false, onSearch: setTyped }}
        style={{ flex: '1 1 240px', minWidth: 0 }}
        placeholder={t('role.members.find')}
        aria-label={t('role.members.find')}
        loading={loading}
        value={chosen}
        onOpenChange={(open) => {
          if (open) setAsked((before) => before ?? '')
        }}
        onChange={setChosen}
        notFoundContent={t('empty.narrowed')}
        options={found}
      />
      <Button type="primary" disabled={chosen.length === 0} loading={busy} onClick={() => void add()}>
        {t('role.members.add')}
      </Button>
      <Panel of={job}>{(of, open) => <Progress open={open} job={of} onClose={job.hide} onDone={reload} />}</Panel>
    </div>
  )
}
