import { Alert, Card, Descriptions, Empty, Flex, Skeleton } from 'antd'
import { useState } from 'react'
import { useLocation, useNavigate } from 'react-router'
import { del, Failure, get } from '../../api/request'
import type { Person, Provider } from '../../api/types'
import { useAccount } from '../../app/account'
import { type Key, t } from '../../i18n'
import { Actions, actionsColumn } from '../../ui/Actions'
import { Head } from '../../ui/Head'
import { List } from '../../ui/List'
import { PersonLink } from '../../ui/PersonLink'
import { Time } from '../../ui/Time'
import { useAction } from '../../ui/useAction'
import { useChanges } from '../../ui/useChanges'
import { type Leave, useRecord } from '../../ui/useRecord'
import { useTable } from '../../ui/useTable'
import { useWider } from '../../ui/useWider'
import { words } from '../../ui/words'
import { Addresses, inRealms, kindOf, Status } from './cells'
import { Given } from './Given'
import { isDirectory } from './preset'
import { useProviders } from './useProviders'

const back = '/system/provider'
const topics = ['provider', 'identity']

const find = (id: number, signal: AbortSignal): Promise<Provider> => get(`/system/provider/${id}`, {}, { signal, quiet: true })

// ProviderPage is the page of one sign-in provider: what to register there, and its people.
export function ProviderPage({ id }: { id: number }) {
  const located = useLocation().state as { from?: string } | null
  const [from] = useState(located?.from ?? back)
  const { read, failure, reload, refresh, fresh, removing } = useRecord(find, id)
  useChanges(topics, refresh, fresh)
  if (read && !failure) return <Shown of={read} from={from} reload={reload} removing={removing} />
  return (
    <>
      <Head title={t('menu.system.provider')} from={from} back={t('providers.back')} />
      {failure ? (
        <Empty image={Empty.PRESENTED_IMAGE_SIMPLE} description={failure.status === 404 ? t('providers.gone') : words(failure)} />
      ) : (
        <Skeleton active title={false} />
      )}
    </>
  )
}

function Shown({ of, from, reload, removing }: { of: Provider; from: string; reload: () => Promise<void>; removing: Leave }) {
  const { may } = useAccount()
  const lg = useWider('lg')
  const navigate = useNavigate()
  const actions = useProviders(reload)
  const changes = may('system.provider.update')
  return (
    <>
      <Head
        from={from}
        back={t('providers.back')}
        title={
          <Flex gap={12} align="center" wrap>
            <bdi>{of.title}</bdi>
            <Status of={of} />
          </Flex>
        }
      >
        <Actions
          first={changes && { label: t('providers.test'), onClick: () => void actions.test(of) }}
          called={t('providers.test.of', { name: of.title })}
          label={t('more.of', { name: of.title })}
          more={[
            changes && { label: t('edit'), onClick: () => actions.edit(of) },
            may('system.provider.delete') && {
              label: t('delete'),
              danger: true,
              onClick: () => void actions.remove(of, (remove) => removing(remove).then(() => navigate(back))),
            },
          ]}
        />
      </Head>
      {of.kind === 'github' && <Alert type="warning" showIcon title={t('providers.kind.hint.github')} style={{ marginBottom: 16 }} />}
      <Card style={{ marginBottom: 20 }}>
        {!isDirectory(of.kind) && <Addresses of={of} />}
        <Descriptions
          column={lg ? 2 : 1}
          size="small"
          styles={{ content: { overflowWrap: 'anywhere', minWidth: 0 } }}
          items={[
            { label: t('providers.kind'), children: kindOf(of) },
            ...(isDirectory(of.kind)
              ? [
                  { label: t('providers.servers'), children: <bdi>{of.servers.join(t('list.separator'))}</bdi> },
                  { label: t('providers.base_dn'), children: <bdi>{of.base_dn}</bdi> },
                ]
              : [{ label: t('providers.issuer'), children: <bdi>{of.issuer}</bdi> }]),
            { label: t('providers.realms'), children: inRealms(of) },
            { label: t('providers.creates'), children: t(`providers.creates.${of.creates}` as Key) },
            { label: t('providers.domains'), children: of.domains.length ? of.domains.join(t('list.separator')) : t('providers.domains.any') },
            { label: t('updated_at'), children: <Time at={of.updated_at} /> },
          ]}
        />
      </Card>
      <People of={of} reload={reload} />
      {actions.panels}
    </>
  )
}

// People are those who are connected to a provider.
function People({ of, reload }: { of: Provider; reload: () => Promise<void> }) {
  const { may } = useAccount()
  const { confirm, notify } = useAction()
  const list = useTable<Person>('/system/provider-person', { provider_id: String(of.id) })
  useChanges(topics, list.refresh)

  async function disconnect({ id, username: name }: Person) {
    if (
      !(await confirm({
        title: t('providers.disconnect.sure', { name, title: of.title }),
        text: t('providers.disconnect.text'),
        ok: t('providers.disconnect'),
      }))
    )
      return
    try {
      await del(`/system/provider-person/${id}`)
      notify(t('providers.disconnected', { name }))
    } catch (cause) {
      if (!(cause instanceof Failure)) throw cause // already shown
    }
    await Promise.all([list.reload(), reload()])
  }

  return (
    <List<Person>
      list={list}
      search
      empty={t(of.users && of.status ? 'providers.people.connect' : 'providers.people.empty')}
      create={false}
      columns={[
        {
          title: t('providers.account'),
          key: 'account',
          render: (_, one) => <PersonLink name={one.username} id={one.user_id || one.app_user_id} app={one.app_user_id > 0} />,
        },
        { title: t('providers.realms'), key: 'realm', render: (_, one) => t(one.app_user_id ? 'providers.app_users' : 'providers.users') },
        { title: t('providers.email'), dataIndex: 'email', render: (email: string) => (email ? <bdi>{email}</bdi> : '—') },
        { title: t('providers.roles'), key: 'roles', render: (_, one) => <Given kind={one.app_user_id ? 'app_role' : 'role'} ids={one.role_ids} /> },
        { title: t('providers.dept'), key: 'dept', render: (_, one) => <Given kind="dept" ids={one.dept_id ? [one.dept_id] : []} /> },
        { title: t('providers.used'), dataIndex: 'last_login', render: (at: string | null) => <Time at={at} /> },
        { title: t('created_at'), dataIndex: 'created_at', render: (at: string) => <Time at={at} /> },
        actionsColumn((one) => (
          <Actions
            first={may('system.provider.update') && { label: t('providers.disconnect'), onClick: () => void disconnect(one) }}
            called={t('providers.disconnect.of', { name: one.username })}
          />
        )),
      ]}
    />
  )
}
