import { consoleURL } from '../../api/base'
import { Button, Empty, Flex, Spin, Typography } from 'antd'
import { lazy, type MouseEvent, Suspense, useEffect, useMemo, useState } from 'react'
import { Link, useLocation, useNavigate } from 'react-router'
import type { Answer } from '../../api/paths'
import { toMain } from '../../app/keys'
import { t } from '../../i18n'
import { Find } from '../../ui/Find'
import { useGet } from '../../ui/useGet'
import { useQueryParams } from '../../ui/useQueryParams'
import { useWider } from '../../ui/useWider'
import './help.css'
import { found } from './found'

const Reference = lazy(async () => ({ default: (await import('./Reference')).Reference }))

type Topic = Answer<'GET', '/system/manual'>['data'][number]

// Manual is the page of help: the topics, one of them, or the reference of the API. On a narrow screen the topics are
// folded, so that the text comes first.
export function Manual() {
  const { data } = useGet('/system/manual')
  const [, , key = '', operation = ''] = useLocation().pathname.split('/')
  const { params, set } = useQueryParams()
  const lg = useWider('lg')
  const search = params.get('search') ?? ''
  const [open, setOpen] = useState(search !== '' && key === '')
  const topics = useMemo(() => data?.data ?? [], [data])
  const hits = useMemo(() => found(topics, search), [topics, search])
  const reference = key === 'reference'
  const topic = topics.find((each) => each.key === key) ?? (key === '' ? topics[0] : undefined)
  return (
    <Flex vertical={!lg} gap={24} align="start">
      <Flex vertical gap={12} component="nav" aria-label={t('manual')} style={{ width: lg ? 230 : '100%', flex: 'none' }}>
        <Flex gap={8}>
          {!reference && (
            <Find
              label={t('manual.search')}
              value={search}
              onChange={(text) => {
                set({ search: text })
                setOpen(true)
              }}
            />
          )}
          {!lg && (
            <Button aria-expanded={open} onClick={() => setOpen(!open)}>
              {t('manual.topics')}
            </Button>
          )}
        </Flex>
        <ul
          className="topics"
          hidden={!lg && !open}
          onClick={() => {
            if (lg) return
            setOpen(false)
            toMain()
          }}
        >
          {(reference ? topics : hits).map((each) => (
            <li key={each.key}>
              <Link
                to={`/help/${each.key}${search && !reference ? `?search=${encodeURIComponent(search)}` : ''}`}
                aria-current={each === topic ? 'page' : undefined}
                lang={each.lang}
              >
                {each.title}
              </Link>
            </li>
          ))}
          <li>
            <Link to="/help/reference" aria-current={reference ? 'page' : undefined}>
              {t('manual.reference')}
            </Link>
          </li>
        </ul>
        {data && (lg || open) && !reference && hits.length === 0 && <Typography.Text type="secondary">{t('empty.narrowed')}</Typography.Text>}
      </Flex>
      {!topic && !(data && reference) && <h1 className="visually-hidden">{t('manual')}</h1>}
      {!data ? (
        <Spin />
      ) : reference ? (
        <Suspense fallback={<Spin />}>
          <Reference here={operation} />
        </Suspense>
      ) : topic ? (
        <Page key={topic.key} topic={topic} />
      ) : (
        <Empty description={t('manual.missing')} />
      )}
    </Flex>
  )
}

function Page({ topic }: { topic: Topic }) {
  const navigate = useNavigate()
  const { hash } = useLocation()
  useEffect(() => {
    if (hash) document.getElementById(hash.slice(1))?.scrollIntoView()
  }, [hash])
  // Links of the manual to the console open in the console, without loading it again.
  function open(e: MouseEvent) {
    const link = e.target instanceof Element ? e.target.closest('a') : null
    const to = link?.getAttribute('href') ?? ''
    if (!to.startsWith(consoleURL()) || e.ctrlKey || e.metaKey || e.shiftKey) return
    e.preventDefault()
    void navigate(to.slice(consoleURL().length - 1))
  }
  return (
    // The server renders the manual that is compiled into it, without raw HTML and scripts.
    <article className="manual" lang={topic.lang} onClick={open} dangerouslySetInnerHTML={{ __html: topic.html }} />
  )
}
