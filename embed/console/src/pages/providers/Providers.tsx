import { lazy, Suspense } from 'react'
import { Link, useLocation, useNavigate, useParams } from 'react-router'
import type { Provider } from '../../api/types'
import { useAccount } from '../../app/account'
import { t } from '../../i18n'
import { Actions, actionsColumn } from '../../ui/Actions'
import { CreateButton } from '../../ui/CreateButton'
import { count } from '../../ui/format'
import { List } from '../../ui/List'
import { useChanges } from '../../ui/useChanges'
import { useLastValue } from '../../ui/useLastValue'
import { useTable } from '../../ui/useTable'
import { inRealms, kindOf, Status } from './cells'
import { useProviders } from './useProviders'

const ProviderPage = lazy(async () => ({ default: (await import('./ProviderPage')).ProviderPage }))
const TestResult = lazy(async () => ({ default: (await import('./TestResult')).TestResult }))

const topics = ['provider', 'identity']

// Providers is the list of sign-in providers; the page of a provider is at its ID. The browser comes back from a test with the
// parameter tested.
export function Providers() {
  const id = Number(useParams()['*'])
  return id ? <ProviderPage key={id} id={id} /> : <ProviderList />
}

function ProviderList() {
  const { may } = useAccount()
  const list = useTable<Provider>('/system/provider', {}, { own: ['tested'] })
  const actions = useProviders(list.reload)
  const navigate = useNavigate()
  const { pathname, search } = useLocation()
  const state = { from: pathname + search }
  useChanges(topics, list.refresh)
  const changes = may('system.provider.update')
  const tested = list.params.has('tested')
  const result = useLastValue(tested || undefined)
  return (
    <>
      <List<Provider>
        title={t('menu.system.provider')}
        list={list}
        search={false}
        empty={t('providers.empty')}
        create={may('system.provider.create') && <CreateButton onClick={() => actions.edit()}>{t('providers.create')}</CreateButton>}
        columns={[
          {
            title: t('providers.title'),
            key: 'title',
            render: (_, one) => (
              <Link to={`/system/provider/${one.id}`} state={state}>
                <bdi>{one.title}</bdi>
              </Link>
            ),
          },
          { title: t('providers.kind'), key: 'kind', render: (_, one) => kindOf(one) },
          { title: t('providers.realms'), key: 'realms', render: (_, one) => inRealms(one) },
          { title: t('status'), key: 'status', render: (_, one) => <Status of={one} /> },
          { title: t('providers.people'), dataIndex: 'people', align: 'end', render: (n: number) => count(n) },
          actionsColumn((one) => (
            <Actions
              first={changes && { label: t('providers.test'), onClick: () => void actions.test(one) }}
              called={t('providers.test.of', { name: one.title })}
              label={t('more.of', { name: one.title })}
              more={[
                changes && { label: t('edit'), onClick: () => actions.edit(one) },
                { label: t('providers.people'), onClick: () => void navigate(`/system/provider/${one.id}`, { state }) },
                may('system.provider.delete') && { label: t('delete'), danger: true, onClick: () => void actions.remove(one) },
              ]}
            />
          )),
        ]}
      />
      {actions.panels}
      <Suspense>{result && <TestResult open={tested} enables={changes} onClose={() => list.set({ tested: undefined })} />}</Suspense>
    </>
  )
}
