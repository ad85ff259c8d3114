import { Alert, Button, Flex, Typography } from 'antd'
import { useEffect, useEffectEvent, useState } from 'react'
import { del, Failure, post, unconfirmed } from '../../api/request'
import type { Choice, Person } from '../../api/types'
import { t } from '../../i18n'
import { rowWithFocus } from '../../ui/focus-row'
import { Line, Lines } from '../../ui/Lines'
import { Time } from '../../ui/Time'
import { useAction } from '../../ui/useAction'
import { useQueryParams } from '../../ui/useQueryParams'
import { words } from '../../ui/words'

type Props = { own: Person[]; choices: Choice[]; reload: () => Promise<void> }

// OwnProviders lists the providers that the user is connected to, connects to others and disconnects. The browser comes back
// from a provider with the parameter connected, and the connection is then completed.
export function OwnProviders({ own, choices, reload }: Props) {
  const { confirm, notify } = useAction()
  const { params, set } = useQueryParams()
  const [problem, setProblem] = useState('')
  const [busy, setBusy] = useState('')
  const arrived = params.has('connected')

  const complete = useEffectEvent(async () => {
    try {
      const { provider_name: title } = await post('/admin/account/provider', undefined, { quiet: true })
      notify(t('connect.connected', { title }))
    } catch (cause) {
      if (!(cause instanceof Failure)) throw cause
      setProblem(words(cause))
    }
    set({ connected: undefined })
    await reload()
  })
  useEffect(() => {
    // biome-ignore lint/nursery/useReactCompiler: the state changes once there is a response
    if (arrived) void complete()
  }, [arrived])

  async function connect({ name }: Choice) {
    setBusy(name)
    setProblem('')
    try {
      location.assign((await post(`/admin/account/provider/${name}`, undefined, { quiet: true })).url)
    } catch (cause) {
      setBusy('')
      if (!(cause instanceof Failure)) throw cause
      if (!unconfirmed(cause)) setProblem(words(cause))
    }
  }

  async function disconnect({ id, provider_name: title }: Person) {
    if (!(await confirm({ title: t('connect.disconnect.sure', { title }), text: t('connect.disconnect.text'), ok: t('connect.disconnect') }))) return
    const focus = rowWithFocus('providers')
    setProblem('')
    try {
      await del(`/admin/account/provider/${id}`, {}, { quiet: true })
      notify(t('connect.disconnected', { title }))
    } catch (cause) {
      if (!(cause instanceof Failure)) throw cause
      if (!unconfirmed(cause)) setProblem(words(cause))
    }
    await reload()
    await focus()
  }

  const connected = new Set(own.map((one) => one.provider_name))
  const others = choices.filter(({ title }) => !connected.has(title))
  return (
    <Flex vertical gap={12} align="start">
      <Typography.Text type="secondary">{t('connect.about')}</Typography.Text>
      {problem && <Alert type="error" showIcon title={problem} />}
      {own.length === 0 ? (
        <span>{t('connect.none')}</span>
      ) : (
        <Lines>
          {own.map((one) => (
            <Line key={one.id}>
              <Flex gap={8} align="start" justify="space-between">
                <div style={{ minWidth: 0 }}>
                  <b dir="auto">{one.provider_name}</b>
                  <Flex gap="0 16px" wrap className="second">
                    {one.email && <bdi>{one.email}</bdi>}
                    <span>
                      {t('connect.since')} <Time at={one.created_at} />
                    </span>
                    <span>
                      {t('connect.used')} <Time at={one.last_login} />
                    </span>
                  </Flex>
                </div>
                <Button
                  size="small"
                  style={{ flexShrink: 0 }}
                  aria-label={t('connect.disconnect.from', { title: one.provider_name })}
                  onClick={() => void disconnect(one)}
                >
                  {t('connect.disconnect')}
                </Button>
              </Flex>
            </Line>
          ))}
        </Lines>
      )}
      {others.length > 0 && (
        <Flex gap={8} wrap>
          {others.map((choice) => (
            <Button key={choice.name} loading={busy === choice.name} onClick={() => void connect(choice)}>
              {t('connect.connect.to', { title: choice.title })}
            </Button>
          ))}
        </Flex>
      )}
    </Flex>
  )
}
