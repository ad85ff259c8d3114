import { CheckCircleFilled, CloseOutlined, DownOutlined, ReloadOutlined, UpOutlined } from '@ant-design/icons'
import { Button, theme } from 'antd'
import { memo, useState } from 'react'
import { t } from '../../i18n'
import { bytes, count } from '../../ui/format'
import { cancel, decide, forget, retry, type Upload, unfinished, useUploads } from './uploads'
import { Progress } from '../../ui/Progress'
import './files.css'

const order: Record<Upload['state'], number> = { asking: 0, failed: 1, sending: 2, checking: 3, waiting: 3, unchecked: 3, stored: 4, cancelled: 5 }
const shown = 100

// UploadPanel shows the progress of this tab's uploads.
export function UploadPanel() {
  const uploads = useUploads()
  const [open, setOpen] = useState(true)
  if (uploads.length === 0) return null
  const left = uploads.filter(unfinished)
  const failed = uploads.filter((u) => u.state === 'failed').length
  const stored = uploads.filter((u) => u.state === 'stored').length
  const asking = uploads.filter((u) => u.state === 'asking').map(({ id }) => id)
  const rows = [...uploads].sort((a, b) => order[a.state] - order[b.state] || a.id - b.id)
  const title = left.length ? t('uploads.running', { done: count(stored), n: count(uploads.length) }) : t('uploads.stored', { n: count(stored) })
  return (
    <section className="uploads" aria-label={t('uploads')}>
      <header>
        <span role="status">
          {title}
          {failed > 0 && ` · ${t('uploads.failed', { n: count(failed) })}`}
        </span>
        {left.length > 0 && (
          <Button type="text" size="small" onClick={() => cancel(left.map((u) => u.id))}>
            {t('uploads.cancel')}
          </Button>
        )}
        <Button
          type="text"
          size="small"
          icon={open ? <DownOutlined /> : <UpOutlined />}
          aria-label={open ? t('uploads.fold') : t('uploads.unfold')}
          aria-expanded={open}
          onClick={() => setOpen(!open)}
        />
        {left.length === 0 && <Button type="text" size="small" icon={<CloseOutlined />} aria-label={t('close')} onClick={forget} />}
      </header>
      {asking.length > 1 && (
        <div className="all">
          <span>{t('uploads.same_n', { n: count(asking.length) })}</span>
          <Choice ids={asking} />
        </div>
      )}
      {open && (
        // The list scrolls and must contain nothing focusable.
        <ul tabIndex={0} aria-label={t('uploads')}>
          {rows.slice(0, shown).map((upload) => (
            <Row key={upload.id} upload={upload} />
          ))}
          {rows.length > shown && <li className="rest">{t('uploads.rest', { n: count(rows.length - shown) })}</li>}
        </ul>
      )}
    </section>
  )
}

// Choice asks what becomes of files whose names the folder has already.
function Choice({ ids, name }: { ids: number[]; name?: string }) {
  const called = (label: string) => (name ? { 'aria-label': `${label}: ${name}` } : {})
  return (
    <span className="choice">
      <Button size="small" onClick={() => decide(ids, true)} {...called(t('files.version.new'))}>
        {t('files.version.new')}
      </Button>
      <Button size="small" onClick={() => decide(ids, false)} {...called(t('uploads.both'))}>
        {t('uploads.both')}
      </Button>
    </span>
  )
}

// Row is one upload; it renders only when that changes.
const Row = memo(function Row({ upload }: { upload: Upload }) {
  const { token } = theme.useToken()
  const { id, file, state, sent } = upload
  const percent = file.size ? Math.floor((sent / file.size) * 100) : 0
  const said: Record<Upload['state'], string> = {
    unchecked: t('uploads.waiting'),
    checking: t('uploads.waiting'),
    asking: t('uploads.same'),
    waiting: t('uploads.waiting'),
    stored: bytes(file.size),
    cancelled: t('uploads.cancelled'),
    failed: upload.problem,
    sending: percent < 100 ? t('uploads.sent', { sent: bytes(sent), size: bytes(file.size) }) : t('uploads.storing'),
  }
  return (
    <li>
      <div>
        <span className="name" title={file.name}>
          <bdi>{file.name}</bdi>
        </span>
        {state === 'sending' && <Progress percent={percent} info={false} label={file.name} />}
        <span className={`state ${state}`}>{said[state]}</span>
        {state === 'asking' && <Choice ids={[id]} name={file.name} />}
      </div>
      {state === 'stored' && <CheckCircleFilled aria-label={t('uploads.done')} style={{ color: token.colorSuccess, marginInlineEnd: 6 }} />}
      {(state === 'failed' || state === 'cancelled') && (
        <Button
          type="text"
          size="small"
          icon={<ReloadOutlined />}
          aria-label={t('uploads.retry', { name: file.name })}
          title={t('uploads.again')}
          onClick={() => retry(id)}
        />
      )}
      {unfinished(upload) && (
        <Button
          type="text"
          size="small"
          icon={<CloseOutlined />}
          aria-label={t('uploads.cancel_one', { name: file.name })}
          title={t('cancel')}
          onClick={() => cancel([id])}
        />
      )}
    </li>
  )
})
