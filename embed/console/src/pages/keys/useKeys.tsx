import { lazy, type ReactNode } from 'react'
import { del, Failure, post, put } from '../../api/request'
import { useAccount } from '../../app/account'
import { loadTexts, t } from '../../i18n'
import { useAction } from '../../ui/useAction'
import { Panel, usePanel } from '../../ui/usePanel'
import { ofKey } from '../people/person'
import { Deleted } from './Deleted'
import { type ApiKey, all, type KeyWithToken, name, own as ownPath } from './key'

const KeyForm = lazy(async () => ({ default: (await import('./KeyForm')).KeyForm }))
const Rotate = lazy(async () => ({ default: (await import('./Rotate')).Rotate }))
const Token = lazy(async () => ({ default: (await import('./Token')).Token }))
const Explain = lazy(async () => ({ default: (await Promise.all([import('../people/Explain'), loadTexts('people', 'actions')]))[0].Explain }))

const mostNamed = 5

// names lists keys in a question, only the first few.
function names(keys: Pick<ApiKey, 'name'>[]): string {
  const first = keys.slice(0, mostNamed).map(name).join(t('list.separator'))
  return keys.length > mostNamed ? t('keys.and_more', { names: first, n: keys.length - mostNamed }) : first
}

export type Keys = {
  create: () => void
  edit: (key: ApiKey) => void
  enable: (key: ApiKey) => Promise<void>
  disable: (key: ApiKey) => Promise<void>
  rotate: (key: ApiKey) => void
  adopt: (key: ApiKey) => Promise<void>
  resume: (key: ApiKey) => Promise<void>
  explain: (key: ApiKey) => void
  remove: (keys: ApiKey[]) => Promise<void>
  panels: ReactNode
}

// useKeys are the actions on API keys, with their forms and dialogs; with own, on the page of one's
// own keys. Failures are shown.
export function useKeys(reload: () => Promise<void>, own = false): Keys {
  const { info, may } = useAccount()
  const { confirm, notify } = useAction()
  const form = usePanel<{ key?: ApiKey }>()
  const rotating = usePanel<ApiKey>()
  const token = usePanel<KeyWithToken>()
  const explained = usePanel<ApiKey>()
  const isOwn = (key?: ApiKey) => own || (key?.personal === 1 && key.user_id === info.info.id)
  const pathOf = (key: ApiKey) => (isOwn(key) ? ownPath : all)

  // run does something, reports it, and reloads also after a failure, which may have the reason that
  // the page shows an old state.
  async function run(act: () => Promise<unknown>, text: string) {
    try {
      await act()
      notify(text)
    } catch (cause) {
      if (!(cause instanceof Failure)) throw cause // already shown
    }
    await reload()
  }

  return {
    create: () => form.show({}),
    edit: (key) => form.show({ key }),
    rotate: rotating.show,
    explain: explained.show,
    enable: (key) => run(() => put(`${pathOf(key)}/${key.id}`, { status: true }), t('keys.enabled', { name: name(key) })),
    disable: async (key) => {
      if (!(await confirm({ title: t('keys.disable.title', { name: name(key) }), text: t('keys.disable.text'), ok: t('keys.disable') }))) return
      await run(() => put(`${pathOf(key)}/${key.id}`, { status: false }), t('keys.disabled', { name: name(key) }))
    },
    adopt: async (key) => {
      if (!(await confirm({ title: t('keys.adopt.title', { name: name(key) }), text: t('keys.adopt.text'), ok: t('keys.adopt') }))) return
      await run(() => post(`/admin/key/${key.id}/adopt`), t('keys.adopt.done'))
    },
    resume: async (key) => {
      if (!(await confirm({ title: t('keys.resume.title', { name: name(key) }), text: t('keys.resume.text'), ok: t('keys.resume') }))) return
      await run(() => post(`/admin/key/${key.id}/resume`), t('keys.resume.done'))
    },
    remove: async (keys) => {
      const [key] = keys
      if (!key || !(await confirm({ title: t('delete.sure', { name: names(keys) }), text: <Deleted keys={keys} may={may} />, ok: t('delete') }))) return
      const act = keys.length === 1 ? () => del(`${pathOf(key)}/${key.id}`) : () => del(own ? ownPath : all, { ids: keys.map(({ id }) => id).join() })
      await run(act, keys.length === 1 ? t('deleted', { name: name(key) }) : t('keys.deleted', { n: keys.length }))
    },
    panels: (
      <>
        <Panel of={form}>
          {({ key }, open) => <KeyForm open={open} of={key} own={isOwn(key)} onClose={form.hide} onSaved={reload} onToken={token.show} />}
        </Panel>
        <Panel of={rotating}>
          {(key, open) => <Rotate open={open} of={key} own={isOwn(key)} onClose={rotating.hide} onDone={reload} onToken={token.show} />}
        </Panel>
        <Panel of={token}>{(key, open) => <Token open={open} of={key} onClose={token.hide} onClosed={token.forget} />}</Panel>
        <Panel of={explained}>{(key, open) => <Explain open={open} of={ofKey(key)} onClose={explained.hide} />}</Panel>
      </>
    ),
  }
}
