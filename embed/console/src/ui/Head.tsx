import { ArrowLeftOutlined } from '@ant-design/icons'
import { Button, Flex, Typography } from 'antd'
import type { ReactNode } from 'react'
import { useNavigate } from 'react-router'

type Props = {
  title: ReactNode
  from: string // path of the list
  back: string // label of the way back to it
  children?: ReactNode // actions
}

// Head is the title of the page of one record, with the way back to the list.
export function Head({ title, from, back, children }: Props) {
  const navigate = useNavigate()
  return (
    <Flex gap={8} align="center" wrap style={{ marginBottom: 8 }}>
      <Button type="text" icon={<ArrowLeftOutlined />} aria-label={back} title={back} onClick={() => void navigate(from)} />
      <Typography.Title level={1} style={{ fontSize: 20, margin: 0, flex: '1 1 200px', minWidth: 0, overflowWrap: 'anywhere' }}>
        {title}
      </Typography.Title>
      {children}
    </Flex>
  )
}
