import { DatePicker, Flex, Select, Typography } from 'antd'
import dayjs, { type Dayjs } from 'dayjs'
import type { ReactNode } from 'react'
import type { FieldForm } from '../../api/types'
import { t } from '../../i18n'
import type { Asked } from './asked'
import { FieldFilter } from './FieldFilter'
import { sexes } from './person'

// MoreFilters are the rarely used filters.
export function MoreFilters({ list, custom, sex }: { list: Asked; custom: FieldForm[]; sex: boolean }) {
  return (
    <Flex vertical gap={12} style={{ width: 280, maxWidth: 'calc(100vw - 64px)', maxHeight: '70vh', overflowY: 'auto' }}>
      {sex && (
        <Field label={t('people.sex')}>
          <Select
            allowClear
            style={{ width: '100%' }}
            aria-label={t('people.sex')}
            placeholder={t('all')}
            value={list.params.get('sex') ?? undefined}
            onChange={(value?: string) => list.set({ sex: value })}
            options={sexes.map((value) => ({ value, label: t(`people.sex.${value}`) }))}
          />
        </Field>
      )}
      <Field label={t('created_at')}>
        <Range list={list} name="created_at[]" label={t('created_at')} />
      </Field>
      <Field label={t('people.login_time')}>
        <Range list={list} name="login_time[]" label={t('people.login_time')} />
      </Field>
      {custom
        .filter((field) => field.filterable)
        .map((field) => (
          <Field key={field.key} label={field.title}>
            <FieldFilter list={list} field={field} />
          </Field>
        ))}
    </Flex>
  )
}

function Field({ label, children }: { label: string; children: ReactNode }) {
  return (
    <div>
      <Typography.Text type="secondary" style={{ overflowWrap: 'anywhere' }}>
        {label}
      </Typography.Text>
      <div style={{ marginTop: 4 }}>{children}</div>
    </div>
  )
}

// Range converts days in the browser's time zone to timestamps for the API.
function Range({ list, name, label }: { list: Asked; name: string; label: string }) {
  const [from, to] = list.params.getAll(name).map((at: string) => dayjs(at))
  const value: [Dayjs, Dayjs] | undefined = from?.isValid() && to?.isValid() ? [from, to] : undefined
  const day = (n: number, unit: 'day' | 'month' = 'day'): [Dayjs, Dayjs] => [dayjs().subtract(n, unit), dayjs()]
  return (
    <DatePicker.RangePicker
      style={{ width: '100%' }}
      value={value}
      aria-label={label}
      placement="bottomRight"
      presets={[
        { label: t('people.today'), value: day(0) },
        { label: t('people.last_7'), value: day(6) },
        { label: t('people.last_30'), value: day(29) },
      ]}
      onChange={(days) => list.set({ [name]: days?.[0] && days[1] ? [days[0].startOf('day').toISOString(), days[1].endOf('day').toISOString()] : undefined })}
    />
  )
}
