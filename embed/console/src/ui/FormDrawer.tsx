import { Alert, Button, Drawer, Flex, Form, type FormInstance } from 'antd'
import { type ReactNode, useEffect, useEffectEvent, useRef, useState } from 'react'
import { Failure } from '../api/request'
import { t } from '../i18n'
import { faults } from './faults'
import { useAct } from './useAct'
import { useWider } from './useWider'

type Props<V extends object> = {
  title: string
  open: boolean
  initial: Partial<V> // what the form holds when it opens
  save: (values: V) => Promise<void> // asks quietly: what fails is shown here
  onClose: () => void
  onClosed?: () => void // it is out of sight, and the focus is back where it was
  again?: () => Promise<Partial<V>> // what the form is to hold after somebody else has changed the record
  onChange?: (changed: Partial<V>, all: V) => void
  children: ReactNode | ((form: FormInstance<V>) => ReactNode)
  ok?: string
  size?: number // in pixels; a phone gives all it has
}

// FormDrawer is a form beside what it is about. Faults of fields are shown at their
// fields, everything else above them; Ctrl+Enter saves, and what was typed is not
// lost by a slip of the hand.
export function FormDrawer<V extends object>({ title, open, initial, save, onClose, onClosed, again, onChange, children, ok, size = 480 }: Props<V>) {
  const [form] = Form.useForm<V>()
  const [problem, setProblem] = useState('')
  const [stale, setStale] = useState(false)
  const [busy, setBusy] = useState(false)
  const typed = useRef(false) // the form itself takes what it is filled with for typed, too
  const { sure } = useAct()
  const md = useWider('md')

  function fill(values: Partial<V>) {
    form.resetFields()
    form.setFieldsValue(values as Parameters<typeof form.setFieldsValue>[0])
    setProblem('')
    setStale(false)
    typed.current = false
  }

  const begin = useEffectEvent(() => fill(initial)) // what is typed stays when the caller draws anew
  useEffect(() => {
    // biome-ignore lint/nursery/useReactCompiler: the form, which is no state of React, is filled when it opens
    if (open) begin()
  }, [open])

  async function submit(values: V) {
    setBusy(true)
    setProblem('')
    setStale(false)
    try {
      await save(values)
      onClose()
    } catch (cause) {
      if (!(cause instanceof Failure)) throw cause
      if (cause.code === 'stale' && again) {
        setStale(true)
        setProblem(t('form.stale'))
        return
      }
      setProblem(faults(form, cause))
    } finally {
      setBusy(false)
    }
  }

  // What the server said of a field is of the value that it had.
  function changed(some: Partial<V>, all: V) {
    typed.current = true
    form.setFields(Object.keys(some).map((name) => ({ name: name as never, errors: [] })))
    onChange?.(some, all)
  }

  async function close() {
    if (!typed.current || (await sure({ title: t('form.lose'), text: t('form.lose.text'), ok: t('form.lose.ok') }))) onClose()
  }

  return (
    <Drawer
      title={title}
      open={open}
      onClose={() => void close()}
      afterOpenChange={(now) => {
        if (!now) onClosed?.()
      }}
      size={md ? size : '100%'}
      destroyOnHidden
      footer={
        <Flex gap={8} justify="end">
          <Button onClick={() => void close()}>{t('cancel')}</Button>
          <Button type="primary" loading={busy} onClick={() => form.submit()}>
            {ok ?? t('save')}
          </Button>
        </Flex>
      }
    >
      <Form<V>
        form={form}
        layout="vertical"
        scrollToFirstError={{ focus: true }}
        requiredMark="optional"
        onValuesChange={changed}
        onFinish={(values) => void submit(values)}
        onKeyDown={(e) => {
          if (e.key === 'Enter' && (e.ctrlKey || e.metaKey)) form.submit()
        }}
      >
        {problem && (
          <Alert
            type="error"
            showIcon
            title={<span style={{ whiteSpace: 'pre-line' }}>{problem}</span>}
            action={
              stale &&
              again && (
                <Button size="small" onClick={() => void again().then(fill)}>
                  {t('reload')}
                </Button>
              )
            }
            style={{ marginBottom: 16 }}
          />
        )}
        {typeof children === 'function' ? children(form) : children}
        <button type="submit" hidden />
      </Form>
    </Drawer>
  )
}
