import { DownloadOutlined, UploadOutlined } from '@ant-design/icons'
import { Alert, Button, Card, Checkbox, Flex, Form, Input, Typography, Upload } from 'antd'
import { useEffect, useRef, useState } from 'react'
import { Failure, download, get, post, save, unconfirmed } from '../../api/request'
import type { Applied, Change, Job, NewSecret } from '../../api/types'
import { useAccount } from '../../app/account'
import { t } from '../../i18n'
import { bytes, count } from '../../ui/format'
import { useUndo } from '../../ui/log/useUndo'
import { useAction } from '../../ui/useAction'
import { words } from '../../ui/words'
import { Done } from './Done'
import { Editor } from './Editor'
import { Plan } from './Plan'
import { Secrets } from './Secrets'
import { decode, type Fault, faultsIn, maxText, nameOf } from './setup'

const every = 1000 // milliseconds between looks at a job

// Setup plans and applies a setup file, and exports the current setup as one.
export function Setup() {
  const { may } = useAccount()
  const { confirm, notify } = useAction()
  const undo = useUndo()
  const [name, setName] = useState('setup')
  const [text, setText] = useState('')
  const [prune, setPrune] = useState(false)
  const [plan, setPlan] = useState<Change[]>()
  const [faults, setFaults] = useState<Fault[]>([])
  const [problem, setProblem] = useState('')
  const [done, setDone] = useState<{ changes: Change[]; entry: number; job: Job | undefined }>()
  const [secrets, setSecrets] = useState<{ all: NewSecret[]; open: boolean }>()
  const [busy, setBusy] = useState<'plan' | 'apply'>()
  const results = useRef<HTMLDivElement>(null)
  const away = useRef(new AbortController())
  useEffect(() => {
    const now = new AbortController()
    away.current = now
    return () => now.abort()
  }, [])

  // forget removes what was said about another file.
  function forget() {
    setPlan(undefined)
    setFaults([])
    setProblem('')
    setDone(undefined)
  }

  async function choose(file: File) {
    forget()
    if (file.size > maxText) return setProblem(t('setup.large', { name: file.name, size: bytes(maxText) }))
    const content = decode(await file.arrayBuffer())
    if (content === undefined) return setProblem(t('setup.not_text', { name: file.name }))
    setName(nameOf(file.name))
    setText(content)
  }

  // ask runs a request about the file, and shows why it fails.
  async function ask(what: 'plan' | 'apply', request: () => Promise<void>) {
    const planned = plan
    forget()
    setBusy(what)
    try {
      await request()
    } catch (cause) {
      if (away.current.signal.aborted) return
      if (!(cause instanceof Failure)) throw cause
      if (unconfirmed(cause)) return setPlan(planned)
      const all = faultsIn(cause.errors)
      setFaults(all)
      if (all.length === 0) setProblem(words(cause))
    } finally {
      setBusy(undefined)
    }
  }

  const body = { files: [{ name, text }], prune }

  const look = () => ask('plan', async () => setPlan((await post('/system/setup/plan', body, { quiet: true })).changes))

  async function apply(changes: Change[]) {
    if (!(await confirm({ title: t('setup.apply.sure', { n: changes.length }), text: t('setup.apply.what'), ok: t('setup.apply') }))) return
    await ask('apply', async () => {
      let entry = 0
      const made: Applied = await post('/system/setup/apply', body, { quiet: true, entry: (seq) => (entry = seq) })
      if (made.secrets?.length) setSecrets({ all: made.secrets, open: true }) // at once: no other response has them
      setDone({ changes: made.changes, entry, job: made.job })
      const job = made.job && (await ended(made.job))
      setDone({ changes: made.changes, entry, job })
      if (!made.secrets?.length) results.current?.focus({ preventScroll: true }) // the button is gone
      if (job?.state === 'failed' || made.changes.length === 0) return
      notify(t('setup.applied', { n: made.changes.length }), entry && !job && may('system.audit.undo') ? () => undo(entry) : undefined)
    })
  }

  // ended waits until a job has ended.
  async function ended(job: Job): Promise<Job> {
    let now = job
    while (now.state !== 'done' && now.state !== 'failed') {
      await new Promise((next) => setTimeout(next, every))
      now = await get(`/system/job/${job.id}`, {}, { quiet: true, signal: away.current.signal })
      setDone((shown) => shown && { ...shown, job: now })
    }
    return now
  }

  return (
    <Flex vertical gap={16}>
      <Flex justify="space-between" align="center" gap={8} wrap>
        <Typography.Title level={1} style={{ fontSize: 20, margin: 0 }}>
          {t('menu.system.setup')}
        </Typography.Title>
        <Button icon={<DownloadOutlined />} title={t('setup.export.hint')} onClick={() => void download('/system/setup-export').then(save)}>
          {t('setup.export')}
        </Button>
      </Flex>
      <Card
        title={t('setup.file')}
        extra={
          <Upload
            accept=".toml"
            showUploadList={false}
            disabled={busy !== undefined}
            beforeUpload={(file) => {
              void choose(file)
              return false
            }}
          >
            <Button icon={<UploadOutlined />} disabled={busy !== undefined}>
              {t('setup.choose')}
            </Button>
          </Upload>
        }
      >
        <Form layout="vertical" disabled={busy !== undefined} onFinish={() => void look()}>
          <Form.Item label={t('name')} htmlFor="name" extra={t('setup.name.hint')} required>
            <Input
              id="name"
              maxLength={64}
              style={{ maxWidth: 480 }}
              value={name}
              onChange={(e) => {
                forget()
                setName(e.target.value)
              }}
            />
          </Form.Item>
          <Editor
            value={text}
            faults={faults}
            disabled={busy !== undefined}
            onChange={(next) => {
              forget()
              setText(next)
            }}
          />
          <Form.Item>
            <Checkbox
              checked={prune}
              onChange={(e) => {
                forget()
                setPrune(e.target.checked)
              }}
            >
              {t('setup.prune')}
            </Checkbox>
          </Form.Item>
          {problem && <Alert type="error" showIcon title={problem} style={{ marginBottom: 16, overflowWrap: 'anywhere' }} />}
          <Button
            type={plan?.length ? 'default' : 'primary'}
            htmlType="submit"
            loading={busy === 'plan'}
            disabled={!text.trim() || !name.trim() || busy === 'apply'}
          >
            {t('setup.plan')}
          </Button>
        </Form>
      </Card>
      <div ref={results} tabIndex={-1} aria-live="polite" style={{ outline: 0 }}>
        {plan && (
          <Card
            title={plan.length > 0 && t('setup.changes', { n: count(plan.length) })}
            extra={
              plan.length > 0 &&
              may('system.setup.apply') && (
                <Button type="primary" onClick={() => void apply(plan)}>
                  {t('setup.apply')}
                </Button>
              )
            }
          >
            {plan.length > 0 ? <Plan changes={plan} /> : t('setup.no_changes')}
          </Card>
        )}
        {done && <Done {...done} />}
      </div>
      {secrets && (
        <Secrets
          open={secrets.open}
          secrets={secrets.all}
          onClose={() => setSecrets({ ...secrets, open: false })}
          onClosed={() => {
            setSecrets(undefined)
            results.current?.focus({ preventScroll: true })
          }}
        />
      )}
    </Flex>
  )
}
