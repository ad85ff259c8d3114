import { Alert, Form, Input, Modal } from 'antd'
import { useEffect, useState } from 'react'
import { Failure, post } from '../../api/request'
import { t } from '../../i18n'
import { Time } from '../../ui/Time'
import { words } from '../../ui/words'
import { names, type Person } from './person'
import type { Realm } from './realm'

type Props = { open: boolean; user: Person; realm: Realm; onClose: () => void; onDone: () => void }

const erase = (realm: Realm, user: Person, username: string) => post(`${realm.path}/${user.id}/erase`, { username }, { quiet: true })

// Erase erases the personal data of a user once the username is typed, and says what is
// left.
export function Erase({ open, user, realm, onClose, onDone }: Props) {
  const [form] = Form.useForm<{ username: string }>()
  const typed = Form.useWatch('username', form)
  const [problem, setProblem] = useState('')
  const [busy, setBusy] = useState(false)
  const [erased, setErased] = useState<Awaited<ReturnType<typeof erase>>>()
  useEffect(() => {
    if (!open) return
    form.resetFields()
    // biome-ignore lint/nursery/useReactCompiler: the dialog opens empty
    setProblem('')
    setErased(undefined)
  }, [open, form])

  async function run({ username }: { username: string }) {
    setBusy(true)
    setProblem('')
    try {
      setErased(await erase(realm, user, username))
    } catch (cause) {
      if (!(cause instanceof Failure)) throw cause
      const fault = cause.errors.username
      if (fault) form.setFields([{ name: 'username', errors: [fault] }])
      else setProblem(words(cause))
    } finally {
      setBusy(false)
    }
  }

  const name = names([user])
  if (erased)
    return (
      <Modal
        title={t('people.erase.done', { name })}
        open={open}
        onCancel={onClose}
        onOk={onClose}
        afterClose={onDone}
        okText={t('people.erase.close')}
        cancelButtonProps={{ style: { display: 'none' } }}
      >
        {erased.complete === 0 && <Alert type="warning" showIcon title={t('people.erase.incomplete')} style={{ marginBottom: 16 }} />}
        <p style={{ marginTop: 0 }}>
          {t('people.erase.removed', {
            logins: erased.removed.sign_ins,
            files: erased.removed.files,
            events: erased.removed.events,
            deliveries: erased.removed.deliveries,
          })}
        </p>
        <p>
          {t('people.erase.backups')} <Time at={erased.backups_before} />
        </p>
        {erased.kept_copies > 0 && <p>{t('people.erase.copies', { n: erased.kept_copies })}</p>}
      </Modal>
    )
  return (
    <Modal
      title={t('people.erase.sure', { name })}
      open={open}
      onCancel={onClose}
      onOk={() => form.submit()}
      okText={t('people.erase.ok')}
      cancelText={t('cancel')}
      okButtonProps={{ danger: true, loading: busy, disabled: typed !== user.username }}
    >
      <p style={{ marginTop: 0, overflowWrap: 'anywhere' }}>{t('people.erase.text')}</p>
      {problem && <Alert type="error" showIcon title={problem} style={{ marginBottom: 16 }} />}
      <Form form={form} layout="vertical" onFinish={(values) => void run(values)}>
        <Form.Item name="username" label={t('people.erase.type', { name })}>
          <Input autoComplete="off" spellCheck={false} />
        </Form.Item>
        <button type="submit" hidden disabled={typed !== user.username} />
      </Form>
    </Modal>
  )
}
