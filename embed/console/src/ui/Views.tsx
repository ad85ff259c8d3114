import { Button, Dropdown, Form, Input, type MenuProps } from 'antd'
import { useEffect, useRef, useState } from 'react'
import { del, post, put } from '../api/request'
import type { View } from '../api/types'
import { useAccount } from '../app/account'
import { t } from '../i18n'
import { layoutOf } from './layout'
import type { Props as MenuOf } from './ListMenu'
import { Question } from './Question'
import { useAction } from './useAction'
import { useGet } from './useGet'
import { differs, layoutIn, paramsTo, queryOf, sizeIn, stateOf } from './views'

type Props = { list: MenuOf['list']; menu: boolean; onClose: () => void }

// The ID of the view that a list shows is kept for the tab, so that a reload keeps its name.
const keyOf = (path: string) => `view ${path}`

// Views are the saved views of a list: a menu with the name of the one that is shown.
export function Views({ list, menu: asked }: Props) {
  const { may, reload: reloadAccount } = useAccount()
  const { confirm, notify } = useAction()
  const { data, refresh } = useGet('/admin/view', { list: list.path, pageSize: '100' }, false)
  const [open, setOpen] = useState(asked)
  const [active, setActive] = useState(() => Number(sessionStorage.getItem(keyOf(list.path))))
  const [naming, setNaming] = useState<'save' | 'rename'>()
  const button = useRef<HTMLButtonElement>(null)
  const begun = useRef(false)

  const views = data?.data ?? []
  const current = views.find((view) => view.id === active)
  const now = stateOf(list.search, list.layout)
  const saved = { ...now, page_size: sizeIn(list.search) }
  const changed = current && differs(current, now)

  const mark = (id: number) => {
    setActive(id)
    if (id) sessionStorage.setItem(keyOf(list.path), String(id))
    else sessionStorage.removeItem(keyOf(list.path))
  }

  const apply = (view?: View) => {
    mark(view?.id ?? 0)
    list.setLayout(view ? layoutIn(view) : layoutOf(list.path))
    list.set(paramsTo(list.search, view?.query ?? '', view?.page_size))
  }

  // The list opens with the default if its URL asks for nothing, and else with the columns of the view that it had.
  useEffect(() => {
    if (!data || begun.current) return
    begun.current = true
    const chosen = data.data.find((view) => view.default)
    // biome-ignore lint/nursery/useReactCompiler: the list follows views that have arrived
    if (!queryOf(list.search) && chosen && !asked) apply(chosen)
    else if (current) list.setLayout(layoutIn(current))
    else if (active) mark(0)
  })

  useEffect(() => {
    if (asked) button.current?.focus()
  }, [asked])

  const done = async (run: Promise<unknown>) => {
    await run
    await refresh()
    notify(t('saved'))
  }

  const items: Required<MenuProps>['items'] = [
    { key: '0', label: t('views.none'), onClick: () => apply() },
    ...views.map((view) => ({
      key: String(view.id),
      label: <bdi>{view.shared ? t('views.shared', { name: view.name }) : view.name}</bdi>,
      onClick: () => apply(view),
    })),
    { type: 'divider' },
    { key: 'save', label: t('views.save'), onClick: () => setNaming('save') },
  ]
  if (current) {
    const path = `/admin/view/${current.id}` as const
    if (current.writable) {
      if (changed) items.push({ key: 'update', label: t('views.update', { name: current.name }), onClick: () => void done(put(path, saved)) })
      items.push({ key: 'rename', label: t('views.rename'), onClick: () => setNaming('rename') })
    }
    if (may('admin.view.share')) {
      const shared = current.shared ? 0 : 1
      items.push({ key: 'share', label: t(shared ? 'views.share' : 'views.unshare'), onClick: () => void done(put(`${path}/share`, { shared })) })
    }
    const chosen = current.default ? 0 : 1
    items.push({
      key: 'default',
      label: t(chosen ? 'views.default' : 'views.undefault'),
      onClick: () => void done(post(`${path}/default`, { default: chosen }).then(reloadAccount)),
    })
    if (current.writable) {
      items.push({
        key: 'delete',
        danger: true,
        label: t('delete'),
        onClick: () =>
          void (async () => {
            const text = current.shared ? t('views.delete.shared') : undefined
            if (!(await confirm({ title: t('views.delete.title', { name: current.name }), text, ok: t('delete') }))) return
            await del(path)
            mark(0)
            await refresh()
            notify(t('deleted', { name: current.name }))
          })(),
      })
    }
  }

  const shown = current && (changed ? t('views.changed', { name: current.name }) : current.name)
  return (
    <>
      <Dropdown
        autoFocus
        trigger={['click']}
        open={open && data !== undefined}
        onOpenChange={setOpen}
        menu={{ items, selectedKeys: [String(current?.id ?? 0)], style: { maxHeight: '60vh', overflow: 'auto' } }}
      >
        <Button ref={button} title={t('views.hint')} aria-label={shown ? `${t('list.views')}: ${shown}` : t('list.views')} aria-expanded={open}>
          <span style={{ maxWidth: 200, overflow: 'hidden', textOverflow: 'ellipsis' }}>
            <bdi>{shown ?? t('list.views')}</bdi>
          </span>
        </Button>
      </Dropdown>
      <Question<{ name: string }>
        open={naming !== undefined}
        title={t(naming === 'rename' ? 'views.rename.title' : 'views.save.title')}
        ok={t('save')}
        name="view"
        initial={{ name: naming === 'rename' ? current?.name : '' }}
        onClose={() => setNaming(undefined)}
        onClosed={() => button.current?.focus()}
        run={async ({ name }) => {
          if (naming === 'rename') await put(`/admin/view/${active}`, { name }, { quiet: true })
          else mark((await post('/admin/view', { list: list.path, name, ...saved }, { quiet: true })).id)
          await refresh()
          notify(t('views.saved'))
        }}
      >
        <Form.Item name="name" label={t('name')} rules={[{ required: true, message: t('form.required') }]}>
          <Input maxLength={64} />
        </Form.Item>
      </Question>
    </>
  )
}
