import { Empty, Flex, Spin, Typography } from 'antd'
import { useEffect, useMemo, useState } from 'react'
import { Link } from 'react-router'
import { open } from '../../api/request'
import { t } from '../../i18n'
import { Find } from '../../ui/Find'
import { useQueryParams } from '../../ui/useQueryParams'
import { Line } from './Line'
import { matching, type OpenAPI, type Operation, operationsOf } from './openapi'
import { OperationPage } from './OperationPage'

// Reference lists the operations of the API, or shows one of them.
export function Reference({ here }: { here: string }) {
  const [doc, setDoc] = useState<OpenAPI | 'failed'>()
  const { params, set } = useQueryParams()
  const search = params.get('search') ?? ''
  useEffect(() => {
    const asked = new AbortController()
    open('/openapi.json', asked.signal)
      .then(async (response) => setDoc((await response.json()) as OpenAPI))
      .catch(() => {
        if (!asked.signal.aborted) setDoc('failed')
      })
    return () => asked.abort()
  }, [])
  const all = useMemo(() => (doc && doc !== 'failed' ? operationsOf(doc) : []), [doc])
  const hits = useMemo(() => matching(all, search), [all, search])
  if (!doc) return <Spin />
  if (doc === 'failed') return <Empty description={t('manual.no_document')} />
  const operation = all.find((o) => o.id === here)
  if (here) return operation ? <OperationPage key={operation.id} doc={doc} operation={operation} /> : <Empty description={t('manual.missing')} />
  return (
    <Flex vertical gap={16} style={{ flex: 1, minWidth: 0, width: '100%' }}>
      <Typography.Title level={1} style={{ fontSize: 20, margin: 0 }}>
        {t('manual.reference')}
      </Typography.Title>
      <Find label={t('manual.find')} value={search} onChange={(text) => set({ search: text })} />
      <Typography.Text type="secondary">{t('manual.operations', { n: hits.length })}</Typography.Text>
      <Groups operations={hits} />
    </Flex>
  )
}

function Groups({ operations }: { operations: Operation[] }) {
  const tags = [...new Set(operations.map((o) => o.tag))].sort()
  return tags.map((tag) => (
    <section key={tag} aria-label={tag}>
      <Typography.Title level={2} style={{ fontSize: 15, margin: '4px 0' }}>
        {tag}
      </Typography.Title>
      <ul className="topics">
        {operations
          .filter((o) => o.tag === tag)
          .map((o) => (
            <li key={o.id}>
              <Link to={`/help/reference/${o.id}`}>
                <Line operation={o} />
              </Link>
            </li>
          ))}
      </ul>
    </section>
  ))
}
