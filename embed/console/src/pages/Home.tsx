import { Card, Descriptions, Flex, Typography } from 'antd'
import { useAccount } from '../app/account'
import { t } from '../i18n'
import { Time } from '../ui/Time'

// HomePage greets who is signed in with what the interface knows of them.
export function HomePage() {
  const { info } = useAccount()
  const user = info.info
  return (
    <Flex vertical gap={16}>
      <Typography.Title level={1} style={{ fontSize: 20, margin: 0 }}>{t('home.hello', { name: user.nickname || user.username })}</Typography.Title>
      <Card title={t('home.account')}>
        <Descriptions
          column={{ xs: 1, md: 2 }} size="small"
          items={[
            { label: t('sign_in.username'), children: user.username },
            { label: t('home.roles'), children: user.role_names.join(', ') || '—' },
            { label: t('home.dept'), children: user.dept_name || '—' },
            { label: t('home.last'), children: <><Time at={user.login_time} /> {user.login_ip}</> },
          ]}
        />
      </Card>
    </Flex>
  )
}
