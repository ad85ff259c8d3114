import { Button, Empty, Flex, Pagination, Select, Tag, theme } from 'antd'
import { useCallback, useMemo, useState } from 'react'
import { Link } from 'react-router'
import type { Dict } from '../../api/types'
import { t } from '../../i18n'
import { CreateButton } from '../../ui/CreateButton'
import { Find } from '../../ui/Find'
import { useQueryParams } from '../../ui/useQueryParams'
import { useWider } from '../../ui/useWider'
import { folded, has } from '../../ui/fold'

const most = 50 // per page

type Props = { dicts: Dict[]; here: Dict | undefined; address: (d: Dict) => string; onCreate?: () => void }

export function DictList({ dicts, here, address, onCreate }: Props) {
  const lg = useWider('lg')
  const { params, set } = useQueryParams()
  const search = params.get('dict') ?? ''
  const status = params.get('status') ?? ''
  const [turned, setTurned] = useState<{ to: number; of: Dict[] }>()
  const find = useCallback((dict: string) => set({ dict }), [set])

  const found = useMemo(() => {
    const text = folded(search)
    return dicts.filter((d) => (!status || String(d.status) === status) && has(text, d.code, d.name, d.describe))
  }, [dicts, search, status])
  const at = here ? found.indexOf(here) : 0
  const page = turned?.of === found ? turned.to : Math.floor(Math.max(at, 0) / most) + 1

  const nothing =
    dicts.length === 0 ? (
      <Empty image={Empty.PRESENTED_IMAGE_SIMPLE} description={t('dicts.empty')}>
        {onCreate && <CreateButton onClick={onCreate}>{t('dicts.create')}</CreateButton>}
      </Empty>
    ) : (
      <Empty image={Empty.PRESENTED_IMAGE_SIMPLE} description={t('empty.narrowed')}>
        <Button onClick={() => set({ dict: undefined, status: undefined })}>{t('empty.clear')}</Button>
      </Empty>
    )
  return (
    <Flex vertical gap={8} style={lg ? { width: 280, flex: 'none' } : undefined}>
      <Find label={t('dicts.find')} value={search} onChange={find} />
      <Flex gap={8}>
        <Select
          allowClear
          style={{ flex: 1, minWidth: 0 }}
          aria-label={t('status')}
          placeholder={t('status')}
          value={status || undefined}
          onChange={(to?: string) => set({ status: to })}
          options={[
            { value: '1', label: t('enabled') },
            { value: '0', label: t('disabled') },
          ]}
        />
        {onCreate && dicts.length > 0 && <CreateButton onClick={onCreate}>{t('dicts.create')}</CreateButton>}
      </Flex>
      <nav aria-label={t('menu.system.dict')}>
        {found.slice((page - 1) * most, page * most).map((d) => (
          <Entry key={d.id} dict={d} to={address(d)} here={d === here} />
        ))}
      </nav>
      {found.length === 0 && nothing}
      {found.length > most && (
        <Pagination
          simple
          size="small"
          align="center"
          current={page}
          pageSize={most}
          total={found.length}
          showSizeChanger={false}
          onChange={(to) => setTurned({ to, of: found })}
        />
      )}
    </Flex>
  )
}

function Entry({ dict: d, to, here }: { dict: Dict; to: string; here: boolean }) {
  const { token } = theme.useToken()
  const line = { overflow: 'hidden', textOverflow: 'ellipsis', whiteSpace: 'nowrap', minWidth: 0 } as const
  return (
    <Link
      to={to}
      aria-current={here ? 'page' : undefined}
      style={{
        display: 'flex',
        gap: 8,
        alignItems: 'center',
        padding: '8px 12px',
        borderRadius: token.borderRadius,
        color: token.colorText,
        background: here ? token.controlItemBgActive : undefined,
      }}
    >
      <span style={{ flex: 1, minWidth: 0 }}>
        <bdi style={{ ...line, display: 'block', fontWeight: here ? 600 : undefined }} title={d.name}>
          {d.name}
        </bdi>
        <span
          style={{ ...line, display: 'block', fontSize: 12, fontFamily: 'ui-monospace, monospace', color: here ? token.colorText : token.colorTextSecondary }}
          title={d.code}
        >
          {d.code}
        </span>
      </span>
      {d.public === 1 && <Tag title={t('dicts.public.text')}>{t('dicts.public')}</Tag>}
      {d.status === 0 && <Tag>{t('disabled')}</Tag>}
    </Link>
  )
}
