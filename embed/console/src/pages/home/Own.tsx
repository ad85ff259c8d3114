import { Alert, Card, Descriptions, Flex } from 'antd'
import type { PermissionNode } from '../../api/types'
import { useAccount } from '../../app/account'
import { leads } from '../../app/menu'
import { PageLink, TabMark } from '../../app/PageLink'
import { maybe, t } from '../../i18n'
import { Icon } from '../../ui/icons'
import { DeptLink } from '../../ui/DeptLink'
import { RoleTags } from '../../ui/RoleTags'
import { Time } from '../../ui/Time'
import { SignIns } from './Recent'

// leaves are the pages in the menus.
const leaves = (nodes: PermissionNode[]): PermissionNode[] => nodes.flatMap((node) => [...(leads(node) ? [node] : []), ...leaves(node.children ?? [])])

// Own is the home page without dashboard permissions: the account, its sign-ins and the
// available pages.
export function Own() {
  const { info } = useAccount()
  const user = info.info
  const open = leaves(info.menus)
  return (
    <>
      {open.length === 0 && <Alert type="info" showIcon title={t('home.open.none')} />}
      {open.length > 0 && (
        <Card title={t('home.open')}>
          <div style={{ display: 'grid', gap: 12, gridTemplateColumns: 'repeat(auto-fill, minmax(200px, 1fr))' }}>
            {open.map((node) => (
              <PageLink key={node.id} node={node}>
                <Card size="small" hoverable>
                  <Flex gap={8} align="center">
                    <Icon name={node.icon} />
                    {maybe(node.local) ?? node.name}
                    {node.open === 'tab' && <TabMark />}
                  </Flex>
                </Card>
              </PageLink>
            ))}
          </div>
        </Card>
      )}
      <Flex wrap gap={16}>
        <Card title={t('home.account')} style={{ flex: '1 1 320px', minWidth: 0 }}>
          <Descriptions
            column={1}
            size="small"
            styles={{ content: { overflowWrap: 'anywhere' } }}
            items={[
              { label: t('sign_in.username'), children: <bdi>{user.username}</bdi> },
              { label: t('home.roles'), children: user.role_ids.length ? <RoleTags ids={user.role_ids} names={user.role_names} /> : '—' },
              { label: t('home.dept'), children: user.dept_id ? <DeptLink id={user.dept_id} name={user.dept_name} /> : '—' },
              {
                label: t('home.last'),
                children: user.login_time ? (
                  <span>
                    <Time at={user.login_time} />, <bdi>{user.login_ip}</bdi>
                  </span>
                ) : (
                  '—'
                ),
              },
            ]}
          />
        </Card>
        {!info.acting && <SignIns title={t('home.own_sign_ins')} path="/admin/loginlog" />}
      </Flex>
    </>
  )
}
