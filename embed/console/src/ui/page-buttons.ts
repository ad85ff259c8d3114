import type { PaginationProps } from 'antd'
import { cloneElement, isValidElement } from 'react'
import { t } from '../i18n'

// pageButtons names the paging buttons of a list.
export const pageButtons: PaginationProps['itemRender'] = (_, kind, item) =>
  (kind === 'prev' || kind === 'next') && isValidElement<{ 'aria-label'?: string }>(item) ? cloneElement(item, { 'aria-label': t(`page.${kind}`) }) : item
