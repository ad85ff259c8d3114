import { base } from '../../api/base'
import { Alert, Button, Flex, Form, Input, Tag } from 'antd'
import { useState } from 'react'
import { actingHeaders } from '../../api/acting'
import { address } from '../../api/request'
import { t } from '../../i18n'
import { bytes } from '../../ui/format'
import { bodyOf, filled, type OpenAPI, type Operation } from './openapi'

type Answer = { status: number; took: number; text: string }

const most = 100_000 // characters of an answer that are shown

// TryIt sends an operation with the session of who is signed in.
export function TryIt({ doc, operation: o }: { doc: OpenAPI; operation: Operation }) {
  const body = bodyOf(doc, o)
  const [answer, setAnswer] = useState<Answer>()
  const [sending, setSending] = useState(false)
  if (o.body && body === undefined) return <Alert type="info" title={t('manual.try.upload')} />

  async function send(values: Record<string, string | undefined>) {
    setSending(true)
    setAnswer(await call(o, values))
    setSending(false)
  }
  const parameters = o.parameters.filter((p) => p.in !== 'header')
  return (
    <Flex vertical gap={12}>
      {o.method !== 'GET' && <Alert type="warning" showIcon title={t('manual.try.writes')} />}
      <Form layout="vertical" requiredMark={false} onFinish={send} initialValues={{ body: body === undefined ? undefined : JSON.stringify(body, null, 2) }}>
        <div style={{ display: 'grid', gap: '0 12px', gridTemplateColumns: 'repeat(auto-fill, minmax(200px, 1fr))' }}>
          {parameters.map((p) => (
            <Form.Item
              key={`${p.in} ${p.name}`}
              name={`${p.in} ${p.name}`}
              label={p.name}
              rules={[{ required: p.required === true, message: t('form.required') }]}
              style={{ marginBottom: 8 }}
            >
              <Input />
            </Form.Item>
          ))}
        </div>
        {body !== undefined && (
          <Form.Item name="body" label={t('manual.body')} style={{ marginBottom: 8 }} rules={[{ validator: isJSON }]}>
            <textarea className="code" rows={8} style={{ width: '100%' }} spellCheck={false} />
          </Form.Item>
        )}
        <Button type="primary" htmlType="submit" loading={sending}>
          {t('manual.try.send')}
        </Button>
      </Form>
      {answer && (
        <section aria-label={t('manual.answer')} aria-live="polite">
          <Tag color={answer.status >= 200 && answer.status < 300 ? 'success' : 'error'}>{answer.status || '—'}</Tag>
          {Math.round(answer.took)} ms
          <pre className="code">{answer.text}</pre>
        </section>
      )}
    </Flex>
  )
}

async function isJSON(_: unknown, text?: string): Promise<void> {
  try {
    JSON.parse(text ?? '')
  } catch {
    throw new Error(t('manual.try.json'))
  }
}

// call sends an operation with the entered values, and accepts any response.
async function call(o: Operation, values: Record<string, string | undefined>): Promise<Answer> {
  const of = (place: string) => Object.fromEntries(o.parameters.filter((p) => p.in === place).map((p) => [p.name, values[`${place} ${p.name}`] ?? '']))
  const headers: Record<string, string> = actingHeaders(o.path)
  const credentials = o.open ? 'omit' : 'same-origin' // a sign-in that is tried must not replace the cookie
  if (values.body) headers['Content-Type'] = 'application/json'
  const since = performance.now()
  try {
    const response = await fetch(base + address(filled(o.path, of('path')), of('query')), { method: o.method, headers, credentials, body: values.body ?? null })
    const content = await response.blob()
    return { status: response.status, took: performance.now() - since, text: await shown(content) }
  } catch (cause) {
    return { status: 0, took: performance.now() - since, text: String(cause) }
  }
}

// shown is the text of an answer, or how long it is.
async function shown(content: Blob): Promise<string> {
  const type = content.type.split(';', 1)[0] ?? ''
  if (type === 'application/json') {
    const text = JSON.stringify(JSON.parse(await content.text()), null, 2)
    return text.length > most ? `${text.slice(0, most)}…` : text
  }
  if (type.startsWith('text/')) return (await content.text()).slice(0, most)
  return `${type} ${bytes(content.size)}`
}
