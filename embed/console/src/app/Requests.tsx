import { Drawer, Empty, Flex, Segmented, Tag, theme, Typography } from 'antd'
import { type ReactNode, useEffect, useState } from 'react'
import { Link } from 'react-router'
import { serverURL } from '../api/base'
import { open } from '../api/request'
import { recorded, type Sent } from '../api/sent'
import { t } from '../i18n'
import { curl, go, typescript } from '../pages/help/calls'
import { Code } from '../pages/help/Code'
import { bytesOf, type OpenAPI, type Operation, operationAt, operationsOf } from '../pages/help/openapi'
import { useWider } from '../ui/useWider'

const languages = { curl, TypeScript: typescript, Go: go }
type Language = keyof typeof languages

let known: Operation[] = []

// Requests are the last requests of the page as code.
export function Requests({ onClose }: { onClose: () => void }) {
  const [shown, setShown] = useState(true)
  const [requests] = useState(recorded)
  const [operations, setOperations] = useState(known)
  const [language, setLanguage] = useState<Language>('curl')
  const md = useWider('md')
  useEffect(() => {
    if (known.length > 0) return
    const asked = new AbortController()
    open('/openapi.json', asked.signal)
      .then(async (response) => {
        known = operationsOf((await response.json()) as OpenAPI)
        setOperations(known)
      })
      .catch(() => {}) // the requests lack only their names
    return () => asked.abort()
  }, [])
  const close = () => setShown(false)
  return (
    <Drawer title={t('requests')} open={shown} onClose={close} afterOpenChange={(now) => !now && onClose()} size={md ? 720 : '100%'}>
      {requests.length === 0 ? (
        <Empty image={Empty.PRESENTED_IMAGE_SIMPLE} description={t('requests.none')} />
      ) : (
        <Flex vertical gap={12}>
          <Typography.Text type="secondary">{t('requests.text')}</Typography.Text>
          <Segmented options={Object.keys(languages) as Language[]} value={language} onChange={setLanguage} style={{ alignSelf: 'start' }} />
          {requests.map((request, i) => {
            const operation = operationAt(operations, request.method, request.address)
            return (
              <Request key={i} first={i === 0} request={request} title={operation?.title}>
                <Shown request={request} operation={operation} language={language} onLeave={close} />
              </Request>
            )
          })}
        </Flex>
      )}
    </Drawer>
  )
}

type RequestProps = { request: Sent; title?: string | undefined; first: boolean; children: ReactNode }

// Request is a request of which the code can be opened, and that of another one closes.
function Request({ request: { method, address }, title, first, children }: RequestProps) {
  const [open, setOpen] = useState(first)
  const { token } = theme.useToken()
  return (
    <details
      name="request"
      open={open}
      onToggle={(e) => setOpen(e.currentTarget.open)}
      style={{ borderTop: `1px solid ${token.colorBorderSecondary}`, paddingTop: 8 }}
    >
      <summary style={{ cursor: 'pointer' }}>
        <Tag>{method}</Tag>
        <Typography.Text code style={{ overflowWrap: 'anywhere' }}>
          {decoded(address)}
        </Typography.Text>
        {title && (
          <Typography.Text type="secondary" lang="en" style={{ display: 'block' }}>
            {title}
          </Typography.Text>
        )}
      </summary>
      {open && children}
    </details>
  )
}

// decoded is an address as people read it.
function decoded(address: string): string {
  try {
    return decodeURIComponent(address)
  } catch {
    return address
  }
}

type ShownProps = { request: Sent; operation: Operation | undefined; language: Language; onLeave: () => void }

function Shown({ request: { method, address, body, form }, operation, language, onLeave }: ShownProps) {
  const call = { method, path: address, body, form, bytes: operation !== undefined && bytesOf(operation) }
  return (
    <Flex vertical align="start" gap={8}>
      <Code label={language} text={languages[language](call, serverURL())} />
      {operation && (
        <Link to={`/help/reference/${operation.id}`} onClick={onLeave}>
          {t('requests.reference')}
        </Link>
      )}
    </Flex>
  )
}
