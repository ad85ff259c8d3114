import { TreeSelect } from 'antd'
import type { DeptNode } from '../api/types'
import { useAccount } from '../app/account'
import { t } from '../i18n'
import { useGet } from './useGet'

type Props = { id?: string; value?: number; onChange?: (id: number) => void }

// DeptPick chooses a department in a form, 0 for none. Without permission to see
// departments it can't be changed.
export function DeptPick({ id, value, onChange }: Props) {
  const { may } = useAccount()
  const { data } = useGet(may('admin.dept.query') ? '/admin/dept' : '')
  return (
    <TreeSelect<number, DeptNode>
      id={id}
      allowClear
      disabled={!data}
      showSearch={{ treeNodeFilterProp: 'name' }}
      placeholder={t('none')}
      treeData={data?.data}
      fieldNames={{ label: 'name', value: 'id', children: 'children' }}
      value={value || undefined}
      onChange={(chosen?: number) => onChange?.(chosen ?? 0)}
    />
  )
}
