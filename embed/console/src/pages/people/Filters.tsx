import { ControlOutlined } from '@ant-design/icons'
import { Button, Popover, Select } from 'antd'
import { lazy, Suspense, useState } from 'react'
import type { FieldForm } from '../../api/types'
import { t } from '../../i18n'
import { marked } from '../../ui/offered'
import { StatusFilter } from '../../ui/StatusFilter'
import { active } from '../fields/filters'
import { byLabel } from '../../ui/fold'
import type { Asked } from './asked'
import type { Realm } from './realm'

const MadeByFilter = lazy(async () => ({ default: (await import('./MadeBy')).MadeByFilter }))
const MoreFilters = lazy(async () => ({ default: (await import('./MoreFilters')).MoreFilters }))

type Props = { list: Asked; realm: Realm; roles?: { id: number; name: string; status: number }[]; custom: FieldForm[] }

// Filters of the user list; rarely used ones are behind a button that shows how many are
// active.
export function Filters({ list, realm, roles, custom }: Props) {
  const [open, setOpen] = useState(false)
  const more = ['sex', 'created_at[]', 'login_time[]'].filter((name) => list.params.has(name)).length + active(list.params)
  return (
    <>
      <StatusFilter list={list} />
      {roles && (
        <Select
          allowClear
          showSearch={byLabel}
          style={{ width: 160, maxWidth: '100%' }}
          placeholder={t('people.role')}
          aria-label={t('people.role')}
          value={list.params.get('role_id') ?? undefined}
          onChange={(role_id?: string) => list.set({ role_id })}
          options={roles.map((role) => ({ value: String(role.id), label: marked(role) }))}
        />
      )}
      {list.params.has('created_by_key') && (
        <Suspense>
          <MadeByFilter list={list} />
        </Suspense>
      )}
      <Popover
        trigger="click"
        placement="bottomRight"
        open={open}
        onOpenChange={setOpen}
        destroyOnHidden
        content={
          <Suspense fallback={t('loading')}>
            <MoreFilters list={list} custom={custom} sex={realm.sex} />
          </Suspense>
        }
      >
        <Button
          icon={<ControlOutlined />}
          aria-label={more ? t('people.filters.active', { n: more }) : t('people.filters')}
          title={t('people.filters')}
          aria-expanded={open}
          onKeyDown={(e) => {
            if (e.key === 'Escape') setOpen(false)
          }}
        >
          {more > 0 && more}
        </Button>
      </Popover>
    </>
  )
}
