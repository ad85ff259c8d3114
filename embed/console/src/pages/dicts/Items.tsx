import { CodeOutlined, DeleteOutlined, EditOutlined } from '@ant-design/icons'
import { App, Button, Flex, Tag, theme, Typography } from 'antd'
import { lazy, Suspense, useState } from 'react'
import { put } from '../../api/request'
import type { Dict } from '../../api/types'
import { useAccount } from '../../app/account'
import { type Key, t } from '../../i18n'
import { count } from '../../ui/format'
import { Toggle } from '../../ui/Toggle'
import { ItemList } from './ItemList'
import { useItems } from './useItems'

const Clients = lazy(async () => ({ default: (await import('./Clients')).Clients }))

type Props = { dict: Dict; reload: () => Promise<void>; onEdit: () => void; onDelete: () => void }

// Items is one dictionary with its items.
export function Items({ dict, reload, onEdit, onDelete }: Props) {
  const { may } = useAccount()
  const { message } = App.useApp()
  const { token } = theme.useToken()
  const seen = may('system.dict.item.query')
  const items = useItems(seen ? `/system/dict/${dict.id}/item` : '')
  const [told, setTold] = useState(false)

  async function turn(on: boolean) {
    try {
      await put(`/system/dict/${dict.id}`, { status: on, updated_at: dict.updated_at })
    } finally {
      await reload()
    }
  }

  const remove = () => {
    if (items.rows?.length) void message.warning(t('dicts.full', { n: count(items.rows.length) }))
    else onDelete()
  }
  return (
    <section
      aria-labelledby="dict"
      style={{ background: token.colorBgContainer, borderRadius: token.borderRadiusLG, border: `1px solid ${token.colorBorderSecondary}`, padding: 16 }}
    >
      <Flex gap={8} align="center" wrap>
        <Typography.Title level={2} id="dict" dir="auto" style={{ fontSize: 16, margin: 0, overflowWrap: 'anywhere', minWidth: 0 }}>
          {dict.name}
        </Typography.Title>
        <Tag>{t(`dicts.type.${dict.type}` as Key)}</Tag>
        {may('system.dict.update') ? (
          <Toggle on={dict.status === 1} label={() => t('dicts.enabled', { name: dict.code })} title={(on) => t(on ? 'enabled' : 'disabled')} turn={turn} />
        ) : (
          dict.status === 0 && <Tag>{t('disabled')}</Tag>
        )}
        <span style={{ flex: 1 }} />
        <Flex gap={8} wrap>
          <Button size="small" icon={<CodeOutlined />} onClick={() => setTold(true)}>
            {t('dicts.clients')}
          </Button>
          {may('system.dict.update') && (
            <Button size="small" icon={<EditOutlined />} onClick={onEdit}>
              {t('edit')}
            </Button>
          )}
          {may('system.dict.delete') && (
            <Button size="small" icon={<DeleteOutlined />} onClick={remove}>
              {t('delete')}
            </Button>
          )}
        </Flex>
      </Flex>
      <Typography.Text type="secondary" style={{ fontFamily: 'ui-monospace, monospace', fontSize: 12, overflowWrap: 'anywhere' }}>
        {dict.code}
      </Typography.Text>
      {dict.describe && (
        <Typography.Paragraph type="secondary" dir="auto" style={{ whiteSpace: 'pre-line', overflowWrap: 'anywhere', margin: '4px 0 0' }}>
          {dict.describe}
        </Typography.Paragraph>
      )}
      {dict.status === 0 && <Typography.Paragraph style={{ margin: '8px 0 0' }}>{t('dicts.disabled.text')}</Typography.Paragraph>}
      {seen ? (
        <ItemList dict={dict} items={items} />
      ) : (
        <Typography.Paragraph style={{ margin: '16px 0 0' }}>{t('state.forbidden.missing', { permission: 'system.dict.item.query' })}</Typography.Paragraph>
      )}
      <Suspense>{told && <Clients dict={dict} onClose={() => setTold(false)} />}</Suspense>
    </section>
  )
}
