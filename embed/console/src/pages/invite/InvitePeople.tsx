import { Alert, Button, Flex, Form, Modal, Select, Tag, Typography } from 'antd'
import TextArea from 'antd/es/input/TextArea'
import { useEffect, useState } from 'react'
import { del, Failure, post } from '../../api/request'
import { noticeShown } from '../../api/saved-notice'
import type { Invitation } from '../../api/types'
import { useAccount } from '../../app/account'
import { t } from '../../i18n'
import { Copy } from '../../ui/Copy'
import { DeptPick } from '../../ui/DeptPick'
import { byLabel } from '../../ui/fold'
import { optionsOf } from '../../ui/offered'
import { useAction } from '../../ui/useAction'
import { useChanges } from '../../ui/useChanges'
import { useChoices } from '../../ui/useChoices'
import { useGet } from '../../ui/useGet'
import { useMail } from '../../ui/useMail'
import { usePoll } from '../../ui/usePoll'
import { words } from '../../ui/words'
import { backend, type Realm } from '../people/realm'
import { ByRadio } from './ByRadio'
import type { By } from './link'
import { type Line, linesOf, mostLines, otherName } from './lines'

type Made = Line & { id?: number; url?: string; mailed?: boolean; problem?: string; revoked?: boolean }
type Props = { open: boolean; realm: Realm; onClose: () => void; onDone: () => Promise<void> }

// InvitePeople creates and invites several people from a pasted text, and shows what became of each
// invitation. Each line is a request of its own, so that a fault in one keeps none of the others.
export function InvitePeople({ open, realm, onClose, onDone }: Props) {
  const { may } = useAccount()
  const mail = useMail()
  const gives = realm === backend || may('user.list.role')
  const roles = useChoices(realm.choice, open && gives)
  const [text, setText] = useState('')
  const [given, setGiven] = useState<number[]>([])
  const [dept, setDept] = useState(0)
  const [selected, setSelected] = useState<By>()
  const [made, setMade] = useState<Made[]>()
  const [busy, setBusy] = useState(false)
  const lines = linesOf(text)
  const by = selected ?? (mail ? 'mail' : 'link')

  useEffect(() => {
    if (!open) return
    // biome-ignore lint/nursery/useReactCompiler: the dialog opens empty
    setText('')
    setMade(undefined)
  }, [open])

  async function run(some: Line[], before: Made[] = []) {
    setBusy(true)
    const done = [...before]
    try {
      for (const line of some) {
        done.push(await invite(realm, line, by === 'mail' && line.email !== '', { role_ids: given, ...(realm === backend && { dept_id: dept }) }))
        setMade([...done])
      }
      noticeShown() // the result is shown
    } finally {
      setBusy(false)
      await onDone()
    }
  }

  if (made) {
    const left = lines.length - made.length
    const failed = made.filter(({ problem, username }) => problem && username)
    return (
      <Modal
        title={t('invite.people.result')}
        open={open}
        width={720}
        closable={false}
        keyboard={false}
        mask={{ closable: false }}
        destroyOnHidden
        footer={
          <>
            {failed.length > 0 && !busy && (
              <Button
                onClick={() =>
                  void run(
                    lines.filter(({ text: one }) => failed.some((other) => other.text === one)),
                    made.filter((one) => !failed.includes(one)),
                  )
                }
              >
                {t('invite.people.retry')}
              </Button>
            )}
            <Button type="primary" loading={busy} onClick={onClose}>
              {t('invite.link.done')}
            </Button>
          </>
        }
      >
        <Results realm={realm} made={made} busy={busy} onChange={setMade} left={busy ? left : 0} />
      </Modal>
    )
  }
  const bad = lines.filter(({ username }) => !username)
  const many = lines.length > mostLines
  return (
    <Modal
      title={t('invite.people')}
      open={open}
      onCancel={onClose}
      onOk={() => void run(lines)}
      okText={lines.length ? t('invite.people.ok', { n: lines.length }) : t('people.invite')}
      okButtonProps={{ loading: busy, disabled: lines.length === 0 || many }}
      cancelText={t('cancel')}
      destroyOnHidden
    >
      <Form layout="vertical">
        <Form.Item label={t('invite.people.who')} htmlFor="invite-who" extra={t('invite.people.who.help')}>
          <TextArea
            id="invite-who"
            rows={5}
            value={text}
            onChange={(e) => setText(e.target.value)}
            placeholder={'Ann Smith <ann@example.org>\nbob@example.org'}
            spellCheck={false}
            autoFocus
          />
        </Form.Item>
        {many && <Alert type="error" showIcon style={{ marginBottom: 16 }} title={t('invite.people.most', { n: mostLines })} />}
        {bad.length > 0 && (
          <Alert type="warning" showIcon style={{ marginBottom: 16 }} title={t('invite.people.unnamed', { names: bad.map((line) => line.text).join(', ') })} />
        )}
        {gives && (
          <Form.Item label={t('people.roles')} htmlFor="invite-roles">
            <Select
              id="invite-roles"
              mode="multiple"
              showSearch={byLabel}
              loading={!roles}
              placeholder={t('none')}
              value={given}
              onChange={setGiven}
              options={optionsOf(roles)}
            />
          </Form.Item>
        )}
        {realm === backend && (
          <Form.Item label={t('people.dept')} htmlFor="invite-dept">
            <DeptPick id="invite-dept" value={dept} onChange={setDept} />
          </Form.Item>
        )}
        <ByRadio
          value={by}
          onChange={setSelected}
          mail={{ label: t('invite.people.mail'), off: mail === false ? t('people.mail.off') : undefined }}
          link={{ label: t('invite.people.link') }}
        />
      </Form>
    </Modal>
  )
}

