import { ArrowLeftOutlined } from '@ant-design/icons'
import { Button, Flex, Typography } from 'antd'
import type { ReactNode } from 'react'
import { useNavigate } from 'react-router'
import { t } from '../../i18n'

// Head is the title of a person's page, with the way back to the list.
export function Head({ title, from, children }: { title: ReactNode; from: string; children?: ReactNode }) {
  const navigate = useNavigate()
  return (
    <Flex gap={8} align="center" wrap style={{ marginBottom: 8 }}>
      <Button type="text" icon={<ArrowLeftOutlined />} aria-label={t('people.back')} title={t('people.back')} onClick={() => void navigate(from)} />
      <Typography.Title level={1} style={{ fontSize: 20, margin: 0, flex: '1 1 200px', minWidth: 0, overflowWrap: 'anywhere' }}>
        {title}
      </Typography.Title>
      {children}
    </Flex>
  )
}
