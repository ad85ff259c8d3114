import { Typography } from 'antd'
import { t } from '../i18n'

// OnNode names the node that has recorded a list, if the server is one of several.
export function OnNode({ node }: { node: string | undefined }) {
  if (!node) return null
  return (
    <Typography.Text type="secondary" style={{ overflowWrap: 'anywhere' }}>
      {t('node.on', { node })}
    </Typography.Text>
  )
}
