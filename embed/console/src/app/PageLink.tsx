import { ExportOutlined } from '@ant-design/icons'
import type { ReactNode } from 'react'
import { Link } from 'react-router'
import type { PermissionNode } from '../api/types'
import { t } from '../i18n'

type Props = { node: PermissionNode; tabIndex?: number; children: ReactNode }

// PageLink is the link of a menu entry: to its page in the console, or to its URL, with a TabMark as
// part of its children if that opens in a new tab. Other sites neither learn where the link was nor get a handle of this window.
export function PageLink({ node: { url, open, path }, tabIndex, children }: Props) {
  if (!url)
    return (
      <Link to={path} tabIndex={tabIndex}>
        {children}
      </Link>
    )
  const tab = open === 'tab'
  return (
    <a href={url} target={tab ? '_blank' : undefined} rel="noopener noreferrer" referrerPolicy="no-referrer" tabIndex={tabIndex}>
      {children}
    </a>
  )
}

// TabMark marks a link that opens in a new tab.
export function TabMark() {
  return <ExportOutlined className="tab-mark" aria-label={t('menu.tab')} />
}
