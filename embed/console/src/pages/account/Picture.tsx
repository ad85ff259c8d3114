import { Avatar, Button, Flex } from 'antd'
import { lazy, Suspense, useState } from 'react'
import type { User } from '../../api/types'
import { t } from '../../i18n'

const Crop = lazy(async () => ({ default: (await import('./Crop')).Crop }))

// Picture is somebody's own picture, with the way to another one.
export function Picture({ user, onChange }: { user: User; onChange: () => Promise<void> }) {
  const [open, setOpen] = useState(false)
  const [asked, setAsked] = useState(false)
  return (
    <Flex vertical gap={12} align="center" style={{ minWidth: 160 }}>
      <Avatar size={128} src={user.avatar_url || undefined} alt="" style={{ fontSize: 48 }}>{[...(user.nickname || user.username)][0]}</Avatar>
      <Button onClick={() => { setAsked(true); setOpen(true) }}>{t('picture.change')}</Button>
      <Suspense>{asked && <Crop open={open} onClose={() => setOpen(false)} onChange={onChange} />}</Suspense>
    </Flex>
  )
}
