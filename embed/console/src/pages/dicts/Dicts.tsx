import { ArrowLeftOutlined } from '@ant-design/icons'
import { Button, Empty, Flex } from 'antd'
import { lazy, Suspense, useMemo, useState } from 'react'
import { Link, useNavigate, useParams } from 'react-router'
import { post } from '../../api/request'
import type { Dict } from '../../api/types'
import { useAccount } from '../../app/account'
import { t } from '../../i18n'
import { Bar } from '../../ui/Bar'
import { useRemove } from '../../ui/useRemove'
import { useAll } from '../../ui/useAll'
import { useQueryParams } from '../../ui/useQueryParams'
import { useWider } from '../../ui/useWider'
import { DictList } from './DictList'
import { Items } from './Items'

const DictDrawer = lazy(async () => ({ default: (await import('./DictDrawer')).DictDrawer }))

// Dicts lists the dictionaries beside the items of one. A phone shows one or the other.
export function Dicts() {
  const { may } = useAccount()
  const removing = useRemove()
  const lg = useWider('lg')
  const { params, set } = useQueryParams()
  const navigate = useNavigate()
  const { rows, reload } = useAll<Dict>('/system/dict')
  const [again, setAgain] = useState(0)
  const [edited, setEdited] = useState<Dict>()
  const [open, setOpen] = useState<boolean>() // undefined until first opened
  const id = Number(useParams()['*'])
  const chosen = rows?.find((d) => d.id === id)
  const here = chosen ?? (lg && !id ? rows?.[0] : undefined)
  const address = (d?: Dict) => {
    const kept = new URLSearchParams([...params].filter(([name]) => name === 'dict' || name === 'status')).toString()
    return `/system/dict${d ? `/${d.id}` : ''}${kept ? `?${kept}` : ''}`
  }

  const list = useMemo(
    () => ({
      params,
      set,
      reload: async () => {
        setAgain((n) => n + 1)
        await reload()
      },
    }),
    [params, set, reload],
  )

  const show = (d?: Dict) => {
    setEdited(d)
    setOpen(true)
  }

  async function saved(d: Dict) {
    await reload()
    if (d.id !== here?.id) void navigate(address(d))
  }

  async function remove(d: Dict) {
    const removed = await removing({
      path: `/system/dict/${d.id}`,
      question: { title: t('dicts.delete.sure', { name: d.code }), text: t('dicts.delete.text'), ok: t('delete') },
      message: t('deleted', { name: d.code }),
      needs: ['system.dict.create'],
      undone: () => void navigate(address(d)),
      restore: async () => {
        const { code, name, type, describe, status } = d
        await saved(await post('/system/dict', { code, name, type, describe, status }))
      },
    })
    if (!removed) return
    void navigate(address())
    await reload()
  }

  const create = may('system.dict.create') ? () => show() : undefined
  return (
    <>
      <Bar title={t('menu.system.dict')} search={false} list={list} />
      {rows && (
        <Flex gap={24} align={lg ? 'flex-start' : 'stretch'} vertical={!lg}>
          {(lg || !id) && <DictList dicts={rows} here={here} address={address} onCreate={create} />}
          <div style={{ flex: 1, minWidth: 0 }}>
            {!lg && id > 0 && (
              <Link to={address()} style={{ display: 'inline-block', marginBottom: 12 }}>
                <ArrowLeftOutlined /> {t('dicts.all')}
              </Link>
            )}
            {here && <Items key={`${here.id} ${again}`} dict={here} reload={reload} onEdit={() => show(here)} onDelete={() => void remove(here)} />}
            {!here && id > 0 && (
              <Empty image={Empty.PRESENTED_IMAGE_SIMPLE} description={t('dicts.gone')}>
                <Button onClick={() => void navigate(address())}>{t('dicts.all')}</Button>
              </Empty>
            )}
          </div>
        </Flex>
      )}
      <Suspense>{open !== undefined && <DictDrawer open={open} dict={edited} onSaved={saved} onClose={() => setOpen(false)} />}</Suspense>
    </>
  )
}
