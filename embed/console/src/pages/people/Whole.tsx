import { MoreOutlined } from '@ant-design/icons'
import { Button, Dropdown } from 'antd'
import { useRef } from 'react'
import { download, save } from '../../api/request'
import { useAccount } from '../../app/account'
import { t } from '../../i18n'
import { selecting } from './asked'
import type { Realm } from './realm'

type Props = { realm: Realm; params: URLSearchParams; onImport: () => void }

// Whole is the menu of the whole list: import and export. The page has the drawer of the
// import, since this menu is rendered again when the width of the window changes.
export function Whole({ realm, params, onImport }: Props) {
  const { may } = useAccount()
  const menu = useRef<HTMLButtonElement>(null) // gets the focus back from what it opened
  // biome-ignore lint/nursery/useReactCompiler: it is read when the menu is used
  const items = [
    may(`${realm.access}.import`) && {
      key: 'import',
      label: t('people.import'),
      onClick: () => {
        menu.current?.focus()
        onImport()
      },
    },
    may(`${realm.access}.export`) && {
      key: 'export',
      label: t('people.export'),
      title: t('people.export.hint'),
      onClick: () => void exportAs(realm, params),
    },
    may(`${realm.access}.export`) && {
      key: 'semicolons',
      label: t('people.export.semicolons'),
      title: t('people.export.semicolons.hint'),
      onClick: () => void exportAs(realm, params, 'semicolon'),
    },
  ].filter((item) => item !== false)
  if (items.length === 0) return null
  return (
    <Dropdown menu={{ items }} trigger={['click']} placement="bottomRight">
      <Button ref={menu} icon={<MoreOutlined />} aria-label={t('people.whole')} title={t('people.whole')} />
    </Dropdown>
  )
}

// exportAs downloads all users that match, on all pages of the list.
async function exportAs(realm: Realm, params: URLSearchParams, separator?: 'semicolon') {
  save(await download(`${realm.path}-export`, { ...selecting(params), sorter: params.get('sorter'), separator }))
}
