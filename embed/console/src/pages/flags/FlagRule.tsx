import { ArrowDownOutlined, ArrowUpOutlined, DeleteOutlined, PlusOutlined } from '@ant-design/icons'
import { Button, Flex, Input, InputNumber, Radio, Select, theme, TreeSelect, Typography } from 'antd'
import { useState } from 'react'
import type { Access } from '../../api/types'
import { useAccount } from '../../app/account'
import { t } from '../../i18n'
import { named, type Offered, optionsOf, treeOf } from '../../ui/offered'
import { useChoices } from '../../ui/useChoices'
import { useFound } from '../../ui/useFound'
import { Line } from './Line'
import { type Flag, type Rule, sum } from './flag'
import { LazyMoment } from '../../ui/LazyMoment'
import { byLabel, byText } from '../../ui/fold'

type Props = {
  at: number
  last: boolean
  rule: Rule
  flag: Flag
  disabled?: boolean
  onChange: (rule: Rule) => void
  onMove: (by: 1 | -1) => void
  onRemove: () => void
}

// FlagRule edits one rule: whom it matches, and what they get.
export function FlagRule({ at, last, rule, flag, disabled, onChange, onMove, onRemove }: Props) {
  const { token } = theme.useToken()
  const n = at + 1
  const put = (part: Partial<Rule>) => onChange({ ...rule, ...part })
  return (
    <Flex
      vertical
      gap={8}
      role="group"
      aria-label={t('flags.rule', { n })}
      style={{ border: `1px solid ${token.colorBorderSecondary}`, borderRadius: token.borderRadius, padding: 12, marginBottom: 8 }}
    >
      <Flex gap={4}>
        <Input
          aria-label={t('flags.rule.name', { n })}
          placeholder={t('flags.rule', { n })}
          maxLength={255}
          disabled={disabled}
          value={rule.name}
          onChange={(e) => put({ name: e.target.value })}
        />
        {!disabled && (
          <>
            <Button type="text" icon={<ArrowUpOutlined />} disabled={at === 0} aria-label={t('flags.rule.up', { n })} onClick={() => onMove(-1)} />
            <Button type="text" icon={<ArrowDownOutlined />} disabled={last} aria-label={t('flags.rule.down', { n })} onClick={() => onMove(1)} />
            <Button type="text" icon={<DeleteOutlined />} aria-label={t('flags.rule.remove', { n })} onClick={onRemove} />
          </>
        )}
      </Flex>
      <Line label={t('flags.roles')}>{(id) => <Roles id={id} value={rule.roles} disabled={disabled} onChange={(roles) => put({ roles })} />}</Line>
      <Line label={t('flags.app_roles')}>
        {(id) => <Roles id={id} app value={rule.appRoles} disabled={disabled} onChange={(appRoles) => put({ appRoles })} />}
      </Line>
      <Line label={t('flags.depts')}>{(id) => <Depts id={id} value={rule.depts} disabled={disabled} onChange={(depts) => put({ depts })} />}</Line>
      <Line label={t('flags.users')}>
        {(id) => <People id={id} of="user" access="admin.list.query" value={rule.users} disabled={disabled} onChange={(users) => put({ users })} />}
      </Line>
      <Line label={t('flags.app_users')}>
        {(id) => <People id={id} of="app_user" access="user.list.query" value={rule.appUsers} disabled={disabled} onChange={(appUsers) => put({ appUsers })} />}
      </Line>
      <Attributes rule={rule} disabled={disabled} put={put} />
      <Line label={t('flags.from')}>{(id) => <LazyMoment id={id} disabled={disabled} value={rule.from} onChange={(from) => put({ from })} />}</Line>
      <Line label={t('flags.until')}>{(id) => <LazyMoment id={id} disabled={disabled} value={rule.until} onChange={(until) => put({ until })} />}</Line>
      <Serve rule={rule} flag={flag} n={n} disabled={disabled} put={put} />
    </Flex>
  )
}

type PickProps = { id: string; value: number[]; disabled?: boolean; onChange: (ids: number[]) => void }

const anyone = () => ({ style: { width: '100%' }, placeholder: t('flags.any') })

// useOpened reports whether the choices are needed: many rules have none, and should not load any.
function useOpened(value: number[]) {
  const [opened, setOpened] = useState(value.length > 0)
  return { needed: opened || value.length > 0, onFocus: () => setOpened(true) }
}

// useOffered loads what a rule can refer to. It needs the permission to save the setting, or, where
// that is missing, to see the records.
function useOffered(of: Parameters<typeof useChoices>[0], query: Access, { value, disabled }: Pick<PickProps, 'value' | 'disabled'>) {
  const { may } = useAccount()
  const { needed, onFocus } = useOpened(value)
  return { choices: useChoices(of, needed && (!disabled || may(query))), onFocus }
}

function Roles({ app = false, value, ...rest }: PickProps & { app?: boolean }) {
  const { choices, onFocus } = useOffered(app ? 'flag_app_role' : 'flag_role', app ? 'user.role.query' : 'admin.role.query', { value, ...rest })
  return (
    <Select<number[]> {...rest} {...anyone()} onFocus={onFocus} mode="multiple" showSearch={byLabel} options={optionsOf(choices, named(value))} value={value} />
  )
}

