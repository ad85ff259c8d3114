import { Drawer } from 'antd'
import type { PermissionNode } from '../api/types'
import { t } from '../i18n'
import { Menus } from './Menus'

type Props = { open: boolean; name: string; menus: PermissionNode[]; onClose: () => void }

// PhoneMenu is the menu on narrow screens.
export function PhoneMenu({ open, name, menus, onClose }: Props) {
  return (
    <Drawer placement="left" open={open} onClose={onClose} size={280} styles={{ body: { padding: '8px 0' } }} title={name}>
      <nav aria-label={t('menu')}>
        <Menus menus={menus} onLeave={onClose} />
      </nav>
    </Drawer>
  )
}
