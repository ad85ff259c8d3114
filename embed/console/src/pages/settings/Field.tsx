import { DeleteOutlined, EditOutlined, HistoryOutlined, UndoOutlined } from '@ant-design/icons'
import { Badge, Button, Flex, Tag, theme, Typography } from 'antd'
import { memo, type ReactNode } from 'react'
import { Link } from 'react-router'
import type { Setting } from '../../api/types'
import { useAccount } from '../../app/account'
import { given, t } from '../../i18n'
import { activity } from '../../ui/log/address'
import { useWider } from '../../ui/useWider'
import { Control, warning } from './Control'
import { type Draft, keep, stamp, write } from './drafts'
import type { Define } from './useDefine'
import type { Group } from './useSettings'

type Props = {
  setting: Setting
  group: Group
  draft: Draft | undefined
  fault: string | undefined
  readOnly: boolean
  onWrite: (id: number) => void
  define?: Define // in the mode that manages fields
}

// Field is one setting with its control. Memoized: groups may have hundreds, of which a
// key press changes one.
export const Field = memo(function Field({ setting: s, group, draft, fault, readOnly, onWrite, define }: Props) {
  const { may } = useAccount()
  const { token } = theme.useToken()
  const lg = useWider('lg')
  const id = `setting-${s.id}`
  const name = `${group.key || group.id}.${s.key}`
  const builtin = define?.builtin(group, s)
  const secret = s.type === 'secret'
  const value = draft ? draft.value : secret ? undefined : s.values
  const wrong = (draft && warning(s, draft.value)) ?? fault
  const put = (text: string | undefined) => {
    onWrite(s.id)
    write(s, text)
  }
  return (
    <div
      id={`${id}-row`}
      style={{
        display: 'grid',
        gridTemplateColumns: lg ? 'minmax(0, 2fr) minmax(0, 3fr)' : 'minmax(0, 1fr)',
        gap: lg ? '8px 32px' : 8,
        padding: '20px 0',
        borderTop: `1px solid ${token.colorBorderSecondary}`,
        scrollMarginTop: 16,
      }}
    >
      <div style={{ minWidth: 0, overflowWrap: 'anywhere' }}>
        <Flex gap={8} align="center" wrap>
          <label id={`${id}-label`} htmlFor={id} dir="auto" style={{ fontWeight: 600 }}>
            {given(s.title)}
          </label>
          {builtin && <Tag title={t('settings.builtin.text')}>{t('settings.builtin')}</Tag>}
          {define && may('system.setting.update') && (
            <Button
              type="text"
              size="small"
              icon={<EditOutlined />}
              aria-label={t('settings.edit', { name })}
              title={t('edit')}
              onClick={() => define.edit(s)}
            />
          )}
          {define && !builtin && may('system.setting.delete') && (
            <Button
              type="text"
              size="small"
              icon={<DeleteOutlined />}
              aria-label={t('settings.delete', { name })}
              title={t('delete')}
              onClick={() => define.remove(group, s)}
            />
          )}
        </Flex>
        <Typography.Text type="secondary" style={{ fontFamily: 'ui-monospace, monospace', fontSize: 12 }}>
          {name}
        </Typography.Text>
        {may('system.audit.query') && (
          <Link
            to={activity({ collection: 'setting', record: s.id })}
            aria-label={`${t('menu.system.audit')}: ${name}`}
            title={t('menu.system.audit')}
            style={{ display: 'inline-grid', placeItems: 'center', width: 24, height: 24, marginInlineStart: 4, color: token.colorTextSecondary }}
          >
            <HistoryOutlined />
          </Link>
        )}
        <div id={`${id}-text`} dir="auto" style={{ color: token.colorTextSecondary, whiteSpace: 'pre-line', marginTop: 4 }}>
          {given(s.describe)}
          <Bounds setting={s} />
        </div>
      </div>
      <div style={{ minWidth: 0 }}>
        <Control
          id={id}
          of={{ ...s, name }}
          value={value}
          onChange={put}
          disabled={readOnly}
          aria-labelledby={`${id}-label`}
          aria-describedby={wrong ? `${id}-fault` : `${id}-text`}
          aria-invalid={wrong ? true : undefined}
        />
        {wrong && (
          <div id={`${id}-fault`} role="alert" style={{ marginTop: 4 }}>
            <Typography.Text type="danger">{wrong}</Typography.Text>
          </div>
        )}
        {draft && draft.base !== stamp(s) ? (
          <Overtaken setting={s} />
        ) : (
          draft && (
            <Note dot="warning" text={t('settings.changed')}>
              <Button type="link" size="small" icon={<UndoOutlined />} aria-label={t('settings.reset.of', { name })} onClick={() => put(undefined)}>
                {t('settings.reset')}
              </Button>
            </Note>
          )
        )}
      </div>
    </div>
  )
})

function Note({ dot, text, children }: { dot: 'warning' | 'error'; text: ReactNode; children: ReactNode }) {
  return (
    <Flex gap="0 4px" align="center" wrap style={{ marginTop: 8 }}>
      <Badge status={dot} text={text} style={{ overflowWrap: 'anywhere' }} />
      {children}
    </Flex>
  )
}

// Overtaken resolves a conflicting change.
function Overtaken({ setting: s }: { setting: Setting }) {
  const theirs =
    s.type === 'secret'
      ? t('settings.overtaken.secret')
      : t('settings.overtaken', { value: s.values.length > 100 ? `${s.values.slice(0, 100)}…` : s.values || '—' })
  return (
    <Note dot="error" text={theirs}>
      <Button type="link" size="small" onClick={() => write(s, undefined)}>
        {t('settings.overtaken.theirs')}
      </Button>
      <Button type="link" size="small" onClick={() => keep(s)}>
        {t('settings.overtaken.mine')}
      </Button>
    </Note>
  )
}

// Bounds describes the allowed range of a number.
function Bounds({ setting: s }: { setting: Setting }) {
  const of = (name: string) => s.props.find((p) => p.name === name)?.value
  const [min, max] = [of('min'), of('max')]
  if (s.type !== 'number' || (min === undefined && max === undefined)) return null
  const text = min === undefined ? t('settings.most', { n: max! }) : max === undefined ? t('settings.least', { n: min }) : t('settings.between', { min, max })
  return <div>{text}</div>
}
