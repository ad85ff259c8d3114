import { type ComponentProps, lazy, Suspense } from 'react'
import { loadTexts } from '../../i18n'
import type { Inputs as All } from './Inputs'

const Inputs = lazy(async () => ({ default: (await Promise.all([import('./Inputs'), loadTexts('settings')]))[0].Inputs }))

// LazyInputs are loaded only where there are custom fields.
export function LazyInputs(props: ComponentProps<typeof All>) {
  return props.fields.length ? (
    <Suspense>
      <Inputs {...props} />
    </Suspense>
  ) : null
}
