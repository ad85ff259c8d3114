import { Button, Flex, Skeleton, Tag, Typography } from 'antd'
import { useEffect, useRef, useState } from 'react'
import { Failure, get } from '../../api/request'
import type { ActivityEntry, ActivityPage } from '../../api/types'
import { given, language, t } from '../../i18n'
import { Line, Lines } from '../../ui/Lines'
import { Time } from '../../ui/Time'
import { useGet } from '../../ui/useGet'

const path = '/admin/account/activity'
const size = 20

// OwnActivity is what the user has done, and what others have done as the user, the newest first.
export function OwnActivity() {
  const { data } = useGet(path, { pageSize: size })
  const [older, setOlder] = useState<{ of: ActivityPage; entries: ActivityEntry[]; next: number }>()
  const [busy, setBusy] = useState(false)
  const [found, setFound] = useState(0) // number of entries before those that were found last
  const list = useRef<HTMLDivElement>(null)

  // The button may be gone: the focus goes to what it has found.
  useEffect(() => {
    if (found) list.current?.querySelector<HTMLElement>(`li:nth-child(${found + 1})`)?.focus({ preventScroll: true })
  }, [found])

  if (!data) return <Skeleton active title={false} />
  const below = older?.of === data ? older : undefined
  const entries = [...data.data, ...(below?.entries ?? [])]
  const next = (below ?? data).next

  async function more(of: ActivityPage) {
    setBusy(true)
    try {
      const page = await get(path, { pageSize: size, before: next })
      setOlder({ of, entries: [...(below?.entries ?? []), ...page.data], next: page.next })
      setFound(entries.length)
    } catch (cause) {
      if (!(cause instanceof Failure)) throw cause // already shown
    } finally {
      setBusy(false)
    }
  }

  return (
    <Flex ref={list} vertical gap={12} align="start" style={{ maxWidth: 720, paddingTop: 8 }}>
      <Typography.Text type="secondary">{t('activity.about')}</Typography.Text>
      {entries.length === 0 ? (
        <span>{t('activity.empty')}</span>
      ) : (
        <Lines>
          {entries.map((entry) => (
            <Line key={entry.seq}>
              <Entry of={entry} />
            </Line>
          ))}
        </Lines>
      )}
      {next > 0 && (
        <Button loading={busy} onClick={() => void more(data)}>
          {t('activity.more')}
        </Button>
      )}
    </Flex>
  )
}

// named is what an operation is called. Titles are stored in English; those of reads, which are here only if they were
// denied, are not all translated.
function named({ title, route }: ActivityEntry['operation'], action: string): string {
  const said = given(title)
  return said === title && action === 'denied' && language !== 'en' && route ? t('activity.read', { route }) : said
}

function Entry({ of: { at, operation, action, by, as, reason, address } }: { of: ActivityEntry }) {
  return (
    <div style={{ overflowWrap: 'anywhere' }}>
      <Flex gap={8} align="center" wrap>
        <span style={{ minWidth: 0 }}>{named(operation, action)}</span>
        {action === 'denied' && (
          <Tag color="error" style={{ margin: 0 }}>
            {t('activity.denied')}
          </Tag>
        )}
        {by && (
          <Tag color="warning" style={{ margin: 0 }}>
            {t('activity.by', { name: by })}
          </Tag>
        )}
        {as && <Tag style={{ margin: 0 }}>{t('activity.as', { name: as })}</Tag>}
      </Flex>
      <Flex gap="0 16px" wrap className="second">
        <Time at={at} />
        {address && <bdi>{address}</bdi>}
        {reason && <span dir="auto">{t('activity.reason', { reason })}</span>}
      </Flex>
    </div>
  )
}
