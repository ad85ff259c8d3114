import { Alert, Button, Flex, Form, Input, Radio, Typography } from 'antd'
import { useEffect, useRef, useState } from 'react'
import { Failure, isUnanswered, put } from '../../api/request'
import type { User } from '../../api/types'
import { useAccount } from '../../app/account'
import { t } from '../../i18n'
import { faults } from '../../ui/faults'
import { Restored, useDraft } from '../../ui/useDraft'
import { useRetry } from '../../ui/useReconnect'
import { useWider } from '../../ui/useWider'
import { LazyInputs } from '../fields/LazyInputs'
import { useForms } from '../fields/useForms'
import { bodyOf, textsOf } from '../fields/values'
import { Picture } from './Picture'
import { Verify } from './Verify'

type Fields = Pick<User, 'nickname' | 'email' | 'mobile' | 'sex'>

const fieldsOf = ({ nickname, email, mobile, sex }: User): Fields => ({ nickname, email, mobile, sex })

// Profile edits the user's own account.
export function Profile() {
  const {
    info: { info: user },
    reload,
  } = useAccount()
  const md = useWider('md')
  const [form] = Form.useForm<Fields>()
  const custom = useForms().own
  const valuesOf = (of: User): Fields => ({ ...fieldsOf(of), ...textsOf(custom, of.fields) })
  const [loaded, setLoaded] = useState(user) // what the form was filled with
  const [problem, setProblem] = useState('')
  const [stale, setStale] = useState(false)
  const [busy, setBusy] = useState(false)
  const kept = useDraft(form)
  const waiting = useRef(false) // for the server, to save then
  const filled = (version: string) => kept.filled({ key: '/admin/info', version: () => version })
  const opened = useRef(false)

  // A new picture changes the record and none of these fields, so what was typed
  // stays. The server finds a change of the fields by another session.
  // biome-ignore lint/correctness/useExhaustiveDependencies: it runs when the record changes, and not when the form does
  useEffect(() => {
    if (form.isFieldsTouched() && JSON.stringify(valuesOf(user)) !== JSON.stringify(valuesOf(loaded))) return
    if (!form.isFieldsTouched()) form.setFieldsValue(valuesOf(user))
    // biome-ignore lint/nursery/useReactCompiler: the form, which is no state of React, decides
    setLoaded(user)
    if (opened.current) return
    opened.current = true
    const { version = user.updated_at } = filled(user.updated_at) ?? {}
    if (version === user.updated_at) return
    setLoaded({ ...user, updated_at: version })
    setStale(true)
    setProblem(t('error.stale'))
  }, [user])

  const typed = Form.useWatch('email', form)
  const another = typed !== undefined && typed.trim() !== loaded.email

  async function save(values: Fields) {
    setBusy(true)
    setProblem('')
    waiting.current = false
    try {
      const saved = await put('/admin/info', { ...bodyOf(values, custom, loaded.fields), updated_at: loaded.updated_at }, { quiet: true })
      kept.end()
      setLoaded(saved)
      form.resetFields()
      form.setFieldsValue(valuesOf(saved))
      filled(saved.updated_at)
      await reload()
    } catch (cause) {
      if (!(cause instanceof Failure)) throw cause
      waiting.current = isUnanswered(cause)
      if (waiting.current) return setProblem(t('form.waiting'))
      setStale(cause.code === 'stale')
      setProblem(cause.code === 'stale' ? t('error.stale') : faults(form, cause))
    } finally {
      setBusy(false)
    }
  }

  useRetry(() => waiting.current && form.submit())

  async function again() {
    kept.end()
    setProblem('')
    setStale(false)
    form.resetFields()
    form.setFieldsValue(valuesOf(loaded)) // untouched: what is loaded now fills it
    opened.current = false
    await reload()
  }

  return (
    <Flex
      gap={md ? 40 : 24}
      align={md ? 'start' : 'stretch'}
      justify={md ? 'flex-end' : undefined}
      style={{ flexDirection: md ? 'row-reverse' : 'column', paddingTop: 8 }}
    >
      <Picture user={user} onChange={reload} />
      <Form<Fields>
        form={form}
        layout="vertical"
        requiredMark={false}
        initialValues={fieldsOf(user)}
        onValuesChange={() => {
          kept.typed()
          waiting.current = false
        }}
        onFinish={(values) => void save(values)}
        style={{ flex: '0 1 480px', minWidth: 0 }}
      >
        {problem && (
          <Alert
            type="error"
            showIcon
            style={{ marginBottom: 16 }}
            title={<span style={{ whiteSpace: 'pre-line' }}>{problem}</span>}
            action={
              stale && (
                <Button size="small" onClick={() => void again()}>
                  {t('reload')}
                </Button>
              )
            }
          />
        )}
        <Restored since={kept.since} onDiscard={() => void again()} />
        <Form.Item label={t('sign_in.username')}>
          <Typography.Text>
            <bdi>{user.username}</bdi>
          </Typography.Text>
        </Form.Item>
        <Form.Item name="nickname" label={t('account.nickname')}>
          <Input autoComplete="nickname" />
        </Form.Item>
        <Form.Item name="email" label={t('account.email')}>
          <Input inputMode="email" autoComplete="email" />
        </Form.Item>
        {!another && <Verify user={user} />}
        <Form.Item name="mobile" label={t('account.mobile')}>
          <Input type="tel" autoComplete="tel" />
        </Form.Item>
        <Form.Item name="sex" label={t('account.sex')}>
          <Radio.Group
            options={[
              { value: 0, label: t('account.sex.0') },
              { value: 1, label: t('account.sex.1') },
              { value: 2, label: t('account.sex.2') },
            ]}
          />
        </Form.Item>
        <LazyInputs fields={custom} values={loaded.fields} />
        <Button type="primary" htmlType="submit" loading={busy}>
          {t('save')}
        </Button>
      </Form>
    </Flex>
  )
}
