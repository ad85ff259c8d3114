import { TreeSelect } from 'antd'
import { t } from '../i18n'
import { type Offered, treeOf } from './offered'
import { useChoices } from './useChoices'
import { byText } from './fold'

type Props = { id?: string; value?: number; onChange?: (id: number) => void }

// DeptPick chooses a department in a form, 0 for none. Permission to save the form is enough.
export function DeptPick({ id, value, onChange }: Props) {
  const depts = useChoices('dept')
  return (
    <TreeSelect<number, Offered>
      id={id}
      allowClear
      loading={!depts}
      showSearch={byText('name')}
      placeholder={t('none')}
      treeData={treeOf(depts)}
      fieldNames={{ label: 'name', value: 'id', children: 'children' }}
      value={value || undefined}
      onChange={(chosen?: number) => onChange?.(chosen ?? 0)}
    />
  )
}
