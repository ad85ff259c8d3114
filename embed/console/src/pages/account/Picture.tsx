import { Button, Flex } from 'antd'
import { lazy, Suspense, useState } from 'react'
import type { User } from '../../api/types'
import { loadTexts, t } from '../../i18n'
import { Face } from '../../ui/Face'

const Crop = lazy(async () => ({ default: (await Promise.all([import('./Crop'), loadTexts('overlays')]))[0].Crop }))

// Picture shows and changes the user's photo.
export function Picture({ user, onChange }: { user: User; onChange: () => Promise<void> }) {
  const [open, setOpen] = useState(false)
  const [asked, setAsked] = useState(false)
  return (
    <Flex vertical gap={12} align="center" className="own-picture" style={{ minWidth: 160 }}>
      <Face of={user} size={128} />
      <Button
        onClick={() => {
          setAsked(true)
          setOpen(true)
        }}
      >
        {t('picture.change')}
      </Button>
      <Suspense>{asked && <Crop open={open} onClose={() => setOpen(false)} onChange={onChange} />}</Suspense>
    </Flex>
  )
}
