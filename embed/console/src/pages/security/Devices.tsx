import { Button, Empty, Flex, Form, Input, Skeleton, Tag, Typography } from 'antd'
import { del, Failure, get, hooks, put, unconfirmed } from '../../api/request'
import type { Device } from '../../api/types'
import { t } from '../../i18n'
import { Actions } from '../../ui/Actions'
import { rowWithFocus } from '../../ui/focus-row'
import { Question } from '../../ui/Question'
import { Time } from '../../ui/Time'
import { useAction } from '../../ui/useAction'
import { useGet } from '../../ui/useGet'
import { Panel, usePanel } from '../../ui/usePanel'
import { inWords } from '../session-columns'
import { Line, Lines } from '../../ui/Lines'
import { OtherSessions } from './OtherSessions'

const titleOf = (device: Device): string => device.name || inWords(device) || t('account.device.unknown')

// ordered has this device first, then those that were used last.
const ordered = (devices: Device[]) => devices.toSorted((a, b) => b.current - a.current || (b.last_used ?? '').localeCompare(a.last_used ?? ''))

// endAll ends the other current sessions, and returns their number. If one has ended since, the
// server stops: the rest is ended by a second request.
async function endAll(again = true): Promise<number> {
  const { data } = await get('/admin/session', { pageSize: 1000 })
  const ids = data.filter(({ current }) => current === 0).map(({ id }) => id)
  if (ids.length === 0) return 0
  try {
    await del('/admin/session', { ids: ids.join(',') }, { quiet: again })
  } catch (cause) {
    if (!again || !(cause instanceof Failure)) throw cause
    if (cause.status === 404) await endAll(false)
    else {
      if (!unconfirmed(cause)) hooks.failed(cause)
      throw cause
    }
  }
  return ids.length
}

// Devices lists the browsers in which the user has signed in, renames and forgets them, and signs out there.
export function Devices() {
  const { confirm, notify } = useAction()
  const { data: devices, reload: reloadDevices } = useGet('/admin/account/device', { pageSize: 1000 })
  const { data: sessions, reload: reloadSessions } = useGet('/admin/session', { pageSize: 1000 })
  const renamed = usePanel<Device>()

  const reload = async () => void (await Promise.all([reloadDevices(), reloadSessions()]))

  async function rename({ id }: Device, { name = '' }: { name?: string }) {
    await put(`/admin/account/device/${id}`, { name }, { quiet: true })
    await reload()
  }

  async function signOut(device: Device) {
    const name = titleOf(device)
    if (!(await confirm({ title: t('security.device.end.sure', { name }), text: t('security.end.text'), ok: t('security.end') }))) return
    try {
      await del(`/admin/account/device/${device.id}/session`)
      notify(t('security.ended', { name }))
    } finally {
      await reload()
    }
  }

  async function forget(device: Device) {
    const name = titleOf(device)
    const focus = rowWithFocus('devices')
    if (!(await confirm({ title: t('security.device.forget.sure', { name }), text: t('security.device.forget.text'), ok: t('security.device.forget') }))) return
    try {
      await del(`/admin/account/device/${device.id}`)
      notify(t('security.device.forgotten', { name }))
    } finally {
      await reload()
      await focus()
    }
  }

  const others = sessions?.data.filter((session) => session.current === 0) ?? []

  async function endOthers() {
    if (!(await confirm({ title: t('security.end_others'), text: t('security.end_others.sure', { n: others.length }), ok: t('security.end_others') }))) return
    const focus = rowWithFocus('devices')
    try {
      notify(t('security.ended_others', { n: await endAll() }))
    } finally {
      await reload()
      await focus()
    }
  }

  if (!devices || !sessions) return <Skeleton active title={false} />
  const known = new Set(devices.data.map(({ id }) => id))
  return (
    <Flex vertical gap={12} align="start">
      <Typography.Text type="secondary">{t('security.devices.about')}</Typography.Text>
      {devices.data.length === 0 ? (
        <Empty image={Empty.PRESENTED_IMAGE_SIMPLE} description={t('security.devices.none')} />
      ) : (
        <Lines>
          {ordered(devices.data).map((device) => (
            <Line key={device.id}>
              <Item of={device} onRename={() => renamed.show(device)} onSignOut={() => void signOut(device)} onForget={() => void forget(device)} />
            </Line>
          ))}
        </Lines>
      )}
      {others.length > 0 && <Button onClick={() => void endOthers()}>{t('security.end_others')}</Button>}
      <OtherSessions sessions={sessions.data.filter((session) => !known.has(session.device_id))} reload={reload} />
      <Panel of={renamed}>
        {(device, open) => (
          <Question<{ name?: string }>
            open={open}
            title={t('security.rename.of', { name: titleOf(device) })}
            ok={t('save')}
            initial={{ name: device.name }}
            run={(values) => rename(device, values)}
            onClose={renamed.hide}
          >
            <Form.Item name="name" label={t('name')} extra={t('security.device.name.help')}>
              <Input autoFocus autoComplete="off" maxLength={64} />
            </Form.Item>
          </Question>
        )}
      </Panel>
    </Flex>
  )
}

type ItemProps = { of: Device; onRename: () => void; onSignOut: () => void; onForget: () => void }

function Item({ of, onRename, onSignOut, onForget }: ItemProps) {
  const name = titleOf(of)
  const elsewhere = of.current === 0
  return (
    <Flex gap={8} align="start" justify="space-between">
      <div style={{ minWidth: 0 }}>
        <Flex gap={8} align="center" wrap>
          <b dir="auto" style={{ overflowWrap: 'anywhere', minWidth: 0 }}>
            {name}
          </b>
          {of.current === 1 ? (
            <Tag color="blue" style={{ margin: 0 }}>
              {t('sessions.current')}
            </Tag>
          ) : (
            of.sessions > 0 && (
              <Tag color="success" style={{ margin: 0 }}>
                {t('security.device.on')}
              </Tag>
            )
          )}
        </Flex>
        <Flex gap="0 16px" wrap className="second">
          {of.name && <span>{inWords(of)}</span>}
          {of.provider_name && <span>{t('loginlog.with', { name: of.provider_name })}</span>}
          {of.ip && (
            <span>
              {t('security.device.address')} <bdi>{of.ip}</bdi>
            </span>
          )}
          <span>
            {t('security.device.first')} <Time at={of.created_at} />
          </span>
          <span>
            {t('security.used')} <Time at={of.last_used} />
          </span>
        </Flex>
      </div>
      <Actions
        first={{ label: t('security.rename'), onClick: onRename }}
        called={t('security.rename.of', { name })}
        label={t('more.of', { name })}
        more={[
          elsewhere && of.sessions > 0 && { label: t('security.end'), onClick: onSignOut },
          elsewhere && { label: t('security.device.forget'), danger: true, onClick: onForget },
        ]}
      />
    </Flex>
  )
}
