import { Badge, Button, Flex, theme, Typography } from 'antd'
import { useEffect } from 'react'
import { t } from '../../i18n'

type Props = { changes: number; groups: number; wrong: number; busy: boolean; onSave: () => void; onDiscard: () => void; onWrong: () => void }

// SaveBar stays visible while there are unsaved changes.
export function SaveBar({ changes, groups, wrong, busy, onSave, onDiscard, onWrong }: Props) {
  const { token } = theme.useToken()
  const shown = changes > 0
  useEffect(() => {
    if (!shown) return
    const root = document.documentElement.style
    root.scrollPadding = '64px 0 120px' // so that a focused field is neither under the header nor the bar
    return () => {
      root.scrollPadding = ''
    }
  }, [shown])
  if (!shown) return null
  return (
    <Flex
      gap={8}
      align="center"
      wrap
      role="region"
      aria-label={t('settings.unsaved')}
      style={{
        position: 'sticky',
        bottom: 12,
        zIndex: 5,
        marginTop: 16,
        padding: '12px 16px',
        background: token.colorBgElevated,
        borderRadius: token.borderRadiusLG,
        boxShadow: token.boxShadow,
        border: `1px solid ${token.colorBorderSecondary}`,
      }}
    >
      <span aria-live="polite" style={{ flex: '1 1 auto' }}>
        <Badge
          status="warning"
          text={
            <Typography.Text strong>
              {groups > 1 ? t('settings.changes.groups', { n: changes, groups }) : t('settings.changes', { n: changes })}
            </Typography.Text>
          }
        />
      </span>
      {wrong > 0 && (
        <Button type="link" danger onClick={onWrong}>
          {t('settings.wrong', { n: wrong })}
        </Button>
      )}
      <Button disabled={busy} onClick={onDiscard}>
        {t('settings.discard')}
      </Button>
      <Button type="primary" loading={busy} title="Ctrl+Enter" aria-keyshortcuts="Control+Enter Control+S" onClick={onSave}>
        {t('save')}
      </Button>
    </Flex>
  )
}
