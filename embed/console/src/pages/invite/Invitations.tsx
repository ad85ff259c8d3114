import { MailOutlined } from '@ant-design/icons'
import { Button, Flex, Tag, Typography } from 'antd'
import dayjs from 'dayjs'
import { lazy } from 'react'
import { Link } from 'react-router'
import { del, Failure, post } from '../../api/request'
import { noticeShown } from '../../api/saved-notice'
import type { Invitation } from '../../api/types'
import { useAccount } from '../../app/account'
import { t } from '../../i18n'
import { Actions, actionsColumn } from '../../ui/Actions'
import { Finder } from '../../ui/Finder'
import { LazyRange } from '../../ui/LazyRange'
import { List } from '../../ui/List'
import { PersonLink } from '../../ui/PersonLink'
import { Time } from '../../ui/Time'
import { useAction } from '../../ui/useAction'
import { Panel, usePanel } from '../../ui/usePanel'
import { useMail } from '../../ui/useMail'
import { usePoll } from '../../ui/usePoll'
import { useTable } from '../../ui/useTable'
import { names } from '../people/person'
import { app, backend, type Realm } from '../people/realm'
import { mostLinks } from './link'
import { useLinks } from './useLinks'

const InvitePeople = lazy(async () => ({ default: (await import('./InvitePeople')).InvitePeople }))

// Invitations are the pending invitations of users.
export const Invitations = () => <Pending realm={backend} />

// AppInvitations are the pending invitations of app users.
export const AppInvitations = () => <Pending realm={app} />

const limit = 200 // IDs in one request

function Pending({ realm }: { realm: Realm }) {
  const { may } = useAccount()
  const admin = realm === backend
  const [creates, deletes] = [may(`${realm.invite}.create`), may(`${realm.invite}.delete`)]
  const list = useTable<Invitation>(realm.invitations)
  const { again, copy, links, revoke } = useActs(realm, list.reload)
  const lists = may(`${realm.access}.query`)
  const inviting = usePanel<true>()
  const mail = useMail()
  usePoll(list.refresh, 3, list.table.dataSource?.some((one) => one.mail_state === 'queued') ?? false)
  const user = Number(list.params.get('user_id')) || undefined

  return (
    <>
      <List<Invitation>
        title={t(admin ? 'menu.admin.invite' : 'menu.user.invite')}
        list={list}
        empty={
          <>
            {t(admin ? 'invite.empty' : 'invite.app.empty')}{' '}
            {lists && (
              <Link to={realm.path} style={{ textDecoration: 'underline' }}>
                {t(admin ? 'invite.list' : 'invite.app.list')}
              </Link>
            )}
          </>
        }
        create={
          creates &&
          may(admin ? 'admin.list.create' : 'user.list.create') && (
            <Button type="primary" icon={<MailOutlined />} onClick={() => inviting.show(true)}>
              {t('invite.people')}
            </Button>
          )
        }
        filters={
          <>
            <Finder of={realm.collection} label={t('people.user')} value={user} onChange={(id) => list.set({ user_id: id ? String(id) : undefined })} />
            <LazyRange list={list} name="expires_at[]" label={t('invite.expires')} future />
          </>
        }
        columns={[
          { title: t('people.user'), key: 'user', render: (_, one) => <Who of={one} app={!admin} /> },
          {
            title: t('people.email'),
            dataIndex: 'email',
            render: (email: string) => <div style={{ maxWidth: 240, overflowWrap: 'anywhere' }}>{email || '—'}</div>,
          },
          { title: t('invite.by.user'), dataIndex: 'invited_by', render: (by: string) => <PersonLink name={by} /> },
          { title: t('invite.expires'), ...list.order('expires_at'), render: (_, one) => <Expiry of={one} /> },
          { title: t('invite.mail'), key: 'mail', render: (_, one) => <MailState of={one} /> },
          actionsColumn((one) => (
            <Actions
              first={creates && { label: t('invite.copy'), onClick: () => void copy(one) }}
              called={t('invite.copy.of', { name: one.username })}
              label={t('more.of', { name: one.username })}
              more={[
                creates && mail === true && one.email !== '' && { label: t('invite.by.mail'), onClick: () => void again(one) },
                deletes && { label: t('invite.revoke'), danger: true, onClick: () => void revoke([one]) },
              ]}
            />
          )),
        ]}
        batch={
          creates || deletes
            ? (chosen) => {
                const batch = { query: { ids: chosen.map((one) => one.user_id).join(',') }, n: chosen.length }
                return (
                  <>
                    {creates && (
                      <Button disabled={!mail || chosen.length > limit} onClick={() => links.batch({ ...batch, by: 'mail' })}>
                        {t('invite.again')}
                      </Button>
                    )}
                    {creates && (
                      <Button disabled={chosen.length > mostLinks} onClick={() => links.batch({ ...batch, by: 'link' })}>
                        {t('invite.by.file')}
                      </Button>
                    )}
                    {deletes && (
                      <Button danger onClick={() => void revoke(chosen)}>
                        {t('invite.revoke')}
                      </Button>
                    )}
                  </>
                )
              }
            : undefined
        }
      />
      {links.panels}
      <Panel of={inviting}>{(_, open) => <InvitePeople realm={realm} open={open} onClose={inviting.hide} onDone={list.reload} />}</Panel>
    </>
  )
}

