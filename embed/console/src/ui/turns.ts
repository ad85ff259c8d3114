import type { PaginationProps } from 'antd'
import { cloneElement, isValidElement } from 'react'
import { t } from '../i18n'

// turns gives the buttons that turn the pages of a list their names.
export const turns: PaginationProps['itemRender'] = (_, kind, item) =>
  (kind === 'prev' || kind === 'next') && isValidElement<{ 'aria-label'?: string }>(item) ? cloneElement(item, { 'aria-label': t(`page.${kind}`) }) : item
