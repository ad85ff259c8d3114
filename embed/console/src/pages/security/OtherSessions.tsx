import { Button, Flex, Tag, Typography } from 'antd'
import { del } from '../../api/request'
import type { Session } from '../../api/types'
import { t } from '../../i18n'
import { rowWithFocus } from '../../ui/focus-row'
import { Time } from '../../ui/Time'
import { useAction } from '../../ui/useAction'
import { inWords } from '../session-columns'
import { Line, Lines } from '../../ui/Lines'

// OtherSessions lists the user's sessions that belong to no device, and ends them.
export function OtherSessions({ sessions, reload }: { sessions: Session[]; reload: () => Promise<void> }) {
  const { confirm, notify } = useAction()
  if (sessions.length === 0) return null

  async function end(session: Session) {
    const name = inWords(session) || session.ip
    const focus = rowWithFocus('devices')
    if (!(await confirm({ title: t('security.device.end.sure', { name }), text: t('security.end.text'), ok: t('security.end') }))) return
    try {
      await del(`/admin/session/${session.id}`)
      notify(t('security.ended', { name }))
    } finally {
      await reload()
      await focus()
    }
  }

  return (
    <Flex vertical gap={8} style={{ width: '100%', marginTop: 12 }}>
      <Typography.Title level={3} style={{ fontSize: 16, margin: 0 }}>
        {t('security.sessions.other')}
      </Typography.Title>
      <Typography.Text type="secondary">{t('security.sessions.other.about')}</Typography.Text>
      <Lines>
        {sessions.map((session) => (
          <Line key={session.id}>
            <Flex gap={8} align="start" justify="space-between">
              <div style={{ minWidth: 0 }}>
                <Flex gap={8} align="center" wrap>
                  <b>{inWords(session) || t('account.device.unknown')}</b>
                  {session.current === 1 && (
                    <Tag color="blue" style={{ margin: 0 }}>
                      {t('security.session.current')}
                    </Tag>
                  )}
                </Flex>
                <Flex gap="0 16px" wrap className="second">
                  {session.provider_name && <span>{t('loginlog.with', { name: session.provider_name })}</span>}
                  <span>
                    {t('security.device.address')} <bdi>{session.ip}</bdi>
                  </span>
                  <span>
                    {t('security.session.begun')} <Time at={session.created_at} />
                  </span>
                  <span>
                    {t('security.used')} <Time at={session.last_used} />
                  </span>
                </Flex>
              </div>
              {session.current === 0 && (
                <Button
                  size="small"
                  style={{ flex: 'none' }}
                  aria-label={t('security.end.of', { name: inWords(session) || session.ip })}
                  onClick={() => void end(session)}
                >
                  {t('security.end')}
                </Button>
              )}
            </Flex>
          </Line>
        ))}
      </Lines>
    </Flex>
  )
}