// useActs are the actions on invitations. Failures are shown.
function useActs(realm: Realm, reload: () => Promise<void>) {
  const { confirm, notify } = useAction()
  const links = useLinks(realm, reload)
  const path = realm.invitations

  // renew makes a new link. It reloads also after a failure, since the user may have accepted.
  async function renew(one: Invitation, send: boolean) {
    try {
      return await post(`${realm.path}/${one.user_id}/invite`, { send })
    } catch (cause) {
      if (!(cause instanceof Failure)) throw cause // already shown
      return undefined
    } finally {
      await reload()
    }
  }

  async function copy(one: Invitation) {
    const link = await renew(one, false)
    noticeShown() // the link is shown
    if (link) links.show(one, 'invite', link)
  }

  async function again(one: Invitation) {
    const link = await renew(one, true)
    if (link) notify(t('invite.mailed', { email: link.email ?? one.email }))
  }

  async function revoke(some: Invitation[]) {
    const [one] = some
    if (!one || !(await confirm({ title: t('invite.revoke.title', { names: names(some) }), text: t('invite.revoke.text'), ok: t('invite.revoke') }))) return
    try {
      await (some.length === 1 ? del(`${path}/${one.id}`) : del(path, { ids: some.map(({ id }) => id).join(',') }))
      notify(t('invite.revoked', { n: some.length }))
    } finally {
      await reload()
    }
  }

  return { again, copy, links, revoke }
}

function Who({ of, app }: { of: Invitation; app: boolean }) {
  return (
    <div style={{ maxWidth: 200, overflowWrap: 'anywhere', lineHeight: 1.4 }}>
      <PersonLink name={of.nickname || of.username} id={of.user_id} app={app} />
      {of.nickname && <div className="second">{of.username}</div>}
    </div>
  )
}

// Expiry is until when a link can be used.
function Expiry({ of }: { of: Invitation }) {
  if (!of.expires_at) return <Typography.Text type="secondary">{t('invite.no_link')}</Typography.Text>
  if (of.links > 0) return <Time at={of.expires_at} />
  return (
    <Tag color="error" title={t('invite.expired.at', { time: dayjs(of.expires_at).format('YYYY-MM-DD HH:mm') })} style={{ margin: 0 }}>
      {t('invite.expired')}
    </Tag>
  )
}

const colors = { queued: 'processing', sent: 'success', failed: 'error', cancelled: 'default' } as const

// MailState is the state of the last mail, and what the mail server said.
function MailState({ of }: { of: Invitation }) {
  if (!of.mail_state) return <Typography.Text type="secondary">{t('invite.mail.none')}</Typography.Text>
  return (
    <Flex vertical gap={2} align="start" style={{ maxWidth: 280 }}>
      <Tag color={colors[of.mail_state]} style={{ margin: 0 }}>
        {t(`invite.mail.${of.mail_state}`)}
      </Tag>
      {of.mail_response && of.mail_state !== 'sent' && (
        <span className="second" style={{ overflowWrap: 'anywhere', whiteSpace: 'normal' }}>
          {of.mail_response}
        </span>
      )}
    </Flex>
  )
}
