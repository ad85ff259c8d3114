import { DeleteOutlined } from '@ant-design/icons'
import { Button, Flex, Tag } from 'antd'
import { del, Failure, post } from '../../api/request'
import type { Mail } from '../../api/types'
import { useAccount } from '../../app/account'
import { t } from '../../i18n'
import { Actions, actionsColumn } from '../../ui/Actions'
import { Choice } from '../../ui/Choice'
import { Finder } from '../../ui/Finder'
import { LazyRange } from '../../ui/LazyRange'
import { List } from '../../ui/List'
import { PersonLink } from '../../ui/PersonLink'
import { Time } from '../../ui/Time'
import { useAction } from '../../ui/useAction'
import { usePoll } from '../../ui/usePoll'
import { useTable } from '../../ui/useTable'
import { Said } from './Said'

const states = ['queued', 'sent', 'failed', 'cancelled'] as const
const purposes = [
  'invitation',
  'password_reset',
  'email_verification',
  'email_change',
  'email_changed',
  'factor_removed',
  'sign_in_unknown',
  'registration',
  'sign_in_code',
  'backup_unproven',
  'backup_proven',
] as const
const colors = { queued: 'processing', sent: 'success', failed: 'error', cancelled: 'default', '': 'default' } as const

// Outbox lists the mails of the last 30 days. on is whether mail is sent.
export function Outbox({ on }: { on?: boolean }) {
  const { may } = useAccount()
  const { confirm, notify } = useAction()
  const list = useTable<Mail>('/system/mail')
  // Mails change without events.
  usePoll(list.refresh, 3, list.table.dataSource?.some(({ state }) => state === 'queued') ?? false)

  async function run(act: () => Promise<unknown>, text: string) {
    try {
      await act()
      notify(text)
    } catch (cause) {
      if (!(cause instanceof Failure)) throw cause // already shown
    }
    await list.reload()
  }

  const again = ({ id }: Mail) => run(() => post(`/system/mail/${id}/retry`), t('mail.queued'))

  async function remove(some: Mail[]) {
    const [one] = some
    const title = some.length === 1 ? t('mail.delete.title', { name: one?.username ?? '' }) : t('mail.delete.titles', { n: some.length })
    if (!one || !(await confirm({ title, text: t('mail.delete.text'), ok: t('delete') }))) return
    const act = some.length === 1 ? () => del(`/system/mail/${one.id}`) : () => del('/system/mail', { ids: some.map(({ id }) => id).join(',') })
    await run(act, t('mail.deleted', { n: some.length }))
  }

  const person = (name: 'user_id' | 'app_user_id') => ({
    value: Number(list.params.get(name)) || undefined,
    onChange: (id?: number) => list.set({ user_id: undefined, app_user_id: undefined, [name]: id ? String(id) : undefined }), // a mail has one recipient
  })

  return (
    <List<Mail>
      list={list}
      search={false}
      empty={t('mail.empty')}
      create={false}
      filters={
        <>
          <Choice list={list} name="state" label={t('mail.state')} options={states.map((value) => ({ value, label: t(`mail.state.${value}`) }))} />
          <Choice list={list} name="purpose" label={t('mail.purpose')} options={purposes.map((value) => ({ value, label: t(`mail.purpose.${value}`) }))} />
          <Finder of="user" label={t('mail.user')} {...person('user_id')} />
          <Finder of="app_user" label={t('mail.app_user')} {...person('app_user_id')} />
          <LazyRange list={list} name="created_at[]" label={t('created_at')} />
        </>
      }
      columns={[
        { title: t('mail.recipient'), key: 'recipient', render: (_, mail) => <Recipient of={mail} /> },
        { title: t('mail.purpose'), dataIndex: 'purpose', render: (purpose: Mail['purpose']) => t(`mail.purpose.${purpose}`) },
        { title: t('mail.state'), key: 'state', render: (_, mail) => <State of={mail} on={on} /> },
        { title: t('mail.last'), key: 'last', render: (_, mail) => <Last of={mail} /> },
        { title: t('created_at'), ...list.order('created_at'), render: (at: string) => <Time at={at} /> },
        actionsColumn((mail) => (
          <Actions
            first={
              may('system.mail.retry') && on === true && { label: t(mail.state === 'queued' ? 'mail.now' : 'mail.again'), onClick: () => void again(mail) }
            }
            called={t(mail.state === 'queued' ? 'mail.now.of' : 'mail.again.of', { name: mail.username })}
            label={t('more.of', { name: mail.username })}
            more={[may('system.mail.delete') && { label: t('delete'), danger: true, onClick: () => void remove([mail]) }]}
          />
        )),
      ]}
      batch={
        may('system.mail.delete')
          ? (chosen) => (
              <Button danger icon={<DeleteOutlined />} onClick={() => void remove(chosen)}>
                {t('delete')}
              </Button>
            )
          : undefined
      }
    />
  )
}

function Recipient({ of }: { of: Mail }) {
  return (
    <div style={{ maxWidth: 220, overflowWrap: 'anywhere', lineHeight: 1.4 }}>
      <PersonLink name={of.username} id={of.user_id || of.app_user_id} app={of.app_user_id > 0} />
      {of.email && <div className="second">{of.email}</div>}
    </div>
  )
}

// State is the state of a mail, with the number of attempts and the time of the next.
function State({ of, on }: { of: Mail; on?: boolean }) {
  return (
    <Flex vertical gap={2} align="start">
      <Tag color={colors[of.state]} style={{ margin: 0 }}>
        {t(`mail.state.${of.state || 'queued'}`)}
      </Tag>
      {of.attempts > 0 && <span className="second">{t('mail.attempts', { n: of.attempts })}</span>}
      {of.next_at && on !== false && (
        <span className="second">
          {t('mail.next')} <Time at={of.next_at} />
        </span>
      )}
    </Flex>
  )
}

// Last is the last attempt and what came of it.
function Last({ of }: { of: Mail }) {
  if (!of.last_at && !of.stage) return <>—</>
  return (
    <Flex vertical gap={2} align="start" style={{ maxWidth: 360, whiteSpace: 'normal' }}>
      {of.last_at && <Time at={of.last_at} />}
      {of.stage && <span>{t(`mail.stage.${of.stage}`)}</span>}
      {of.response && of.stage !== 'restored' && <Said text={of.response} />}
    </Flex>
  )
}
