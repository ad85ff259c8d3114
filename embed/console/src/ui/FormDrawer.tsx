import { Alert, Button, Drawer, Flex, Form, type FormInstance, Skeleton, Tabs } from 'antd'
import { lazy, type ReactNode, Suspense, useEffect, useEffectEvent, useRef, useState } from 'react'
import { Failure } from '../api/request'
import { useAccount } from '../app/account'
import { loadTexts, t } from '../i18n'
import { Changed } from './Changed'
import { faults } from './faults'
import { useAction } from './useAction'
import { useWider } from './useWider'

const History = lazy(async () => ({ default: (await Promise.all([import('./log/History'), loadTexts('audit', 'actions', 'builtins')]))[0].History }))

type Props<V extends object> = {
  title: string
  open: boolean
  initial: Partial<V> // initial values of the form
  save: (values: V) => Promise<void> // makes quiet requests: failures are shown here
  onClose: () => void
  onClosed?: () => void // it is closed, and the focus is back
  onFill?: () => void // the form now shows initial
  reload?: () => Promise<Partial<V>> // values of the form after another session changed the record
  onChange?: (changed: Partial<V>, all: V) => void
  children: ReactNode | ((form: FormInstance<V>) => ReactNode)
  ok: string // the button
  size?: number // in pixels; full width on a phone
  history?: { collection: string; id: number } | false // the record whose changes the drawer also shows
}

// FormDrawer is a form in a drawer. Field faults are shown at their fields, others above
// the form; Ctrl+Enter saves, and closing asks before discarding changes. Beside the form is
// the history of its record, for those who may read it.
export function FormDrawer<V extends object>({
  title,
  open,
  initial,
  save,
  onClose,
  onClosed,
  onFill,
  reload,
  onChange,
  children,
  ok,
  size = 480,
  history,
}: Props<V>) {
  const [form] = Form.useForm<V>()
  const [problem, setProblem] = useState('')
  const [stale, setStale] = useState(false)
  const [busy, setBusy] = useState(false)
  const [filled, setFilled] = useState(0) // how often the form was filled
  const typed = useRef(false) // antd also counts programmatic changes as touched
  const { confirm } = useAction()
  const md = useWider('md')
  const { may } = useAccount()
  const [tab, setTab] = useState('form')
  const past = may('system.audit.query') && history
  const editing = !past || tab === 'form'

  function fill(values: Partial<V>) {
    form.resetFields()
    form.setFieldsValue(values as Parameters<typeof form.setFieldsValue>[0])
    setProblem('')
    setStale(false)
    setFilled((n) => n + 1)
    typed.current = false
  }

  // begin keeps input when the caller renders again.
  const begin = useEffectEvent(() => {
    fill(initial)
    onFill?.()
  })
  useEffect(() => {
    if (!open) return
    // biome-ignore lint/nursery/useReactCompiler: the form, which is not React state, is filled when it opens
    begin()
    setTab('form')
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
      if (cause.code === 'stale' && reload) {
        setStale(true)
        setProblem(t('form.stale'))
        return
      }
      setProblem(faults(form, cause))
    } finally {
      setBusy(false)
    }
  }

  // A server fault applies to the value that was submitted.
  function changed(some: Partial<V>, all: V) {
    typed.current = true
    form.setFields(Object.keys(some).map((name) => ({ name: name as never, errors: [] })))
    onChange?.(some, all)
  }

  // undone fills the form with the record as it is after an undo, which may have deleted it.
  const undone = () => void reload?.().then(fill, onClose)

  async function close() {
    if (!typed.current || (await confirm({ title: t('form.lose'), text: t('form.lose.text'), ok: t('form.lose.ok') }))) onClose()
  }

  const fields = (
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
      {history && !stale && <Changed key={filled} {...history} onReload={reload && (() => void reload().then(fill))} />}
      {problem && (
        <Alert
          type="error"
          showIcon
          title={<span style={{ whiteSpace: 'pre-line' }}>{problem}</span>}
          action={
            stale &&
            reload && (
              <Button size="small" onClick={() => void reload().then(fill)}>
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
  )
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
          <Button onClick={() => void close()}>{t(editing ? 'cancel' : 'close')}</Button>
          {editing && (
            <Button type="primary" loading={busy} onClick={() => form.submit()}>
              {ok}
            </Button>
          )}
        </Flex>
      }
    >
      {past ? (
        <Tabs
          activeKey={tab}
          onChange={setTab}
          items={[
            { key: 'form', label: t('form.record'), children: fields, forceRender: true },
            {
              key: 'history',
              label: t('history'),
              children: (
                <Suspense fallback={<Skeleton active title={false} />}>
                  <History {...past} onUndone={undone} />
                </Suspense>
              ),
            },
          ]}
        />
      ) : (
        fields
      )}
    </Drawer>
  )
}
