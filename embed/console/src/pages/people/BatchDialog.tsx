import { Alert, Form, Modal, Select, TreeSelect } from 'antd'
import { useCallback, useEffect, useState } from 'react'
import { Failure, put, type Query } from '../../api/request'
import type { User } from '../../api/types'
import { t } from '../../i18n'
import { count } from '../../ui/format'
import { words } from '../../ui/words'
import { useChoices } from '../../ui/useChoices'
import { type Offered, optionsOf, treeOf } from '../../ui/offered'
import type { Change } from './person'
import { byLabel, byText } from '../../ui/fold'

type Asked = { what: 'dept_id' | 'role_ids'; on: User[]; query: Query }

type Props = Asked & {
  open: boolean
  apply: (asked: Asked, body: Change) => Promise<void>
  onClose: () => void
}

// BatchDialog selects the department or roles for many users, and previews how many would
// change.
export function BatchDialog({ open, what, on, query, apply, onClose }: Props) {
  const depts = useChoices('dept', open && what === 'dept_id')
  const roles = useChoices('role', open && what === 'role_ids')
  const [dept, setDept] = useState<number>()
  const [given, setGiven] = useState<number[]>()
  const [found, setFound] = useState<number>() // how many would change
  const [problem, setProblem] = useState('')
  const [busy, setBusy] = useState(false)
  const body: Change | undefined = what === 'dept_id' ? (dept === undefined ? undefined : { dept_id: dept }) : given && { role_ids: given }
  const sent = JSON.stringify(body)
  const selected = JSON.stringify(query)

  useEffect(() => {
    if (!open) return
    // biome-ignore lint/nursery/useReactCompiler: the dialog opens empty
    setDept(undefined)
    setGiven(undefined)
  }, [open])

  const failed = useCallback((cause: unknown) => {
    if (!(cause instanceof Failure)) throw cause
    setProblem(Object.values(cause.errors)[0] ?? words(cause))
  }, [])

  useEffect(() => {
    // biome-ignore lint/nursery/useReactCompiler: reset for another question
    setFound(undefined)
    setProblem('')
    if (!open || sent === undefined) return
    const question = new AbortController()
    put('/admin/list', JSON.parse(sent), {
      query: { ...(JSON.parse(selected) as Query), dry_run: 1 },
      quiet: true,
      signal: question.signal,
    }).then(
      (answer) => setFound(answer.count),
      (cause) => {
        if (!question.signal.aborted) failed(cause)
      },
    )
    return () => question.abort()
  }, [open, sent, selected, failed])

  async function submit() {
    setBusy(true)
    try {
      await apply({ what, on, query }, body!)
      onClose()
    } catch (cause) {
      failed(cause)
    } finally {
      setBusy(false)
    }
  }

  return (
    <Modal
      title={t(what === 'dept_id' ? 'people.batch.move' : 'people.batch.roles')}
      open={open}
      onCancel={onClose}
      destroyOnHidden
      okText={t('people.batch.apply')}
      okButtonProps={{ disabled: !found, loading: busy }}
      cancelText={t('cancel')}
      onOk={() => void submit()}
    >
      <Form layout="vertical">
        {what === 'dept_id' ? (
          <Form.Item label={t('people.dept')} htmlFor="batch-dept">
            <TreeSelect<number, Offered>
              id="batch-dept"
              showSearch={byText('name')}
              loading={!depts}
              treeDefaultExpandAll
              placeholder={t('people.batch.move.pick')}
              value={dept}
              onChange={setDept}
              treeData={treeOf(depts, [{ id: 0, name: t('people.dept.none') }])}
              fieldNames={{ label: 'name', value: 'id', children: 'children' }}
            />
          </Form.Item>
        ) : (
          <Form.Item label={t('people.roles')} htmlFor="batch-roles" extra={t('people.batch.roles.hint')}>
            <Select
              id="batch-roles"
              mode="multiple"
              showSearch={byLabel}
              placeholder={t('people.batch.roles.pick')}
              value={given}
              onChange={setGiven}
              loading={!roles}
              options={optionsOf(roles)}
            />
          </Form.Item>
        )}
      </Form>
      <div aria-live="polite" style={{ minHeight: 40 }}>
        {problem && <Alert type="error" showIcon title={problem} style={{ overflowWrap: 'anywhere' }} />}
        {found !== undefined && <Alert type="info" showIcon title={found ? t('people.batch.will', { n: count(found) }) : t('people.batch.nothing')} />}
      </div>
    </Modal>
  )
}
