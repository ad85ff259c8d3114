import { Button, Drawer, Empty, Flex, Skeleton } from 'antd'
import type { ReactNode } from 'react'
import { t } from '../i18n'
import { useWider } from './useWider'

type Props = {
  open: boolean
  title: string
  loading: boolean
  action?: { label: string; busy: boolean; onClick: () => void } | false
  onClose: () => void
  children?: ReactNode // absent while it loads, and if it does not exist
}

// ViewDrawer shows a record that is loaded when it opens, with an action on it.
export function ViewDrawer({ open, title, loading, action, onClose, children }: Props) {
  const md = useWider('md')
  return (
    <Drawer
      title={title}
      open={open}
      onClose={onClose}
      size={md ? 720 : '100%'}
      destroyOnHidden
      footer={
        <Flex gap={8} justify="end">
          <Button onClick={onClose}>{t('close')}</Button>
          {action && (
            <Button type="primary" loading={action.busy} onClick={action.onClick}>
              {action.label}
            </Button>
          )}
        </Flex>
      }
    >
      {children ? children : loading ? <Skeleton active title={false} /> : <Empty image={Empty.PRESENTED_IMAGE_SIMPLE} description={t('error.not_found')} />}
    </Drawer>
  )
}
