import { Alert, Button, Drawer, Empty, Flex, Skeleton, Tabs, Typography } from 'antd'
import { lazy, Suspense, useMemo, useState } from 'react'
import { Failure, put } from '../../api/request'
import type { ChoiceNode, PermissionNode, Role } from '../../api/types'
import { useAccount } from '../../app/account'
import { loadTexts, t } from '../../i18n'
import { Changed } from '../../ui/Changed'
import { placesOf } from '../../ui/tree/model'
import { useAction } from '../../ui/useAction'
import { useChoices } from '../../ui/useChoices'
import { useAll } from '../../ui/useAll'
import { useGet } from '../../ui/useGet'
import { useWider } from '../../ui/useWider'
import { words } from '../../ui/words'
import { changesOf, details, type Draft, draftOf, hiddenPages, withNeeds } from './draft'
import { Holders } from './Holders'
import { PermissionTree } from './PermissionTree'
import { Reach } from './Reach'
import { Review } from './Review'
import { ScopeTab } from './ScopeTab'
import { beyond, type Ceiling, lacking } from './useCeiling'
import { few, ownerRole } from './words'

const History = lazy(async () => ({ default: (await Promise.all([import('../../ui/log/History'), loadTexts('audit', 'actions', 'builtins')]))[0].History }))

type Props = { id?: number; ceiling?: Ceiling; onClose: () => void; saved: () => Promise<void> }

// RightsDrawer edits what a role grants, with a review before saving.
export function RightsDrawer({ id, ...props }: Props) {
  const [kept, setKept] = useState(id) // also while it closes
  if (id !== undefined && id !== kept) setKept(id)
  return kept === undefined ? null : <Rights key={kept} id={kept} open={id !== undefined} closed={() => setKept(undefined)} {...props} />
}

