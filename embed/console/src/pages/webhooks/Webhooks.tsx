import { lazy } from 'react'
import { useLocation, useNavigate, useParams } from 'react-router'
import type { Webhook } from '../../api/types'
import { useAccount } from '../../app/account'
import { t } from '../../i18n'
import { CreateButton } from '../../ui/CreateButton'
import { Actions, actionsColumn } from '../../ui/Actions'
import { count } from '../../ui/format'
import { List } from '../../ui/List'
import { usePoll } from '../../ui/usePoll'
import { useTable } from '../../ui/useTable'
import { Address, Last, Owner, State, Types } from './cells'
import { host, moving } from './hook'
import { useWebhooks } from './useWebhooks'

const WebhookPage = lazy(async () => ({ default: (await import('./WebhookPage')).WebhookPage }))

// Webhooks is the list of webhooks; the page of a webhook is at its ID.
export function Webhooks() {
  const id = Number(useParams()['*'])
  return id ? <WebhookPage key={id} id={id} /> : <WebhookList />
}

function WebhookList() {
  const { may } = useAccount()
  const list = useTable<Webhook>('/system/webhook')
  const hooks = useWebhooks(list.reload)
  const navigate = useNavigate()
  const { pathname, search } = useLocation()
  const state = { from: pathname + search }
  usePoll(list.refresh, 3, Boolean(list.table.dataSource?.some(moving)))
  return (
    <>
      <List<Webhook>
        title={t('menu.system.webhook')}
        list={list}
        empty={t('webhooks.empty')}
        create={may('system.webhook.create') && <CreateButton onClick={() => hooks.edit()}>{t('webhooks.create')}</CreateButton>}
        columns={[
          { title: t('webhooks.url'), key: 'url', render: (_, hook) => <Address hook={hook} to={`/system/webhook/${hook.id}`} /> },
          { title: t('webhooks.state'), key: 'state', render: (_, hook) => <State hook={hook} /> },
          { title: t('webhooks.types'), dataIndex: 'types', render: (types: string[]) => <Types types={types} /> },
          { title: t('webhooks.owner'), key: 'owner', render: (_, hook) => <Owner hook={hook} /> },
          { title: t('webhooks.last'), key: 'last', render: (_, hook) => <Last hook={hook} compact /> },
          { title: t('webhooks.waiting'), key: 'behind', align: 'end', render: (_, hook) => count(hook.behind + hook.replaying) },
          actionsColumn((hook) => (
            <Actions
              first={{ label: t('webhooks.deliveries'), onClick: () => void navigate(`/system/webhook/${hook.id}`, { state }) }}
              called={t('webhooks.deliveries.of', { name: host(hook) })}
              label={t('more.of', { name: host(hook) })}
              more={[
                may('system.webhook.update') && { label: t('edit'), onClick: () => hooks.edit(hook) },
                may('system.webhook.send') && { label: t('webhooks.test'), onClick: () => void hooks.test(hook) },
                may('system.webhook.delete') && { label: t('delete'), danger: true, onClick: () => void hooks.remove(hook) },
              ]}
            />
          )),
        ]}
      />
      {hooks.panels}
    </>
  )
}