function Depts({ value, ...rest }: PickProps) {
  const { choices, onFocus } = useOffered('flag_dept', 'admin.dept.query', { value, ...rest })
  return (
    <TreeSelect<number[], Offered>
      {...rest}
      {...anyone()}
      onFocus={onFocus}
      multiple
      showSearch={byText('name')}
      treeDefaultExpandAll
      treeData={treeOf(choices, named(value))}
      fieldNames={{ label: 'name', value: 'id', children: 'children' }}
      value={value}
    />
  )
}

// People selects users, whom it searches by name. Where a rule can't be changed, users who can't list
// them see the IDs.
function People({ of, access, value, onChange, ...rest }: PickProps & { of: 'user' | 'app_user'; access: 'admin.list.query' | 'user.list.query' }) {
  const { may } = useAccount()
  const { needed, onFocus } = useOpened(value)
  const [search, setSearch] = useState('')
  const named = !rest.disabled || may(access)
  const { found } = useFound(of, needed && named ? search : undefined)
  if (!named) {
    return (
      <Select<string[]>
        {...rest}
        {...anyone()}
        mode="tags"
        open={false}
        suffixIcon={null}
        tokenSeparators={[',', ' ', '\n']}
        placeholder={t('flags.ids')}
        value={value.map(String)}
        onChange={(ids) => onChange(ids.map(Number).filter((id) => Number.isSafeInteger(id) && id > 0))}
      />
    )
  }
  return (
    <Select<number[]>
      {...rest}
      {...anyone()}
      onFocus={onFocus}
      mode="multiple"
      showSearch={{ filterOption: false, onSearch: setSearch }}
      options={found}
      value={value}
      onChange={onChange}
    />
  )
}

function Attributes({ rule, disabled, put }: { rule: Rule; disabled?: boolean; put: (part: Partial<Rule>) => void }) {
  const edit = (i: number, part: Partial<Rule['attributes'][number]>) => put({ attributes: rule.attributes.map((a, at) => (at === i ? { ...a, ...part } : a)) })
  return (
    <div role="group" aria-label={t('flags.attributes')}>
      {rule.attributes.map((a, i) => (
        <Flex key={i} gap={4} style={{ marginBottom: 8 }}>
          <Input
            aria-label={t('flags.attribute', { n: i + 1 })}
            placeholder="country"
            style={{ flex: '1 1 0', minWidth: 0 }}
            maxLength={255}
            spellCheck={false}
            disabled={disabled}
            value={a.name}
            onChange={(e) => {
              if (!rule.attributes.some((other, at) => at !== i && other.name === e.target.value)) edit(i, { name: e.target.value })
            }}
          />
          <Select<string[]>
            mode="tags"
            open={false}
            suffixIcon={null}
            tokenSeparators={[',', '\n']}
            maxCount={100}
            aria-label={t('flags.attribute.values', { n: i + 1 })}
            placeholder={t('flags.attribute.any')}
            style={{ flex: '2 1 0', minWidth: 0 }}
            disabled={disabled}
            value={a.values}
            onChange={(values) => edit(i, { values })}
          />
          {!disabled && (
            <Button
              type="text"
              icon={<DeleteOutlined />}
              aria-label={t('flags.attribute.remove', { n: i + 1 })}
              onClick={() => put({ attributes: rule.attributes.filter((_, at) => at !== i) })}
            />
          )}
        </Flex>
      ))}
      {!disabled && rule.attributes.length < 20 && !rule.attributes.some((a) => a.name === '') && (
        <Button size="small" icon={<PlusOutlined />} onClick={() => put({ attributes: [...rule.attributes, { name: '', values: [] }] })}>
          {t('flags.attribute.add')}
        </Button>
      )}
    </div>
  )
}

type ServeProps = { rule: Rule; flag: Flag; n: number; disabled?: boolean; put: (part: Partial<Rule>) => void }

// Serve edits what those get whom the rule matches.
function Serve({ rule, flag, n, disabled, put }: ServeProps) {
  const all = sum(rule, flag.variants)
  const even = () =>
    Object.fromEntries(
      flag.variants.map((v, i) => [
        v.name,
        i === 0 ? 100 - Math.floor(100 / flag.variants.length) * (flag.variants.length - 1) : Math.floor(100 / flag.variants.length),
      ]),
    )
  return (
    <Flex vertical gap={8}>
      <Radio.Group
        aria-label={t('flags.serve', { n })}
        disabled={disabled}
        value={rule.split}
        options={[
          { value: false, label: t('flags.serve.variant') },
          { value: true, label: t('flags.serve.percent') },
        ]}
        onChange={(e) => put({ split: e.target.value as boolean, percent: e.target.value && all !== 100 ? even() : rule.percent })}
      />
      {!rule.split && (
        <Select
          aria-label={t('flags.serve.which', { n })}
          disabled={disabled}
          style={{ maxWidth: 240 }}
          value={rule.variant}
          options={flag.variants.map((v) => ({ value: v.name, label: v.name }))}
          onChange={(variant) => put({ variant })}
        />
      )}
      {rule.split &&
        flag.variants.map((v) => (
          <Line key={v.name} label={v.name}>
            {(id) => (
              <InputNumber
                id={id}
                min={0}
                max={100}
                precision={3}
                suffix="%"
                style={{ width: 140 }}
                disabled={disabled}
                value={rule.percent[v.name] ?? 0}
                formatter={(value) => String(Number(value ?? 0))}
                onChange={(value) => put({ percent: { ...rule.percent, [v.name]: value ?? 0 } })}
              />
            )}
          </Line>
        ))}
      {rule.split && all !== 100 && <Typography.Text type="danger">{t('flags.sum', { n: all })}</Typography.Text>}
    </Flex>
  )
}
