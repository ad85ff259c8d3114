import { lazy, type ReactNode } from 'react'
import { del, Failure, post } from '../../api/request'
import type { Provider } from '../../api/types'
import { t } from '../../i18n'
import { useAction } from '../../ui/useAction'
import { Panel, usePanel } from '../../ui/usePanel'
import type { Leave } from '../../ui/useRecord'
import { isDirectory } from './preset'

const ProviderForm = lazy(async () => ({ default: (await import('./ProviderForm')).ProviderForm }))

export type ProviderActions = {
  edit: (provider?: Provider) => void // creates one without
  test: (provider: Provider) => Promise<void>
  remove: (provider: Provider, leave?: Leave) => Promise<void> // then leaves instead of reloading
  panels: ReactNode
}

// useProviders are the actions on sign-in providers, with their form. Failures are shown.
export function useProviders(reload: () => Promise<void>): ProviderActions {
  const { confirm, notify } = useAction()
  const form = usePanel<{ provider?: Provider }>()

  // test leaves the page; the browser comes back to the list with the result.
  async function test({ id }: Provider) {
    try {
      location.assign((await post(`/system/provider/${id}/test`)).url)
    } catch (cause) {
      if (!(cause instanceof Failure)) throw cause // already shown
    }
  }

  async function saved(provider: Provider, created: boolean) {
    await reload()
    if (!created) return
    notify(
      t('providers.created', { name: provider.title }),
      undefined,
      provider.callback_url || isDirectory(provider.kind) ? { label: t('providers.test'), onClick: () => void test(provider) } : undefined,
    )
  }

  return {
    edit: (provider) => form.show({ provider }),
    test,
    remove: async (provider, leave = (remove) => remove().then(reload)) => {
      const name = provider.title
      if (!(await confirm({ title: t('delete.sure', { name }), text: t('providers.delete.text'), ok: t('delete') }))) return
      try {
        await leave(async () => {
          await del(`/system/provider/${provider.id}`)
          notify(t('deleted', { name }))
        })
      } catch (cause) {
        if (!(cause instanceof Failure)) throw cause // already shown
      }
    },
    panels: <Panel of={form}>{({ provider }, open) => <ProviderForm open={open} provider={provider} onClose={form.hide} onSaved={saved} />}</Panel>,
  }
}
