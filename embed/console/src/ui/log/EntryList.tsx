import { Alert, Button, Empty, Flex, Skeleton, Spin } from 'antd'
import dayjs from 'dayjs'
import { useRef } from 'react'
import type { LogEntry } from '../../api/types'
import { language, t } from '../../i18n'
import { languages } from '../../i18n/languages'
import { count } from '../format'
import { PersonLink } from '../PersonLink'
import { day, days, daysAgo } from './days'
import { EntryIcon } from './EntryIcon'
import './log.css'
import type { Log } from './useLog'
import { who, words } from './words'

type Props = { log: Log; open: (seq: number) => void; empty: string; onClear?: () => void }

// EntryList lists entries of the change log by day, as sentences.
export function EntryList({ log, open, empty, onClear }: Props) {
  const list = useRef<HTMLDivElement>(null)
  const { entries, total, more } = log

  // The button may be gone: the focus goes to what it has found.
  const focus = (selector: string, preventScroll: boolean) => setTimeout(() => list.current?.querySelector<HTMLElement>(selector)?.focus({ preventScroll }))

  async function further() {
    const first = await log.more?.()
    if (first) focus(`[data-seq="${first}"]`, true)
  }

  async function newest() {
    await log.reload()
    focus('[data-seq]', false)
  }

  if (!entries) return <Skeleton active title={false} />
  return (
    <Spin spinning={log.loading} delay={200}>
      {log.newer && (
        <Alert
          type="info"
          showIcon
          role="status"
          title={t('audit.newer')}
          action={
            <Button size="small" onClick={() => void newest()}>
              {t('reload')}
            </Button>
          }
          style={{ marginBottom: 16, position: 'sticky', top: 'calc(60px + var(--acting, 0px))', zIndex: 9 }} // below the head of the page, also when older entries are in view
        />
      )}
      {log.damaged && <Alert type="warning" showIcon title={t('audit.damaged')} style={{ marginBottom: 16 }} />}
      <div ref={list} className="log">
        {days(entries).map((group) => (
          <section key={group.day}>
            <h2>{dayName(group.day)}</h2>
            <ul>
              {group.entries.map((entry) => (
                <Row key={entry.seq} entry={entry} open={open} />
              ))}
            </ul>
          </section>
        ))}
      </div>
      {entries.length === 0 && (
        <Empty image={Empty.PRESENTED_IMAGE_SIMPLE} description={onClear ? t('empty.narrowed') : empty}>
          {onClear && <Button onClick={onClear}>{t('empty.clear')}</Button>}
        </Empty>
      )}
      <Flex gap={16} align="center" wrap style={{ marginTop: 16 }}>
        {more && (
          <Button loading={log.busy} onClick={() => void further()}>
            {t('audit.more')}
          </Button>
        )}
        {total !== undefined && entries.length > 0 && <span className="second">{t('total', { n: count(total) })}</span>}
      </Flex>
    </Spin>
  )
}

// Row is one entry; the sentence opens it.
function Row({ entry, open }: { entry: LogEntry; open: (seq: number) => void }) {
  const at = dayjs(entry.at)
  const text = words(entry, t)
  const { kind, id, erased } = entry.actor
  const name = who(t, entry.actor)
  const person = id && !erased && (kind === 'user' || kind === 'app_user') && text.startsWith(name)
  const linked = person ? text.slice(name.length).trimStart() : '' // what follows the name
  return (
    <li>
      <time dateTime={entry.at} title={at.format('YYYY-MM-DD HH:mm:ss')}>
        {at.format('HH:mm')}
      </time>
      <EntryIcon entry={entry} />
      <div>
        {linked && (
          <>
            <PersonLink name={name} id={id} app={kind === 'app_user'} />{' '}
          </>
        )}
        <button
          type="button"
          data-seq={entry.seq}
          dir="auto"
          title={text}
          aria-label={linked ? text : undefined}
          aria-haspopup="dialog"
          onClick={() => open(entry.seq)}
        >
          {linked || text}
        </button>
        {(entry.reason || entry.part) && (
          <div className="second" dir="auto">
            {[entry.reason, entry.part && entry.job_id && t('audit.entry.job.part', { part: entry.part, id: entry.job_id })].filter(Boolean).join(' · ')}
          </div>
        )}
      </div>
    </li>
  )
}

function dayName(of: string): string {
  const now = new Date()
  if (of === day(now)) return t('audit.today')
  if (of === day(daysAgo(1, now))) return t('audit.yesterday')
  const at = dayjs(of)
  return at.year() === now.getFullYear() ? at.format(`dddd, ${languages[language]?.day}`) : at.format('YYYY-MM-DD')
}