// invite creates a person with an invitation. If the username is used by another person, it tries some others.
async function invite(realm: Realm, line: Line, send: boolean, rest: { role_ids: number[]; dept_id?: number }): Promise<Made> {
  if (!line.username) return { ...line, problem: t('invite.people.unnamed.line') }
  const { nickname, email } = line
  for (let n = 1; ; n++) {
    const username = n === 1 ? line.username : otherName(line.username, n)
    try {
      const { id, invitation } = await post(realm.path, { username, nickname, email, ...rest, invite: send ? 'mail' : 'link' }, { quiet: true })
      return { ...line, username, id, url: invitation?.url, mailed: send }
    } catch (cause) {
      if (!(cause instanceof Failure)) throw cause
      if (n < 9 && cause.status === 409 && cause.errors.username) continue
      return { ...line, username, problem: Object.values(cause.errors)[0] ?? words(cause) }
    }
  }
}

type ResultsProps = { realm: Realm; made: Made[]; busy: boolean; left: number; onChange: (made: Made[]) => void }

// Results are the invitations with their states, until the dialog is closed; after that, they are in the list of
// invitations.
function Results({ realm, made, busy, left, onChange }: ResultsProps) {
  const { may } = useAccount()
  const { notify } = useAction()
  const mail = useMail()
  const sees = may(`${realm.invite}.query`)
  const { data, refresh } = useGet(sees && !busy ? realm.invitations : '', { pageSize: 1000 }, false)
  useChanges(['link'], refresh)
  usePoll(refresh, 3, data?.data.some((one) => one.mail_state === 'queued') ?? false)
  const pending = new Map(data?.data.map((one) => [one.user_id, one]))
  const failed = made.filter(({ problem }) => problem).length
  const edit = (line: Made, part: Partial<Made>) => onChange(made.map((one) => (one === line ? { ...one, ...part } : one)))

  async function remind(line: Made) {
    const send = mail === true && line.email !== ''
    const link = await post(`${realm.path}/${line.id!}/invite`, { send })
    noticeShown() // it is said here
    if (link.email) notify(t('invite.mailed', { email: link.email }))
    edit(line, send ? { mailed: true } : { url: link.url })
    await refresh()
  }

  async function revoke(line: Made, of: Invitation) {
    await del(`${realm.invitations}/${of.id}`)
    notify(t('invite.revoked', { n: 1 }))
    edit(line, { revoked: true, url: undefined })
  }

  return (
    <>
      <p style={{ marginTop: 0 }} role="status">
        {left > 0 ? t('invite.people.left', { n: left }) : t('invite.people.done', { n: made.length - failed, m: failed })}
      </p>
      {made.some(({ url }) => url) && <Alert type="warning" showIcon style={{ marginBottom: 12 }} title={t('invite.people.once')} />}
      <ul style={{ listStyle: 'none', margin: 0, padding: 0, maxHeight: '50vh', overflowY: 'auto' }} tabIndex={0} aria-label={t('invite.people.result')}>
        {made.map((line) => {
          const of = line.id === undefined ? undefined : pending.get(line.id)
          return (
            <li key={line.text} style={{ padding: '8px 0', borderBlockEnd: '1px solid rgba(128, 128, 128, 0.25)' }}>
              <Flex gap={8} wrap align="center" justify="space-between">
                <div style={{ minWidth: 0, flex: '1 1 220px', overflowWrap: 'anywhere' }}>
                  <bdi>{line.nickname || line.email || line.username}</bdi> <StateTag of={line} pending={of} known={sees && data !== undefined} />
                  <Typography.Text type={line.problem ? 'danger' : 'secondary'} style={{ display: 'block' }}>
                    {line.problem ?? [line.username, line.email].filter(Boolean).join(', ')}
                  </Typography.Text>
                </div>
                <Flex gap={8} wrap>
                  {line.url && (of || !data) && <Copy text={line.url} label={t('invite.copy')} />}
                  {of && !line.revoked && (
                    <Button aria-label={t('invite.people.again', { name: line.username })} onClick={() => void remind(line)}>
                      {t('invite.again')}
                    </Button>
                  )}
                  {of && !line.revoked && may(`${realm.invite}.delete`) && (
                    <Button danger aria-label={t('invite.people.revoke', { name: line.username })} onClick={() => void revoke(line, of)}>
                      {t('invite.revoke')}
                    </Button>
                  )}
                </Flex>
              </Flex>
            </li>
          )
        })}
      </ul>
    </>
  )
}

// StateTag is what became of an invitation. One that is no longer pending, and was not revoked here, was accepted.
function StateTag({ of, pending, known }: { of: Made; pending?: Invitation; known: boolean }) {
  const [color, text] = of.problem
    ? (['error', 'invite.people.failed'] as const)
    : of.revoked
      ? (['default', 'invite.people.revoked'] as const)
      : known && !pending
        ? (['success', 'invite.people.accepted'] as const)
        : pending?.expires_at && pending.links === 0 && pending.mail_state !== 'queued'
          ? (['error', 'invite.expired'] as const)
          : of.mailed
            ? (['processing', `invite.mail.${pending?.mail_state || 'queued'}`] as const)
            : (['processing', 'invite.people.linked'] as const)
  return <Tag color={color}>{t(text)}</Tag>
}
