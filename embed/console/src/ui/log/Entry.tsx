import { Button, Descriptions, Typography } from 'antd'
import dayjs from 'dayjs'
import { type ReactNode, useState } from 'react'
import { Link } from 'react-router'
import type { LogDetail } from '../../api/types'
import { useAccount } from '../../app/account'
import { given, t } from '../../i18n'
import { PersonLink } from '../PersonLink'
import { Time } from '../Time'
import { Diff } from './Diff'
import { activity } from './address'
import { UndoInfo } from './UndoInfo'
import { who, words } from './words'

const most = 20 // changes that are shown at once

// Entry is all that is known of an entry: who, when, from where, and what changed.
export function Entry({ entry, undoes }: { entry: LogDetail; undoes: boolean }) {
  const { may } = useAccount()
  const [whole, setWhole] = useState(false)
  const { actor, operation, changes, hidden = 0 } = entry
  const shown = whole ? changes : changes.slice(0, most)
  const facts: [string, ReactNode][] = [
    [t('audit.entry.who'), <Actor key="actor" of={actor} />],
    [t('audit.entry.as'), entry.as && <Actor key="as" of={entry.as} />],
    [
      t('audit.entry.when'),
      <span key="at">
        {dayjs(entry.at).format('YYYY-MM-DD HH:mm:ss')} (<Time at={entry.at} />)
      </span>,
    ],
    [
      t('audit.entry.operation'),
      <Operation key="operation" title={given(operation.title)} route={[operation.method, operation.route].filter(Boolean).join(' ')} />,
    ],
    [t('audit.entry.reason'), entry.reason && <bdi>{entry.reason}</bdi>],
    [t('address'), entry.address && <Link to={activity({ address: entry.address })}>{entry.address}</Link>],
    [t('audit.entry.session'), entry.session_id && <Link to={activity({ collection: 'session', record: entry.session_id })}>{entry.session_id}</Link>],
    [
      t('audit.entry.request'),
      entry.request_id && may('system.monitor.request') ? (
        <Link to={`/system/monitor/request/${encodeURIComponent(entry.request_id)}`}>{entry.request_id}</Link>
      ) : (
        entry.request_id
      ),
    ],
    [
      t('audit.entry.job'),
      entry.job_id && <Link to={activity({ job: entry.job_id })}>{t('audit.entry.job.part', { part: entry.part ?? 1, id: entry.job_id })}</Link>,
    ],
    [t('audit.entry.details'), isGiven(entry.details) && <code className="log-value">{JSON.stringify(entry.details, undefined, 1)}</code>],
  ]
  return (
    <>
      <p className="log-said" dir="auto">
        {words(entry, t)}
      </p>
      <Descriptions
        column={1}
        size="small"
        styles={{ label: { width: 128 }, content: { overflowWrap: 'anywhere', minWidth: 0 } }}
        items={facts.filter(([, children]) => children).map(([label, children]) => ({ key: label, label, children }))}
      />
      {undoes && <UndoInfo entry={entry} />}
      {shown.map((change) => (
        <Diff key={`${change.collection} ${change.id} ${change.operation}`} change={change}>
          <div style={{ marginTop: 8 }}>
            <Link to={activity({ collection: change.collection, record: change.id })}>{t('audit.record.history')}</Link>
          </div>
        </Diff>
      ))}
      {changes.length > shown.length && (
        <Button style={{ marginTop: 16 }} onClick={() => setWhole(true)}>
          {t('audit.entry.rest', { n: changes.length })}
        </Button>
      )}
      {hidden > 0 && (
        <Typography.Paragraph type="secondary" style={{ marginTop: 16 }}>
          {t('audit.entry.hidden', { n: hidden })}
        </Typography.Paragraph>
      )}
    </>
  )
}

function Actor({ of }: { of: LogDetail['actor'] }) {
  if ((of.kind === 'user' || of.kind === 'app_user') && of.name) return <PersonLink name={of.name} id={of.id} app={of.kind === 'app_user'} />
  return <bdi>{who(t, of)}</bdi>
}

const isGiven = (details: unknown) => typeof details === 'object' && details !== null && Object.keys(details).length > 0

function Operation({ title, route }: { title: string; route: string }) {
  return (
    <span>
      {title} {route && <Typography.Text code>{route}</Typography.Text>}
    </span>
  )
}
