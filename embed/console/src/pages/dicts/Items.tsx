import { ArrowDownOutlined, ArrowUpOutlined, CodeOutlined, DeleteOutlined, EditOutlined, PlusOutlined } from '@ant-design/icons'
import { App, Button, Empty, Flex, Select, Switch, type TableProps, Tag, theme, Typography } from 'antd'
import { lazy, Suspense, useCallback, useEffect, useMemo, useRef, useState } from 'react'
import { del, post, put } from '../../api/request'
import type { Dict, DictItem } from '../../api/types'
import { useAccount } from '../../app/account'
import { type Key, t } from '../../i18n'
import { Actions } from '../../ui/Actions'
import { Find } from '../../ui/Find'
import { count } from '../../ui/format'
import { Records } from '../../ui/Records'
import { turns } from '../../ui/turns'
import { useAct } from '../../ui/useAct'
import { useParts } from '../../ui/useParts'
import { useWider } from '../../ui/useWider'
import { wide } from '../../ui/Wide'
import { Shown } from './Shown'
import { useItems } from './useItems'

const ItemDrawer = lazy(async () => ({ default: (await import('./ItemDrawer')).ItemDrawer }))
const Clients = lazy(async () => ({ default: (await import('./Clients')).Clients }))

type Props = { dict: Dict; reload: () => Promise<void>; onEdit: () => void; onDelete: () => void }

// Items is one dictionary with what is in it.
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
          <Switch
            size="small"
            aria-label={t('dicts.enabled', { name: dict.code })}
            title={t(dict.status ? 'enabled' : 'disabled')}
            checked={dict.status === 1}
            onChange={(on) => void turn(on)}
          />
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
        <Listed dict={dict} items={items} />
      ) : (
        <Typography.Paragraph style={{ margin: '16px 0 0' }}>{t('state.forbidden.missing', { permission: 'system.dict.item.query' })}</Typography.Paragraph>
      )}
      <Suspense>{told && <Clients dict={dict} onClose={() => setTold(false)} />}</Suspense>
    </section>
  )
}

