import { TreeSelect } from 'antd'
import { t } from '../../i18n'
import { marked } from '../../ui/offered'
import { byText } from '../../ui/fold'

type Dept = { id: number; name: string; status: number; children?: Dept[] }

// DeptSelect filters users by department where there is no room for the tree.
export function DeptSelect({ depts, value, onChange }: { depts?: Dept[]; value?: string; onChange: (id?: string) => void }) {
  return (
    <TreeSelect<number, Dept>
      allowClear
      showSearch={byText('name')}
      style={{ width: 200, maxWidth: '100%' }}
      placeholder={t('people.dept')}
      aria-label={t('people.dept')}
      treeData={depts}
      treeTitleRender={marked}
      fieldNames={{ label: 'name', value: 'id', children: 'children' }}
      value={value ? Number(value) : undefined}
      onChange={(id?: number) => onChange(id === undefined ? undefined : String(id))}
    />
  )
}
