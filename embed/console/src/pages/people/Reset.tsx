import { Alert, Form, Modal } from 'antd'
import { useEffect, useRef, useState } from 'react'
import { Failure, put } from '../../api/request'
import { t } from '../../i18n'
import { useAction } from '../../ui/useAction'
import { words } from '../../ui/words'
import { type Chosen, FirstPassword, passwordOf } from './FirstPassword'
import { names, type Person } from './person'
import type { Realm } from './realm'

type Props = {
  open: boolean
  user: Person
  realm: Realm
  onClose: () => void
  onMade: (password: string) => void // a generated password, shown once the dialog is closed
  onDone: () => void
}

// Reset resets a user's password.
export function Reset({ open, user, realm, onClose, onMade, onDone }: Props) {
  const [form] = Form.useForm<Chosen>()
  const [problem, setProblem] = useState('')
  const [busy, setBusy] = useState(false)
  const made = useRef<string>(undefined)
  const { notify } = useAction()
  useEffect(() => {
    if (!open) return
    form.resetFields()
    // biome-ignore lint/nursery/useReactCompiler: the dialog opens empty
    setProblem('')
  }, [open, form])

  async function reset(values: Chosen) {
    setBusy(true)
    setProblem('')
    try {
      made.current = (await put(`${realm.path}/${user.id}/password`, { password: passwordOf(values) }, { quiet: true })).password
      onClose()
      onDone()
      if (!made.current) notify(t('people.reset.done', { name: names([user]) }))
    } catch (cause) {
      if (!(cause instanceof Failure)) throw cause
      const fault = cause.errors.password
      if (fault) form.setFields([{ name: 'password', errors: [fault] }])
      else setProblem(words(cause))
    } finally {
      setBusy(false)
    }
  }

  function closed() {
    if (made.current) onMade(made.current)
    made.current = undefined
  }

  return (
    <Modal
      title={t('people.reset')}
      open={open}
      onCancel={onClose}
      afterClose={closed}
      onOk={() => form.submit()}
      okText={t('people.reset.ok')}
      cancelText={t('cancel')}
      okButtonProps={{ danger: true, loading: busy }}
      destroyOnHidden
    >
      <p style={{ marginTop: 0, overflowWrap: 'anywhere' }}>{t('people.reset.text', { name: names([user]) })}</p>
      {problem && <Alert type="error" showIcon title={problem} style={{ marginBottom: 16 }} />}
      <Form<Chosen> form={form} layout="vertical" requiredMark="optional" initialValues={{ first: 'generated' }} onFinish={(values) => void reset(values)}>
        <FirstPassword />
        <button type="submit" hidden />
      </Form>
    </Modal>
  )
}
