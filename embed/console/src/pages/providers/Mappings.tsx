import { DeleteOutlined, PlusOutlined } from '@ant-design/icons'
import { Button, Card, Flex, Input, Select, TreeSelect } from 'antd'
import { type ReactNode, useId } from 'react'
import type { Mapping } from '../../api/types'
import { t } from '../../i18n'
import { byLabel, byText } from '../../ui/fold'
import { named, type Offered, optionsOf, treeOf } from '../../ui/offered'
import { useChoices } from '../../ui/useChoices'
import { noMapping, type Realm } from './preset'

const ownerRole = 1
const most = 100

type Props = { value?: Mapping[]; onChange?: (mappings: Mapping[]) => void; realms: Realm[] }

// Mappings edits which claims give what, in a form.
export function Mappings({ value = [], onChange, realms }: Props) {
  const change = (at: number, part: Partial<Mapping>) => onChange?.(value.map((one, n) => (n === at ? { ...one, ...part } : one)))
  return (
    <Flex vertical gap={12}>
      {value.map((one, n) => (
        <One key={n} n={n + 1} of={one} realms={realms} onChange={(part) => change(n, part)} onRemove={() => onChange?.(value.filter((_, at) => at !== n))} />
      ))}
      <Button
        icon={<PlusOutlined />}
        disabled={value.length >= most}
        style={{ alignSelf: 'start' }}
        onClick={() => onChange?.([...value, { ...noMapping, claim: value.at(-1)?.claim ?? noMapping.claim }])}
      >
        {t('providers.mappings.add')}
      </Button>
    </Flex>
  )
}

type OneProps = { n: number; of: Mapping; realms: Realm[]; onChange: (part: Partial<Mapping>) => void; onRemove: () => void }

function One({ n, of, realms, onChange, onRemove }: OneProps) {
  const id = useId()
  const users = realms.includes('users')
  const app = realms.includes('app_users')
  const roles = useChoices('role', users)
  const appRoles = useChoices('app_role', app)
  const depts = useChoices('dept', users)
  return (
    <Card
      size="small"
      role="group"
      aria-label={t('providers.mapping', { n })}
      title={t('providers.mapping', { n })}
      extra={
        <Button type="text" size="small" icon={<DeleteOutlined />} aria-label={t('providers.mapping.remove', { n })} title={t('delete')} onClick={onRemove} />
      }
    >
      <Flex vertical gap={12}>
        <Flex gap={12} wrap>
          <Labelled id={`${id}claim`} label={t('providers.claim')} half>
            <Input id={`${id}claim`} maxLength={100} spellCheck={false} value={of.claim} onChange={(e) => onChange({ claim: e.target.value })} />
          </Labelled>
          <Labelled id={`${id}value`} label={t('providers.value')} half>
            <Input id={`${id}value`} maxLength={1000} spellCheck={false} value={of.value} onChange={(e) => onChange({ value: e.target.value })} />
          </Labelled>
        </Flex>
        {users && (
          <Labelled id={`${id}roles`} label={t('providers.roles')}>
            <Select
              id={`${id}roles`}
              mode="multiple"
              loading={!roles}
              showSearch={byLabel}
              style={{ width: '100%' }}
              placeholder={t('none')}
              value={of.role_ids}
              options={optionsOf(
                roles?.filter((role) => role.id !== ownerRole),
                roles && named(of.role_ids),
              )}
              onChange={(role_ids: number[]) => onChange({ role_ids })}
            />
          </Labelled>
        )}
        {users && (
          <Labelled id={`${id}dept`} label={t('providers.dept')}>
            <TreeSelect<number, Offered>
              id={`${id}dept`}
              allowClear
              loading={!depts}
              showSearch={byText('name')}
              style={{ width: '100%' }}
              placeholder={t('none')}
              treeData={treeOf(depts, depts && of.dept_id ? named([of.dept_id]) : [])}
              fieldNames={{ label: 'name', value: 'id', children: 'children' }}
              value={of.dept_id || undefined}
              onChange={(chosen?: number) => onChange({ dept_id: chosen ?? 0 })}
            />
          </Labelled>
        )}
        {app && (
          <Labelled id={`${id}app`} label={t('providers.app_roles')}>
            <Select
              id={`${id}app`}
              mode="multiple"
              loading={!appRoles}
              showSearch={byLabel}
              style={{ width: '100%' }}
              placeholder={t('none')}
              value={of.app_role_ids}
              options={optionsOf(appRoles, appRoles && named(of.app_role_ids))}
              onChange={(app_role_ids: number[]) => onChange({ app_role_ids })}
            />
          </Labelled>
        )}
      </Flex>
    </Card>
  )
}

function Labelled({ id, label, half = false, children }: { id: string; label: string; half?: boolean; children: ReactNode }) {
  return (
    <div style={{ flex: half ? '1 1 160px' : undefined, minWidth: 0 }}>
      <label htmlFor={id} style={{ display: 'block', marginBottom: 4 }}>
        {label}
      </label>
      {children}
    </div>
  )
}