function Listed({ dict, items }: { dict: Dict; items: ReturnType<typeof useItems> }) {
  const { may } = useAccount()
  const { sure, done } = useAct()
  const { params, set } = useParts()
  const [edited, setEdited] = useState<DictItem>()
  const [open, setOpen] = useState<boolean>() // undefined until it is first asked for
  const search = params.get('item') ?? ''
  const on = params.get('switch') ?? ''
  const size = Number(params.get('pageSize')) || 20
  const page = Number(params.get('page')) || 1
  const find = useCallback((item: string) => set({ item, page: undefined }), [set])
  const rows = items.rows
  const path = `/system/dict/${dict.id}/item` as const
  const change = may('system.dict.item.update')

  const found = useMemo(() => {
    const text = search.trim().toLowerCase()
    return rows?.filter((i) => (!on || String(i.switch) === on) && (i.label.toLowerCase().includes(text) || i.value.toLowerCase().includes(text)))
  }, [rows, search, on])
  const narrowed = search.trim() !== '' || on !== ''
  const clear = () => set({ item: undefined, switch: undefined, page: undefined })

  const show = (item?: DictItem) => {
    setEdited(item)
    setOpen(true)
  }

  async function turn(item: DictItem, to: boolean) {
    const stored = await items.change(item, { switch: to ? 1 : 0 })
    done(t(to ? 'dicts.item.on' : 'dicts.item.off', { name: item.label }), async () => void (await items.change(stored, { switch: item.switch })))
  }

  async function remove(item: DictItem) {
    if (!(await sure({ title: t('dicts.item.delete.sure', { name: item.label }), text: t('dicts.item.delete.text', { value: item.value }), ok: t('delete') })))
      return
    await del(`${path}/${item.id}`)
    done(t('deleted', { name: item.label }), async () => {
      const { label, value, sort, switch: on, status } = item
      await post(path, { label, value, sort, switch: on, status })
      await items.reload()
    })
    await items.reload()
  }

  const { arrows, refs } = useArrows(items, (at) => set({ page: String(Math.floor(at / size) + 1) }))
  const sm = useWider('sm')
  const columns: NonNullable<TableProps<DictItem>['columns']> = [
    {
      title: t('sort'),
      dataIndex: 'sort',
      width: 128,
      render: (sort: number, item) =>
        change && !narrowed && (rows?.length ?? 0) > 1 ? (
          <Flex align="center" gap={8}>
            {arrows(item)} {sort}
          </Flex>
        ) : (
          sort
        ),
    },
    {
      title: t('dicts.item.shown'),
      key: 'shown',
      render: (_, i) => (
        <div style={{ minWidth: 96, maxWidth: 320 }}>
          <Shown type={dict.type} status={i.status} label={i.label} />
        </div>
      ),
    },
    {
      title: t('dicts.item.value'),
      dataIndex: 'value',
      render: (value: string) => (
        <div style={{ minWidth: 64, maxWidth: 320, overflowWrap: 'anywhere' }}>
          <bdi style={{ fontFamily: 'ui-monospace, monospace' }}>{value}</bdi>
        </div>
      ),
    },
    {
      title: t('enabled'),
      dataIndex: 'switch',
      width: 120,
      render: (state: number, i) =>
        change ? (
          <Switch size="small" checked={state === 1} aria-label={t('dicts.item.switch.of', { name: i.label })} onChange={(to) => void turn(i, to)} />
        ) : (
          t(state ? 'yes' : 'no')
        ),
    },
    {
      title: t('actions'),
      key: 'actions',
      align: 'end',
      fixed: 'end',
      width: 112,
      render: (_, i) => (
        <Actions
          first={change && { label: t('edit'), onClick: () => show(i) }}
          called={t('dicts.item.edit', { name: i.label })}
          label={t('dicts.item.more', { name: i.label })}
          more={[may('system.dict.item.delete') && { label: t('delete'), danger: true, onClick: () => void remove(i) }]}
        />
      ),
    },
  ]
  const create = may('system.dict.item.create') && (
    <Button type="primary" icon={<PlusOutlined />} onClick={() => show()}>
      {t('dicts.item.create')}
    </Button>
  )
  const nothing = narrowed ? (
    <Empty image={Empty.PRESENTED_IMAGE_SIMPLE} description={t('empty.narrowed')}>
      <Button onClick={clear}>{t('empty.clear')}</Button>
    </Empty>
  ) : (
    <Empty image={Empty.PRESENTED_IMAGE_SIMPLE} description={t('dicts.item.empty')} />
  )
  return (
    <div ref={refs}>
      <Flex gap={8} wrap style={{ margin: '16px 0' }}>
        <div style={{ width: 240, maxWidth: '100%' }}>
          <Find label={t('dicts.item.find')} value={search} onChange={find} />
        </div>
        <Select
          allowClear
          style={{ width: 160 }}
          aria-label={t('dicts.items.status')}
          placeholder={t('status')}
          value={on || undefined}
          onChange={(to?: string) => set({ switch: to, page: undefined })}
          options={[
            { value: '1', label: t('enabled') },
            { value: '0', label: t('disabled') },
          ]}
        />
        <span style={{ flex: 1 }} />
        {create}
      </Flex>
      <span aria-live="polite" style={{ position: 'absolute', width: 1, height: 1, overflow: 'hidden', clipPath: 'inset(50%)' }}>
        {items.said}
      </span>
      <Records<DictItem>
        rowKey="id"
        size="middle"
        columns={sm ? columns : [columns[1]!, columns[0]!, ...columns.slice(2)]}
        dataSource={found}
        loading={items.loading && { delay: 200 }}
        {...wide}
        locale={{ emptyText: found ? nothing : ' ' }}
        pagination={{
          itemRender: turns,
          current: page,
          pageSize: size,
          showSizeChanger: true,
          pageSizeOptions: [10, 20, 50, 100],
          responsive: true,
          hideOnSinglePage: (found?.length ?? 0) <= 10,
          showTotal: (n) => t('total', { n: count(n) }),
          onChange: (to, of) => set({ page: to > 1 ? String(to) : undefined, pageSize: of === 20 ? undefined : String(of) }),
        }}
      />
      <Suspense>
        {open !== undefined && (
          <ItemDrawer open={open} dict={dict} item={edited} next={(rows?.at(-1)?.sort ?? 0) + 10} onSaved={items.reload} onClose={() => setOpen(false)} />
        )}
      </Suspense>
    </div>
  )
}

// useArrows are the buttons that move an item. The one that was pressed keeps the focus
// wherever its item goes, so that it can be pressed again.
function useArrows(items: ReturnType<typeof useItems>, onPlaced: (at: number) => void) {
  const refs = useRef<HTMLDivElement>(null)
  const pressed = useRef<string>(undefined)
  useEffect(() => {
    if (!pressed.current) return
    refs.current?.querySelector<HTMLElement>(`[data-move="${pressed.current}"]`)?.focus()
    pressed.current = undefined
  })
  const places = useMemo(() => new Map(items.rows?.map((item, at) => [item.id, at])), [items.rows])
  const arrow = (item: DictItem, by: 1 | -1) => {
    const to = (places.get(item.id) ?? 0) + by
    const name = `${item.id} ${by}`
    return (
      <Button
        type="text"
        size="small"
        data-move={name}
        icon={by < 0 ? <ArrowUpOutlined /> : <ArrowDownOutlined />}
        aria-disabled={to < 0 || to >= places.size}
        style={to < 0 || to >= places.size ? { opacity: 0.3 } : undefined}
        aria-label={t(by < 0 ? 'dicts.up' : 'dicts.down', { name: item.label })}
        onClick={() => {
          if (to < 0 || to >= places.size) return
          pressed.current = name
          onPlaced(to)
          void items.place(item, to)
        }}
      />
    )
  }
  return {
    refs,
    arrows: (item: DictItem) => (
      <Flex>
        {arrow(item, -1)}
        {arrow(item, 1)}
      </Flex>
    ),
  }
}
