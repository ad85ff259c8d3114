import { Alert, Button, Drawer, Flex, Form, type FormInstance, Skeleton, Tabs } from 'antd'
import { lazy, type ReactNode, Suspense, useEffect, useEffectEvent, useRef, useState } from 'react'
import { Failure, hooks, isUnanswered } from '../api/request'
import { useAccount } from '../app/account'
import { loadTexts, t } from '../i18n'
import { Changed } from './Changed'
import { faults } from './faults'
import { Secrets } from './Password'
import { useAction } from './useAction'
import { type Draft, Restored, useDraft } from './useDraft'
import { useRetry } from './useReconnect'
import { useWider } from './useWider'
import { words } from './words'

const History = lazy(async () => ({ default: (await Promise.all([import('./log/History'), loadTexts('audit', 'actions', 'builtins')]))[0].History }))

export type Props<V extends object> = {
  title: string
  open: boolean
  initial: Partial<V> // initial values of the form
  save: (values: V) => Promise<void> // makes quiet requests: failures are shown here
  onClose: () => void
  onClosed?: () => void // it is closed, and the focus is back
  onFill?: (version?: string) => void // the form now shows initial, or input that was typed for another version
  draft: Draft // what input that was not saved is kept as
  reload?: () => Promise<Partial<V>> // values of the form after another session changed the record
  onChange?: (changed: Partial<V>, all: V) => void
  children: ReactNode | ((form: FormInstance<V>) => ReactNode)
  ok: string // the button
  size?: number // in pixels; full width on a phone
  history?: { collection: string; id: number } | false // the record whose changes the drawer also shows
}

// FormDrawer is a form in a drawer. Field faults are shown at their fields, others above
// the form; Ctrl+Enter saves, and closing asks before discarding changes. Input that was not saved is there when the form
// opens again; without a response, it is saved once the server answers. Beside the form is the history of its record, for
// those who may read it.
export function FormDrawer<V extends object>({
  title,
  open,
  initial,
  save,
  onClose,
  onClosed,
  onFill,
  draft,
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
  const [ready, setReady] = useState(false) // fields that were there before their values would be made twice
  const typed = useRef(false) // antd also counts programmatic changes as touched
  const waiting = useRef(false) // for the server, to save then
  const retried = useRef(false) // although the server seemed to answer
  const edits = useRef(0)
  const kept = useDraft(form)
  const { confirm } = useAction()
  const md = useWider('md')
  const { may } = useAccount()
  const [tab, setTab] = useState('form')
  const past = may('system.audit.query') && history
  const editing = !past || tab === 'form'

  function show(values: Partial<V>) {
    form.resetFields()
    form.setFieldsValue(values as Parameters<typeof form.setFieldsValue>[0])
    setProblem('')
    setStale(false)
    setFilled((n) => n + 1)
    typed.current = false
    waiting.current = false
    retried.current = false
  }

  // fill shows other values instead of the typed ones.
  function fill(values: Partial<V>) {
    kept.end()
    show(values)
    kept.filled(draft)
  }

  function discard() {
    onFill?.()
    fill(initial)
  }

  // begin keeps input when the caller renders again.
  const begin = useEffectEvent(() => {
    show(initial)
    onFill?.()
    const version = draft.version?.()
    const unsaved = kept.filled(draft)
    if (!unsaved) return
    typed.current = true
    if (unsaved.version === version) return
    onFill?.(unsaved.version)
    setStale(true)
    setProblem(t('form.stale'))
  })
  useEffect(() => {
    if (!open) return
    begin()
    setReady(true)
    setTab('form')
  }, [open])

  async function submit(values: V) {
    setBusy(true)
    setProblem('')
    setStale(false)
    waiting.current = false
    try {
      await save(values)
      kept.end()
      onClose()
    } catch (cause) {
      if (!(cause instanceof Failure)) throw cause
      if (isUnanswered(cause) && draft.repeatable) {
        setProblem(words(cause))
        const before = edits.current
        const away = await hooks.lost()
        if (edits.current !== before || (!away && retried.current)) return // it answers, but not to this
        retried.current = !away
        waiting.current = true
        setProblem(t('form.waiting'))
        if (!away) setTimeout(retry)
        return
      }
      if (cause.code === 'already_done') {
        kept.end()
        onClose()
        return hooks.failed(cause)
      }
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

  // retry saves what could not be saved, unless something else was typed since.
  function retry() {
    if (waiting.current) form.submit()
  }
  useRetry(retry)

  // A server fault applies to the value that was submitted.
  function changed(some: Partial<V>, all: V) {
    typed.current = true
    retried.current = false
    edits.current++
    kept.typed()
    if (waiting.current) setProblem(t('error.unreachable'))
    waiting.current = false
    form.setFields(Object.keys(some).map((name) => ({ name: name as never, errors: [] })))
    onChange?.(some, all)
  }

  // undone fills the form with the record as it is after an undo, which may have deleted it.
  const undone = () => void reload?.().then(fill, onClose)

  async function close() {
    if (!typed.current || (await confirm({ title: t('form.lose'), text: t('form.lose.text'), ok: t('form.lose.ok') }))) {
      kept.end()
      waiting.current = false
      onClose()
    }
  }

  const fields = ready && (
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
      <Restored since={kept.since} onDiscard={discard} />
      <Secrets value={kept.mark}>{typeof children === 'function' ? children(form) : children}</Secrets>
      <button type="submit" hidden />
    </Form>
  )
  return (
    <Drawer
      title={title}
      open={open}
      onClose={() => void close()}
      afterOpenChange={(now) => {
        if (now) return
        setReady(false)
        onClosed?.()
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
