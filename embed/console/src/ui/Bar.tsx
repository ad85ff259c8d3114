import { ReloadOutlined, SearchOutlined } from '@ant-design/icons'
import { Button, Flex, Input, Typography } from 'antd'
import { type ReactNode, useEffect, useState } from 'react'
import { t } from '../i18n'

type List = { params: URLSearchParams; set: (values: Record<string, string | undefined>) => void; reload: () => Promise<void> }

// Bar stands above a list: its title, unless something above says that already, the
// search, filters and actions.
export function Bar({ title, list, search = true, children }: { title?: string; list: List; search?: boolean; children?: ReactNode }) {
  return (
    <Flex wrap gap={8} align="center" style={{ marginBottom: 16 }}>
      {title === undefined ? <span style={{ flex: '1 1 auto' }} /> : <Typography.Title level={1} style={{ fontSize: 20, margin: 0, flex: '1 1 auto' }}>{title}</Typography.Title>}
      {search && <Search list={list} />}
      {children}
      <Button icon={<ReloadOutlined />} aria-label={t('reload')} title={t('reload')} onClick={() => void list.reload()} />
    </Flex>
  )
}

// Search asks once somebody stops typing.
function Search({ list }: { list: List }) {
  const asked = list.params.get('keywordSearch') ?? ''
  const [text, setText] = useState(asked)
  useEffect(() => setText(asked), [asked])
  useEffect(() => {
    if (text === asked) return
    const wait = setTimeout(() => list.set({ keywordSearch: text || undefined }), 250)
    return () => clearTimeout(wait)
  }, [text, asked, list])
  return (
    <Input
      data-search allowClear prefix={<SearchOutlined />} style={{ width: 240, maxWidth: '100%' }} aria-label={t('search')} placeholder={t('search')}
      value={text} onChange={(e) => setText(e.target.value)}
    />
  )
}
