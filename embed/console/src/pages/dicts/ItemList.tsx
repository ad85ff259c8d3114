import { Button, Empty, Flex, Select, type TableProps } from 'antd'
import { lazy, Suspense, useCallback, useMemo, useState } from 'react'
import { post } from '../../api/request'
import type { Dict, DictItem } from '../../api/types'
import { useAccount } from '../../app/account'
import { t } from '../../i18n'
import { CreateButton } from '../../ui/CreateButton'
import { Actions, actionsColumn } from '../../ui/Actions'
import { Find } from '../../ui/Find'
import { count } from '../../ui/format'
import { Nothing } from '../../ui/Nothing'
import { Records } from '../../ui/Records'
import { pageButtons } from '../../ui/page-buttons'
import { Toggle } from '../../ui/Toggle'
import { useAction } from '../../ui/useAction'
import { useRemove } from '../../ui/useRemove'
import { useQueryParams } from '../../ui/useQueryParams'
import { useWider } from '../../ui/useWider'
import { wide } from '../../ui/Wide'
import { Shown } from './Shown'
import type { useItems } from './useItems'
import { useArrows } from './useArrows'
import { folded, has } from '../../ui/fold'

const ItemDrawer = lazy(async () => ({ default: (await import('./ItemDrawer')).ItemDrawer }))

// ItemList shows the items of a dictionary, with search, filter and paging.
export function ItemList({ dict, items }: { dict: Dict; items: ReturnType<typeof useItems> }) {
  const { may } = useAccount()
  const { notify } = useAction()
  const removing = useRemove()
  const { params, set } = useQueryParams()
  const [edited, setEdited] = useState<DictItem>()
  const [open, setOpen] = useState<boolean>() // undefined until first opened
  const search = params.get('item') ?? ''
  const on = params.get('switch') ?? ''
  const size = Number(params.get('pageSize')) || 20
  const page = Number(params.get('page')) || 1
  const find = useCallback((item: string) => set({ item, page: undefined }), [set])
  const rows = items.rows
  const path = `/system/dict/${dict.id}/item` as const
  const change = may('system.dict.item.update')

  const found = useMemo(() => {
    const text = folded(search)
    return rows?.filter((i) => (!on || String(i.switch) === on) && has(text, i.label, i.value))
  }, [rows, search, on])
  const narrowed = search.trim() !== '' || on !== ''
  const clear = () => set({ item: undefined, switch: undefined, page: undefined })

  const show = (item?: DictItem) => {
    setEdited(item)
    setOpen(true)
  }

  async function turn(item: DictItem, to: boolean) {
    const stored = await items.change(item, { switch: to ? 1 : 0 })
    notify(t(to ? 'dicts.item.on' : 'dicts.item.off', { name: item.label }), async () => void (await items.change(stored, { switch: item.switch })))
  }

  async function remove(item: DictItem) {
    const removed = await removing({
      path: `${path}/${item.id}`,
      question: { title: t('dicts.item.delete.sure', { name: item.label }), text: t('dicts.item.delete.text', { value: item.value }), ok: t('delete') },
      message: t('deleted', { name: item.label }),
      needs: ['system.dict.item.create'],
      restore: async () => {
        const { label, value, sort, switch: on, status } = item
        await post(path, { label, value, sort, switch: on, status })
        await items.reload()
      },
    })
    if (removed) await items.reload()
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
        change ? <Toggle on={state === 1} label={() => t('dicts.item.switch.of', { name: i.label })} turn={(to) => turn(i, to)} /> : t(state ? 'yes' : 'no'),
    },
    actionsColumn(
      (i) => (
        <Actions
          first={change && { label: t('edit'), onClick: () => show(i) }}
          called={t('dicts.item.edit', { name: i.label })}
          label={t('dicts.item.more', { name: i.label })}
          more={[may('system.dict.item.delete') && { label: t('delete'), danger: true, onClick: () => void remove(i) }]}
        />
      ),
      112,
    ),
  ]
  const create = may('system.dict.item.create') && <CreateButton onClick={() => show()}>{t('dicts.item.create')}</CreateButton>
  const nothing = narrowed ? (
    <Empty image={Empty.PRESENTED_IMAGE_SIMPLE} description={t('empty.narrowed')}>
      <Button onClick={clear}>{t('empty.clear')}</Button>
    </Empty>
  ) : (
    <Nothing why={t('dicts.item.empty')} create={create} />
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
          itemRender: pageButtons,
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
