import { lazy, type ReactNode } from 'react'
import { del, Failure, post } from '../../api/request'
import type { DeliveryDetail } from '../../api/types'
import { t } from '../../i18n'
import { useAction } from '../../ui/useAction'
import { Panel, usePanel } from '../../ui/usePanel'
import type { Leave } from '../../ui/useRecord'
import { clock, host, type Webhook, type WebhookWithSecret } from './hook'

const WebhookForm = lazy(async () => ({ default: (await import('./WebhookForm')).WebhookForm }))
const CopyOnce = lazy(async () => ({ default: (await import('../../ui/CopyOnce')).CopyOnce }))
const Replay = lazy(async () => ({ default: (await import('./Replay')).Replay }))
const Resume = lazy(async () => ({ default: (await import('./Resume')).Resume }))
const DeliveryDrawer = lazy(async () => ({ default: (await import('./DeliveryDrawer')).DeliveryDrawer }))

export type Hooks = {
  edit: (hook?: Webhook) => void // creates one without
  resume: (hook: Webhook) => void
  replay: (hook: Webhook) => void
  replayEntry: (hook: Webhook, seq: number) => Promise<void>
  rotate: (hook: Webhook) => Promise<void>
  test: (hook: Webhook) => Promise<void>
  remove: (hook: Webhook, leave?: Leave) => Promise<void> // then leaves instead of reloading
  panels: ReactNode
}

// useWebhooks are the actions on webhooks, with their forms and dialogs. Failures are shown.
export function useWebhooks(reload: () => Promise<void>): Hooks {
  const { confirm, notify } = useAction()
  const form = usePanel<{ hook?: Webhook }>()
  const secret = usePanel<WebhookWithSecret>()
  const replaying = usePanel<Webhook>()
  const resuming = usePanel<Webhook>()
  const tested = usePanel<DeliveryDetail>()

  // run does something, reports it, and reloads also after a failure, which may have the
  // reason that the page shows an old state.
  async function run(act: () => Promise<unknown>, text?: string) {
    try {
      await act()
      if (text) notify(text)
    } catch (cause) {
      if (!(cause instanceof Failure)) throw cause // already shown
    }
    await reload()
  }

  return {
    edit: (hook) => form.show({ hook }),
    resume: resuming.show,
    replay: replaying.show,
    replayEntry: (hook, seq) => run(() => post(`/system/webhook/${hook.id}/replay`, { from: seq }), t('webhooks.replay.done')),
    rotate: async (hook) => {
      if (!(await confirm({ title: t('webhooks.rotate.title', { name: host(hook) }), text: t('webhooks.rotate.text'), ok: t('webhooks.rotate') }))) return
      await run(async () => secret.show(await post(`/system/webhook/${hook.id}/secret`, {})))
    },
    test: (hook) => run(async () => tested.show(await post(`/system/webhook/${hook.id}/test`))),
    remove: async (hook, leave = (remove) => remove().then(reload)) => {
      if (!(await confirm({ title: t('delete.sure', { name: host(hook) }), text: t('webhooks.delete.text'), ok: t('delete') }))) return
      await leave(async () => {
        await del(`/system/webhook/${hook.id}`)
        notify(t('deleted', { name: host(hook) }))
      })
    },
    panels: (
      <>
        <Panel of={form}>{({ hook }, open) => <WebhookForm open={open} hook={hook} onClose={form.hide} onSaved={reload} onSecret={secret.show} />}</Panel>
        <Panel of={secret}>
          {(hook, open) => (
            <CopyOnce
              open={open}
              title={t('webhooks.secret.of', { name: host(hook) })}
              label={t('webhooks.secret')}
              secret={hook.secret ?? ''}
              warning={t('webhooks.secret.once')}
              ok={t('webhooks.secret.done')}
              onClose={secret.hide}
              onClosed={secret.forget}
            >
              <p style={{ marginTop: 0 }}>
                {t('webhooks.secret.use')} {hook.previous_until && t('webhooks.secret.previous', { time: clock(hook.previous_until) })}
              </p>
            </CopyOnce>
          )}
        </Panel>
        <Panel of={replaying}>{(hook, open) => <Replay open={open} hook={hook} onClose={replaying.hide} onDone={reload} />}</Panel>
        <Panel of={resuming}>{(hook, open) => <Resume open={open} hook={hook} onClose={resuming.hide} onDone={reload} />}</Panel>
        <Panel of={tested}>
          {(delivery, open) => <DeliveryDrawer open={open} title={t('webhooks.test.done')} delivery={delivery} onClose={tested.hide} />}
        </Panel>
      </>
    ),
  }
}
