import { EyeInvisibleOutlined } from '@ant-design/icons'
import { Tag, Tooltip } from 'antd'
import type { PermissionNode } from '../../api/types'
import { t } from '../../i18n'
import { CheckTree } from '../../ui/tree/CheckTree'
import { KeyTail } from '../../ui/tree/search'
import type { Ceiling } from './useCeiling'
import { permissionName } from './words'

type Props = { tree: PermissionNode[]; rules: Set<number>; hidden: Set<number>; ceiling?: Ceiling; onChange?: (rules: Set<number>) => void }

// PermissionTree selects the permissions of a role.
export function PermissionTree({ tree, rules, hidden, ceiling, onChange }: Props) {
  return (
    <CheckTree<PermissionNode>
      label={t('role.permissions')}
      tree={tree}
      checked={rules}
      onChange={onChange}
      name={permissionName}
      texts={(node) => [node.key, node.name]}
      height="calc(100dvh - 304px - var(--acting, 0px))"
      free={(node) => !ceiling || ceiling.all || ceiling.rules.has(node.id)}
      locked={t('role.locked')}
      tail={(node, search) => (
        <>
          <KeyTail of={node} search={search} />
          {node.status === 0 && <Tag variant="filled">{t('role.off')}</Tag>}
          {hidden.has(node.id) && (
            <Tooltip title={t('role.hidden.title')}>
              <Tag variant="filled" icon={<EyeInvisibleOutlined />}>
                <span className="tree-wide">{t('role.hidden')}</span>
              </Tag>
            </Tooltip>
          )}
        </>
      )}
    />
  )
}
