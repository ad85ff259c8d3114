import { PlusOutlined } from '@ant-design/icons'
import { Button, Empty } from 'antd'
import type { ReactElement, ReactNode } from 'react'
import { t } from '../i18n'

// Create is the button of a list for a new record; false for users who may not create one, and for lists of events.
export type Create = ReactElement<{ children: string; onClick: () => void }> | false

// Nothing says why a list is empty, and offers to create its first record.
export function Nothing({ why, create }: { why: ReactNode; create: Create }) {
  return (
    <Empty image={Empty.PRESENTED_IMAGE_SIMPLE} description={why}>
      {create && (
        <Button icon={<PlusOutlined />} aria-label={t('empty.first', { create: create.props.children })} onClick={create.props.onClick}>
          {create.props.children}
        </Button>
      )}
    </Empty>
  )
}
