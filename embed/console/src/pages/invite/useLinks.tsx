import { lazy, type ReactNode } from 'react'
import type { OneTimeLink } from '../../api/types'
import { loadTexts } from '../../i18n'
import { Panel, usePanel } from '../../ui/usePanel'
import type { Realm } from '../people/realm'
import type { Batch } from './BatchInvite'
import type { Addressee, Purpose } from './link'

const BatchInvite = lazy(async () => ({ default: (await Promise.all([import('./BatchInvite'), loadTexts('invite')]))[0].BatchInvite }))
const LinkDialog = lazy(async () => ({ default: (await Promise.all([import('./LinkDialog'), loadTexts('invite')]))[0].LinkDialog }))
const LinkOnce = lazy(async () => ({ default: (await Promise.all([import('./LinkOnce'), loadTexts('invite')]))[0].LinkOnce }))

export type Links = {
  ask: (user: Addressee, purpose: Purpose) => void // opens the dialog that makes a link
  show: (user: Pick<Addressee, 'username'>, purpose: Purpose, link: OneTimeLink) => void // shows a new link once
  batch: (batch: Batch) => void
  panels: ReactNode
}

// useLinks makes links for others and shows them.
export function useLinks(realm: Realm, reload: () => Promise<void>): Links {
  const asked = usePanel<{ user: Addressee; purpose: Purpose }>()
  const made = usePanel<{ user: Pick<Addressee, 'username'>; purpose: Purpose; link: OneTimeLink }>()
  const batch = usePanel<Batch>()
  return {
    ask: (user, purpose) => asked.show({ user, purpose }),
    show: (user, purpose, link) => made.show({ user, purpose, link }),
    batch: batch.show,
    panels: (
      <>
        <Panel of={asked}>
          {(of, open) => (
            <LinkDialog
              open={open}
              {...of}
              realm={realm}
              onClose={asked.hide}
              onReset={() => asked.show({ user: of.user, purpose: 'reset-link' })}
              onMade={(link) => made.show({ ...of, link })}
              onDone={() => void reload()}
            />
          )}
        </Panel>
        <Panel of={made}>{(of, open) => <LinkOnce open={open} {...of} onClose={made.hide} onClosed={made.forget} />}</Panel>
        <Panel of={batch}>{(of, open) => <BatchInvite open={open} {...of} realm={realm} onClose={batch.hide} onDone={reload} />}</Panel>
      </>
    ),
  }
}
