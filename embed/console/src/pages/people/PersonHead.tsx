import type { ReactNode } from 'react'
import { t } from '../../i18n'
import { Head as PageHead } from '../../ui/Head'

// Head is the title of a person's page, with the way back to the list.
export function Head(props: { title: ReactNode; from: string; children?: ReactNode }) {
  return <PageHead back={t('people.back')} {...props} />
}
