import { Alert, Typography } from 'antd'
import type { LogDetail, UndoDifference } from '../../api/types'
import { t } from '../../i18n'
import { Records } from '../Records'
import { Value } from './Values'
import { label, title } from './words'

// UndoInfo says what undoing an entry would do, what would not come back, or why it is not
// possible.
export function UndoInfo({ entry }: { entry: LogDetail }) {
  const { possible, reason = '', records, lost, conflicts } = entry.undo
  const kinds = [...new Set(lost.map(({ what }) => what))]
  return (
    <section className="log-part" aria-label={t('audit.undo')}>
      <h2>{t('audit.undo')}</h2>
      {possible ? (
        <Typography.Paragraph>{t('audit.undo.text', { n: records })}</Typography.Paragraph>
      ) : (
        <Alert
          type={conflicts.length ? 'warning' : 'info'}
          showIcon
          title={t('audit.undo.not')}
          description={conflicts.length ? undefined : reason}
          style={{ marginBottom: 16 }}
        />
      )}
      {possible === 1 && kinds.length > 0 && (
        <Alert
          type="warning"
          showIcon
          title={t('audit.undo.lost')}
          description={
            <ul style={{ margin: 0, paddingInlineStart: 16 }}>
              {kinds.map((what) => (
                <li key={what}>{t(`audit.undo.lost.${what}`)}</li>
              ))}
            </ul>
          }
        />
      )}
      {conflicts.length > 0 && <Conflicts entry={entry} conflicts={conflicts} />}
    </section>
  )
}

function Conflicts({ entry, conflicts }: { entry: LogDetail; conflicts: UndoDifference[] }) {
  const changeOf = ({ collection, id }: UndoDifference) => entry.changes.find((change) => change.collection === collection && change.id === id)
  const value = (one: UndoDifference, which: 'expected' | 'current') => {
    const field = changeOf(one)?.fields.find(({ name }) => name === one.field)
    return <Value of={{ name: one.field ?? '', labels: field?.labels }} value={one[which]} />
  }
  return (
    <>
      <h3 style={{ margin: '0 0 8px', fontSize: 14 }}>{t('audit.undo.conflicts')}</h3>
      <Records<UndoDifference>
        rowKey={(one) => `${one.collection} ${one.id} ${one.field}`}
        size="small"
        pagination={false}
        dataSource={conflicts}
        columns={[
          {
            title: t('audit.undo.record'),
            key: 'record',
            render: (_, one) => (
              <>
                {title(t, changeOf(one) ?? one)}
                {one.field && `: ${label(t, one.collection, one.field)}`}
              </>
            ),
          },
          { title: t('audit.undo.expected'), key: 'expected', render: (_, one) => (one.field ? value(one, 'expected') : '—') },
          {
            title: t('audit.undo.current'),
            key: 'current',
            render: (_, one) => (one.field ? value(one, 'current') : t(one.current === undefined ? 'audit.undo.gone' : 'audit.undo.again')),
          },
        ]}
      />
    </>
  )
}
