import { Flex, Tag } from 'antd'
import type { ChoiceNode } from '../../api/types'
import { t } from '../../i18n'
import { useChoices } from '../../ui/useChoices'

// Given are the records that the mappings give, by name.
export function Given({ kind, ids }: { kind: 'role' | 'app_role' | 'dept'; ids: number[] }) {
  const choices = useChoices(kind, ids.length > 0)
  if (ids.length === 0) return <>{t('none')}</>
  const names = new Map(all(choices ?? []).map(({ id, name }) => [id, name]))
  return (
    <Flex gap={4} wrap>
      {ids.map((id) => (
        <Tag key={id} style={{ margin: 0 }}>
          {names.get(id) ?? `#${id}`}
        </Tag>
      ))}
    </Flex>
  )
}

const all = (nodes: ChoiceNode[]): ChoiceNode[] => nodes.flatMap((node) => [node, ...all(node.children ?? [])])
