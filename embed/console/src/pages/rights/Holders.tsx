import { Empty, Flex, Skeleton, Tag, Typography } from 'antd'
import { lazy, Suspense } from 'react'
import { Link } from 'react-router'
import type { Role } from '../../api/types'
import { useAccount } from '../../app/account'
import { loadTexts, t } from '../../i18n'
import { DeptLink } from '../../ui/DeptLink'
import { Face } from '../../ui/Face'
import { useGet } from '../../ui/useGet'

const AddMembers = lazy(async () => ({ default: (await Promise.all([import('./AddMembers'), loadTexts('people')]))[0].AddMembers }))

// Holders lists the members of a role that the user can see.
export function Holders({ role, reload }: { role: Role; reload: () => Promise<void> }) {
  const { may } = useAccount()
  const { data, reload: again } = useGet('/admin/list', { role_id: role.id, pageSize: 20 })
  if (!data) return <Skeleton active title={false} />
  const adds = may('admin.list.update')
  return (
    <Flex vertical gap={12} align="start">
      {adds && (
        <Suspense>
          <AddMembers role={role} reload={async () => void (await Promise.all([reload(), again()]))} />
        </Suspense>
      )}
      {!role.user_count && (
        <Empty image={Empty.PRESENTED_IMAGE_SIMPLE} style={{ alignSelf: 'center' }} description={t(adds ? 'role.holders.empty' : 'role.holders.none')} />
      )}
      {data.total < role.user_count && <Typography.Text type="secondary">{t('role.holders.scope', { n: role.user_count, seen: data.total })}</Typography.Text>}
      {data.data.map((user) => (
        <Flex key={user.id} gap={12} align="center" style={{ maxWidth: '100%' }}>
          <Face of={user} size={24} />
          <Typography.Text ellipsis title={user.nickname || user.username}>
            <Link to={`/admin/list/${user.id}`}>
              <bdi>{user.nickname || user.username}</bdi>
            </Link>
          </Typography.Text>
          {user.nickname && (
            <Typography.Text type="secondary" ellipsis title={user.username}>
              {user.username}
            </Typography.Text>
          )}
          {user.dept_name && (
            <Typography.Text type="secondary" ellipsis>
              <DeptLink id={user.dept_id} name={user.dept_name} />
            </Typography.Text>
          )}
          {user.status === 0 && <Tag variant="filled">{t('disabled')}</Tag>}
        </Flex>
      ))}
      {data.total > 0 && <Link to={`/admin/list?role_id=${role.id}`}>{t('role.holders.all')}</Link>}
    </Flex>
  )
}
