import { Alert, Form, Modal, type ModalProps } from 'antd'
import { type ReactNode, useEffect, useRef, useState } from 'react'
import { Failure } from '../api/request'
import { t } from '../i18n'
import { faults } from './faults'

type Props<V extends object> = {
  open: boolean
  title: string
  ok: string
  initial: Partial<V>
  run: (values: V) => Promise<void> // makes quiet requests: failures are shown here
  onClose: () => void
  onClosed?: () => void // it is closed, and the focus is back
  name?: string // of the form, if another one may have the same fields
  modal?: Pick<ModalProps, 'afterOpenChange' | 'focusable' | 'zIndex'>
  children: ReactNode
}

// Question is a dialog with a small form.
export function Question<V extends object>({ open, title, ok, initial, run, onClose, onClosed, name, modal, children }: Props<V>) {
  const [form] = Form.useForm<V>()
  const [problem, setProblem] = useState('')
  const [busy, setBusy] = useState(false)
  const running = useRef(false) // Enter twice comes before busy is shown
  // biome-ignore lint/correctness/useExhaustiveDependencies: another title is another question
  useEffect(() => {
    if (!open) return
    form.resetFields()
    // biome-ignore lint/nursery/useReactCompiler: the dialog opens as new
    setProblem('')
  }, [open, form, title])

  async function submit(values: V) {
    if (running.current) return
    running.current = true
    setBusy(true)
    setProblem('')
    try {
      await run(values)
      onClose()
    } catch (cause) {
      if (!(cause instanceof Failure)) throw cause
      setProblem(faults(form, cause))
    } finally {
      running.current = false
      setBusy(false)
    }
  }

  return (
    <Modal
      {...modal}
      title={title}
      open={open}
      onCancel={onClose}
      afterClose={onClosed}
      onOk={() => form.submit()}
      okText={ok}
      cancelText={t('cancel')}
      okButtonProps={{ loading: busy }}
      destroyOnHidden
    >
      {problem && <Alert type="error" showIcon title={problem} style={{ marginBottom: 16 }} />}
      <Form<V> form={form} name={name} layout="vertical" requiredMark="optional" initialValues={initial} onFinish={(values) => void submit(values)}>
        {children}
        <button type="submit" hidden />
      </Form>
    </Modal>
  )
}
