import { BellOutlined } from '@ant-design/icons'
import { Button, Dropdown } from 'antd'
import { useState } from 'react'
import { loadTexts, t } from '../i18n'
import { late } from './late'
import { useNotices } from './notices'

const BellPanel = late(async () => (await Promise.all([import('./BellPanel'), loadTexts('factor', 'info', 'overlays')]))[0].BellPanel)

// Bell says how many kinds of notices there are, and opens them.
export function Bell() {
  const notices = useNotices()
  const [open, setOpen] = useState(false)
  const n = notices.lines.length
  const label = n ? t('notices.n', { n }) : t('notices')
  return (
    <Dropdown
      trigger={['click']}
      placement="bottomRight"
      open={open}
      onOpenChange={setOpen}
      popupRender={() => <BellPanel {...notices} onClose={() => setOpen(false)} />}
    >
      <Button
        type="text"
        className="bell"
        icon={
          <>
            <BellOutlined />
            {n > 0 && <span className="bell-count" data-n={n} />}
          </>
        }
        aria-label={label}
        title={label}
        aria-expanded={open}
      />
    </Dropdown>
  )
}
