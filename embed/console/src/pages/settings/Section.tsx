import { DeleteOutlined, EditOutlined, PlusOutlined } from '@ant-design/icons'
import { Button, Empty, Flex, Tag, theme, Typography } from 'antd'
import { lazy, Suspense } from 'react'
import type { Setting } from '../../api/types'
import { useAccount } from '../../app/account'
import { given, loadTexts, t } from '../../i18n'
import type { Drafts } from './drafts'
import { Field } from './Field'
import type { Define } from './useDefine'
import type { Group } from './useSettings'

const TestButton = lazy(async () => ({ default: (await Promise.all([import('../mail/TestButton'), loadTexts('mail')]))[0].TestButton }))

type Props = {
  group: Group
  settings: Setting[] // visible settings of the group
  drafts: Drafts
  faults: Record<number, string>
  onWrite: (id: number) => void
  define?: Define // in the mode that manages fields
}

// Section is a group, or its search results.
export function Section({ group, settings, drafts, faults, onWrite, define }: Props) {
  const { may } = useAccount()
  const { token } = theme.useToken()
  const readOnly = !may('system.setting.save') || !group.key
  return (
    <section
      aria-labelledby={`group-${group.id}`}
      style={{
        background: token.colorBgContainer,
        borderRadius: token.borderRadiusLG,
        border: `1px solid ${token.colorBorderSecondary}`,
        padding: '16px 24px 4px',
        marginBottom: 16,
      }}
    >
      <Flex gap={8} align="center" wrap style={{ marginBottom: 12 }}>
        <Typography.Title level={2} id={`group-${group.id}`} dir="auto" style={{ fontSize: 16, margin: 0, overflowWrap: 'anywhere', minWidth: 0 }}>
          {given(group.title)}
        </Typography.Title>
        {group.public === 1 && <Tag title={t('settings.public.text')}>{t('settings.public')}</Tag>}
        <span style={{ flex: 1 }} />
        {group.key === 'mail' && may('system.mail.test') && (
          <Suspense>
            <TestButton />
          </Suspense>
        )}
        {define && group.key && <Actions group={group} define={define} />}
      </Flex>
      {group.remark && (
        <Typography.Paragraph type="secondary" dir="auto" style={{ whiteSpace: 'pre-line', overflowWrap: 'anywhere', marginTop: -8 }}>
          {given(group.remark)}
        </Typography.Paragraph>
      )}
      {settings.map((s) => (
        <Field key={s.id} setting={s} group={group} draft={drafts.get(s.id)} fault={faults[s.id]} readOnly={readOnly} onWrite={onWrite} define={define} />
      ))}
      {settings.length === 0 && <Empty image={Empty.PRESENTED_IMAGE_SIMPLE} description={t(define ? 'settings.group.empty.define' : 'settings.group.empty')} />}
    </section>
  )
}

function Actions({ group, define }: { group: Group; define: Define }) {
  const { may } = useAccount()
  return (
    <>
      {may('system.setting.create') && (
        <Button size="small" icon={<PlusOutlined />} onClick={() => define.create(group)}>
          {t('settings.create')}
        </Button>
      )}
      {may('system.setting.group.update') && may('system.setting.group.query') && (
        <Button size="small" icon={<EditOutlined />} onClick={() => define.editGroup(group)}>
          {t('settings.group.edit')}
        </Button>
      )}
      {may('system.setting.group.delete') && !define.builtin(group) && (
        <Button size="small" icon={<DeleteOutlined />} onClick={() => define.removeGroup(group)}>
          {t('settings.group.delete')}
        </Button>
      )}
    </>
  )
}
