import { serverURL } from '../../api/base'
import { Flex, Table, Typography } from 'antd'
import type { ReactNode } from 'react'
import { Link } from 'react-router'
import { t } from '../../i18n'
import { wide } from '../../ui/Wide'
import { curl, go, typescript } from './calls'
import { Code } from './Code'
import { Line } from './Line'
import { callOf, exampleOf, named, type OpenAPI, type Operation, responseOf, type Schema, typeOf } from './openapi'
import { TryIt } from './TryIt'

type Row = { name: string; in: string; type: string; required: boolean; text: string }

// OperationPage describes one operation: parameters, body, answer, errors, examples.
export function OperationPage({ doc, operation: o }: { doc: OpenAPI; operation: Operation }) {
  const ok = o.responses['200'] ?? {}
  const [media, content] = Object.entries(ok.content ?? {})[0] ?? []
  const data = content && (content.schema.properties?.data ?? content.schema)
  const call = callOf(doc, o)
  const parameters = o.parameters.map((p) => ({
    name: p.name,
    in: p.in,
    type: typeOf(doc, p.schema),
    required: p.required === true,
    text: p.description ?? '',
  }))
  const failures = Object.entries(o.responses).filter(([status]) => status !== '200')
  return (
    <Flex vertical gap={4} style={{ flex: 1, minWidth: 0, width: '100%' }}>
      <Link to="/help/reference">{t('manual.back')}</Link>
      <Typography.Title level={1} style={{ fontSize: 20, margin: '4px 0' }}>
        <span lang="en">{o.title}</span>
      </Typography.Title>
      <Line operation={{ ...o, title: o.id }} />
      <Typography.Paragraph style={{ margin: '8px 0' }} lang="en">
        {o.description}
      </Typography.Paragraph>
      {parameters.length > 0 && (
        <Part title={t('manual.parameters')}>
          <Fields rows={parameters} place />
        </Part>
      )}
      {o.body && (
        <Part title={t('manual.body')}>
          <Typography.Text type="secondary">{o.media}</Typography.Text>
          <Fields rows={fieldsOf(doc, o.body)} />
        </Part>
      )}
      <Part title={t('manual.answer')}>
        <Typography.Text type="secondary">{[media, data && typeOf(doc, data)].filter(Boolean).join(', ')}</Typography.Text>
        {data && media === 'application/json' && <Code label={t('manual.answer')} text={JSON.stringify(exampleOf(doc, data), null, 2)} />}
      </Part>
      <Part title={t('manual.errors')}>
        <ul style={{ margin: 0, paddingInlineStart: 20 }}>
          {failures.map(([status, response]) => (
            <li key={status}>
              <b>{status}</b> <span lang="en">{responseOf(doc, response).description}</span>
            </li>
          ))}
        </ul>
      </Part>
      <Part title="curl">
        <Code label="curl" text={curl(call, serverURL())} />
      </Part>
      <Part title="TypeScript">
        <Code label="TypeScript" text={typescript(call, serverURL())} />
      </Part>
      <Part title="Go">
        <Code label="Go" text={go(call, serverURL())} />
      </Part>
      <Part title={t('manual.try')}>
        <TryIt doc={doc} operation={o} />
      </Part>
    </Flex>
  )
}

// fieldsOf are the fields of an object, or of the objects in a list.
function fieldsOf(doc: OpenAPI, given: Schema): Row[] {
  const schema = named(doc, given)
  if (schema.items) return fieldsOf(doc, schema.items)
  return Object.entries(schema.properties ?? {}).map(([name, field]) => ({
    name,
    in: '',
    type: typeOf(doc, field),
    required: schema.required?.includes(name) ?? false,
    text: field.description ?? '',
  }))
}

function Part({ title, children }: { title: string; children: ReactNode }) {
  return (
    <section aria-label={title} style={{ marginTop: 12 }}>
      <Typography.Title level={2} style={{ fontSize: 15, margin: '4px 0' }}>
        {title}
      </Typography.Title>
      {children}
    </section>
  )
}

function Fields({ rows, place = false }: { rows: Row[]; place?: boolean }) {
  return (
    <Table
      size="small"
      rowKey={(row) => `${row.in} ${row.name}`}
      pagination={false}
      {...wide}
      dataSource={rows}
      columns={[
        {
          title: t('name'),
          dataIndex: 'name',
          render: (name: string, row) => (
            <>
              <Typography.Text code>{name}</Typography.Text>
              {row.required && ` ${t('manual.required')}`}
            </>
          ),
        },
        ...(place ? [{ title: t('manual.in'), dataIndex: 'in' as const }] : []),
        { title: t('manual.type'), dataIndex: 'type' },
        { title: t('describe'), dataIndex: 'text', render: (text: string) => <span lang="en">{text}</span> },
      ]}
    />
  )
}
