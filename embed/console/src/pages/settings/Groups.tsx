import { Flex, Menu, Select, theme } from 'antd'
import { useNavigate } from 'react-router'
import { given, t } from '../../i18n'
import { useWider } from '../../ui/useWider'
import type { Drafts } from './drafts'
import { type Group, pathOf } from './useSettings'

type Props = { groups: Group[]; here: Group | undefined; drafts: Drafts; search: string }

// Groups lists the groups and marks those with unsaved changes.
export function Groups({ groups, here, drafts, search }: Props) {
  const navigate = useNavigate()
  const lg = useWider('lg')
  const go = (id: number) => {
    const group = groups.find((g) => g.id === id)
    if (group) void navigate(pathOf(group) + search)
  }
  const changes = (g: Group) => g.settings.filter((s) => drafts.has(s.id)).length
  if (!lg) {
    return (
      <Select
        aria-label={t('settings.groups')}
        style={{ width: '100%', marginBottom: 16 }}
        value={here?.id}
        placeholder={t('settings.groups')}
        onChange={go}
        options={groups.map((g) => ({ value: g.id, label: <Label title={given(g.title)} changes={changes(g)} /> }))}
      />
    )
  }
  return (
    <nav
      aria-label={t('settings.groups')}
      style={{
        width: 220,
        flex: 'none',
        position: 'sticky',
        top: 'calc(68px + var(--acting, 0px))',
        maxHeight: 'calc(100vh - 84px - var(--acting, 0px))',
        overflowY: 'auto',
      }}
    >
      <Menu
        style={{ borderInlineEnd: 0, background: 'none' }}
        selectedKeys={here ? [String(here.id)] : []}
        onClick={({ key }) => go(Number(key))}
        items={groups.map((g) => ({ key: String(g.id), title: given(g.title), label: <Label title={given(g.title)} changes={changes(g)} /> }))}
      />
    </nav>
  )
}

function Label({ title, changes }: { title: string; changes: number }) {
  const { token } = theme.useToken()
  return (
    <Flex gap={8} align="center">
      <bdi style={{ flex: 1, minWidth: 0, overflow: 'hidden', textOverflow: 'ellipsis', whiteSpace: 'nowrap' }}>{title}</bdi>
      {changes > 0 && (
        <Flex gap={6} align="center" role="img" aria-label={t('settings.changes', { n: changes })}>
          <span style={{ width: 6, height: 6, borderRadius: 3, background: token.colorWarning }} />
          {changes}
        </Flex>
      )}
    </Flex>
  )
}
