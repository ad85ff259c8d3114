import { CheckCircleFilled, RightCircleOutlined } from '@ant-design/icons'
import { Button, Card, Flex, theme, Typography } from 'antd'
import { Link } from 'react-router'
import { put } from '../../api/request'
import type { SystemInfo } from '../../api/types'
import { useAccount } from '../../app/account'
import { type Key, t } from '../../i18n'
import { useAction } from '../../ui/useAction'
import { useGet } from '../../ui/useGet'

// useSteps reports whether the user can set up this installation.
export const useSteps = () => (['system.info', 'system.setting.query', 'system.setting.save'] as const).every(useAccount().may)

// Steps are the remaining setup steps, with links. They disappear when all are done, or
// when an administrator dismisses them for everyone.
export function Steps({ info }: { info: SystemInfo | undefined }) {
  const { token } = theme.useToken()
  const { notify } = useAction()
  const { data: values, reload } = useGet('/system/setting-value')
  if (!info || !values?.monitor?.next_steps) return null
  const records = (name: string) => info.collections.find((c) => c.name === name)?.records ?? 0
  const steps = [
    { name: 'brand', to: '/system/setting/site', done: values.site?.title !== 'Reeve' || Boolean(values.site.logo) },
    { name: 'dept', to: '/admin/dept', done: records('dept') > 0 },
    { name: 'role', to: '/admin/role', done: records('role') > 1 }, // the first is the owner's
    { name: 'people', to: '/admin/list', done: records('user') > 1 },
    { name: 'backup', to: '/system/info', done: info.last_backup_at !== null },
    { name: 'tls', to: '/system/info', done: location.protocol === 'https:' },
  ]
  const ready = steps.filter((step) => step.done).length
  if (ready === steps.length) return null

  async function show(on: boolean) {
    await put('/system/setting', { values: { 'monitor.next_steps': on ? '1' : '0' } })
    await reload()
  }

  return (
    <Card
      title={
        <>
          {t('home.steps')}{' '}
          <Typography.Text type="secondary" style={{ fontWeight: 'normal' }}>
            {t('home.steps.progress', { done: ready, n: steps.length })}
          </Typography.Text>
        </>
      }
      styles={{ title: { whiteSpace: 'normal' } }}
      extra={
        <Button type="text" onClick={() => void show(false).then(() => notify(t('home.steps.dismissed'), () => show(true)))}>
          {t('home.steps.dismiss')}
        </Button>
      }
    >
      <ul
        style={{
          display: 'grid',
          gap: '16px 24px',
          gridTemplateColumns: 'repeat(auto-fill, minmax(min(280px, 100%), 1fr))',
          listStyle: 'none',
          margin: 0,
          padding: 0,
        }}
      >
        {steps.map((step) => (
          <li key={step.name}>
            <Flex gap={12} align="start">
              {step.done ? (
                <CheckCircleFilled role="img" aria-label={t('home.steps.done')} style={{ fontSize: 18, marginTop: 2, color: token.colorSuccess }} />
              ) : (
                <RightCircleOutlined role="img" aria-label={t('home.steps.open')} style={{ fontSize: 18, marginTop: 2, color: token.colorTextSecondary }} />
              )}
              <div style={{ minWidth: 0 }}>
                <Link to={step.to}>{t(`home.steps.${step.name}` as Key)}</Link>
                <Typography.Text type="secondary" style={{ display: 'block', overflowWrap: 'anywhere' }}>
                  {t(`home.steps.${step.name}.text` as Key)}
                </Typography.Text>
              </div>
            </Flex>
          </li>
        ))}
      </ul>
    </Card>
  )
}