function Rights({ id, open, closed, ceiling, onClose, saved }: Props & { id: number; open: boolean; closed: () => void }) {
  const { may, info, reload: reloadAccount } = useAccount()
  const { confirm, notify } = useAction()
  const md = useWider('md')
  const { data: role, loading, set: setRole, reload } = useGet(`/admin/role/${id}`, {}, false)
  const { data: whole } = useGet(may('admin.rule.query') ? '/admin/rule' : '')
  const grants = useChoices('permission', may('admin.role.rule') && !may('admin.rule.query'))
  const tree = useMemo(() => whole?.data ?? (grants && permissions(grants)), [whole, grants])
  const { rows: roles = [] } = useAll<Role>('/admin/role')
  const { data: every } = useGet(may('admin.dept.query') ? '/admin/dept' : '')
  const given = useChoices('dept', may('admin.role.update') && !may('admin.dept.query'))
  const depts = every?.data ?? given
  const [draft, setDraft] = useState<Draft>()
  const [review, setReview] = useState(false)
  const [busy, setBusy] = useState(false)
  const [problem, setProblem] = useState<Failure>()
  const places = useMemo(() => placesOf(tree ?? []), [tree])
  if (role && !draft) setDraft(draftOf(role))

  const changes = role && draft && changesOf(role, draft)
  const fixed = !role || id === ownerRole || (ceiling !== undefined && beyond(role, ceiling))
  const [setsRules, setsDetails] = [!fixed && may('admin.role.rule'), !fixed && may('admin.role.update')]

  async function close() {
    if (!changes?.any || (await confirm({ title: t('form.lose'), text: t('form.lose.text'), ok: t('form.lose.ok') }))) onClose()
  }

  // write saves the differences, in the one or two operations of the API.
  async function write(from: Role, to: Draft, wrote: (role: Role) => void) {
    const { details: other, rules } = changesOf(from, to)
    let now = from
    if (other) {
      now = await put(`/admin/role/${id}`, { ...details(to), updated_at: now.updated_at }, { quiet: true })
      wrote(now)
    }
    if (rules.given.length + rules.taken.length) {
      now = await put(`/admin/role/${id}/rule`, { rule_ids: [...to.rules], updated_at: now.updated_at }, { quiet: true })
      wrote(now)
    }
    return now
  }

  async function after() {
    await saved()
    if (info.info.role_ids.includes(id)) await reloadAccount()
  }

  async function save() {
    setBusy(true)
    setProblem(undefined)
    try {
      const old = draftOf(role!)
      const now = await write(role!, draft!, setRole)
      notify(t('role.rights.saved', { name: now.name }), async () => {
        await write(now, old, () => {})
        await after()
      })
      onClose()
      await after()
    } catch (cause) {
      if (!(cause instanceof Failure)) throw cause
      setProblem(cause)
    } finally {
      setReview(false)
      setBusy(false)
    }
  }

  // members reads how many members the role has; the draft stays.
  async function members() {
    await reload()
    await after()
  }

  async function again() {
    setProblem(undefined)
    await reload()
    setDraft(undefined)
  }

  const counted = (label: string, n: number) => (md ? `${label} (${n})` : label) // a phone has no room for it
  const missing = (permission: string) => <Alert type="info" showIcon title={t('role.missing', { permission })} />
  return (
    <Drawer
      open={open}
      onClose={() => void close()}
      afterOpenChange={(opened) => {
        if (!opened) closed()
      }}
      size={md ? 880 : '100%'}
      title={role ? t('role.rights.of', { name: role.name }) : t('role.rights')}
      footer={
        <Flex gap={8} wrap justify="end" align="center">
          {(setsRules || setsDetails) && (
            <Typography.Text type="secondary" style={{ flex: '1 1 auto' }} role="status">
              {summary(changes)}
            </Typography.Text>
          )}
          <Button onClick={() => void close()}>{t(setsRules || setsDetails ? 'cancel' : 'close')}</Button>
          {(setsRules || setsDetails) && (
            <Button type="primary" disabled={!changes?.any} onClick={() => setReview(true)}>
              {t('role.review')}
            </Button>
          )}
        </Flex>
      }
    >
      {role && problem?.code !== 'stale' && <Changed key={role.updated_at} collection="role" id={id} onReload={() => void again()} />}
      {problem && (
        <Alert
          type="error"
          showIcon
          style={{ marginBottom: 16 }}
          title={problem.code === 'stale' ? t('form.stale') : words(problem)}
          action={
            problem.code === 'stale' && (
              <Button size="small" onClick={() => void again()}>
                {t('reload')}
              </Button>
            )
          }
        />
      )}
      {!role && (loading ? <Skeleton active title={false} /> : <Empty image={Empty.PRESENTED_IMAGE_SIMPLE} description={t('error.not_found')} />)}
      {id === ownerRole && <Alert type="info" showIcon style={{ marginBottom: 16 }} title={t('role.owner')} />}
      {role && id !== ownerRole && fixed && (
        <Alert type="info" showIcon style={{ marginBottom: 16 }} title={t('role.beyond')} description={lacks(role, ceiling!, places)} />
      )}
      {role && draft && (
        <Reach
          id={id}
          rule_ids={[...draft.rules]}
          {...details(draft)}
          onGive={setsDetails ? (ids) => setDraft({ ...draft, give: new Set([...draft.give, ...ids]) }) : undefined}
        />
      )}
      {role && draft && (
        <Tabs
          className="tabs-wrap"
          items={[
            ...(id === ownerRole
              ? []
              : [
                  {
                    key: 'permissions',
                    label: counted(t('role.permissions'), draft.rules.size),
                    children:
                      !may('admin.rule.query') && !may('admin.role.rule')
                        ? missing('admin.rule.query')
                        : tree && (
                            <PermissionTree
                              tree={tree}
                              rules={draft.rules}
                              hidden={new Set(hiddenPages(places, draft.rules).map((node) => node.id))}
                              ceiling={ceiling}
                              onChange={
                                setsRules
                                  ? (rules) =>
                                      setDraft({
                                        ...draft,
                                        rules: withNeeds(places, draft.rules, rules, (id) => !ceiling || ceiling.all || ceiling.rules.has(id)),
                                      })
                                  : undefined
                              }
                            />
                          ),
                  },
                  {
                    key: 'scope',
                    label: t('role.scope'),
                    children: (
                      <ScopeTab
                        role={role}
                        draft={draft}
                        onChange={setsDetails ? setDraft : undefined}
                        depts={depts}
                        roles={roles}
                        ceiling={ceiling}
                        missing={missing}
                      />
                    ),
                  },
                ]),
            {
              key: 'people',
              label: counted(t('role.holders'), role.user_count),
              children: may('admin.list.query') ? <Holders role={role} reload={members} /> : missing('admin.list.query'),
            },
            ...(may('system.audit.query')
              ? [
                  {
                    key: 'history',
                    label: t('history'),
                    children: (
                      <Suspense fallback={<Skeleton active title={false} />}>
                        <History collection="role" id={id} onUndone={() => void again()} />
                      </Suspense>
                    ),
                  },
                ]
              : []),
          ]}
        />
      )}
      {role && draft && changes && (
        <Review
          open={review}
          busy={busy}
          role={role}
          draft={draft}
          changes={changes}
          places={places}
          depts={depts ?? []}
          roles={roles}
          onCancel={() => setReview(false)}
          onSave={() => void save()}
        />
      )}
    </Drawer>
  )
}

function summary(changes?: ReturnType<typeof changesOf>): string {
  if (!changes?.any) return t('role.changes.none')
  const { given, taken } = changes.rules
  return given.length + taken.length ? t('role.changes', { given: given.length, taken: taken.length }) : t('role.changes.other')
}

function lacks(role: Role, ceiling: Ceiling, places: ReturnType<typeof placesOf<PermissionNode>>): string {
  const names = lacking(role, ceiling).map((id) => places.get(id)?.node.key ?? String(id))
  return t('role.beyond.lacks', { names: names.length ? few(names) : t('role.scope').toLowerCase() })
}

// permissions are those that the user can give, as far as is known without permission to read them.
const permissions = (nodes: ChoiceNode[]): PermissionNode[] =>
  nodes.map(({ children, ...node }) => ({ ...node, type: children ? 1 : 2, show: 1, local: '', children: children && permissions(children) }) as PermissionNode)
