import { Select } from 'antd'
import { t } from '../i18n'
import type { useTable } from './useTable'

type Props = { list: Pick<ReturnType<typeof useTable<never>>, 'params' | 'set'>; width?: number }

// StatusFilter narrows a list to enabled or disabled records.
export function StatusFilter({ list, width = 120 }: Props) {
  return (
    <Select
      allowClear
      style={{ width }}
      placeholder={t('status')}
      aria-label={t('status')}
      value={list.params.get('status') ?? undefined}
      onChange={(status?: string) => list.set({ status })}
      options={[
        { value: '1', label: t('enabled') },
        { value: '0', label: t('disabled') },
      ]}
    />
  )
}
