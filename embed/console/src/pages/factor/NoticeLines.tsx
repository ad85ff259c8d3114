import { CloseOutlined } from '@ant-design/icons'
import { Button, Flex } from 'antd'
import { useState } from 'react'
import { Link } from 'react-router'
import type { Notice } from '../../api/types'
import { type Key, maybe, t } from '../../i18n'
import { dueText } from './FactorDue'
import { inWords } from '../session-columns'
import { Time } from '../../ui/Time'
import type { Line } from '../../app/notice-lines'

// said is what a notice tells.
function said(notice: Notice): string {
  const { kind, by, reason, ip, provider_name: provider } = notice
  switch (kind) {
    case 'acted_as':
      return by ? t('notice.acted_as', { by, reason }) : t('notice.acted_as.deleted', { reason })
    case 'new_device':
    case 'new_network':
      return t(`notice.${kind}${provider && '.with'}` as Key, { device: inWords(notice) || t('account.device.unknown'), ip, provider })
    default:
      return maybe(`notice.${kind}`) ?? kind
  }
}

function textOf(line: Line): string {
  if ('notices' in line) {
    const text = said(line.notices.at(-1)!)
    return line.notices.length > 1 ? t('notice.several', { text, n: line.notices.length - 1 }) : text
  }
  if ('due' in line) return dueText(line.due)
  return 'unproven' in line ? t('notice.unproven') : t('notice.health', { parts: line.parts.map((name) => maybe(`info.part.${name}`) ?? name).join(', ') })
}

function whereOf(line: Line): [to: string, label: string] | undefined {
  if ('notices' in line) return line.notices.some(({ device_id }) => device_id > 0) ? ['/account/security#devices', t('notice.devices')] : undefined
  if ('due' in line) return ['/account/security#factor', t('factor.due.set_up')]
  return 'unproven' in line ? ['/system/backup', t('notice.open')] : ['/system/info', t('notice.open')]
}

// NoticeLines shows a line for each kind of notice, which can be closed.
export function NoticeLines({ lines, onClose, onLeave }: { lines: Line[]; onClose: (line: Line) => void; onLeave?: () => void }) {
  return (
    <ul className="notice-lines">
      {lines.map((line) => (
        <One key={`${line.key} ${line.stamp}`} line={line} onClose={() => onClose(line)} onLeave={onLeave} />
      ))}
    </ul>
  )
}

function One({ line, onClose, onLeave }: { line: Line; onClose: () => void; onLeave?: () => void }) {
  const [whole, setWhole] = useState(false)
  const text = textOf(line)
  const where = whereOf(line)
  const notices = 'notices' in line ? line.notices : []
  return (
    <li>
      <Flex gap={8} align="start" justify="space-between">
        <div style={{ minWidth: 0, overflowWrap: 'anywhere' }}>
          {text} {notices.length === 1 && <When at={notices[0]!.at} />}
          <Flex wrap gap="0 12px">
            {where && (
              <Link to={where[0]} onClick={onLeave} style={{ textDecoration: 'underline' }}>
                {where[1]}
              </Link>
            )}
            {(notices.length > 1 || notices.some(({ dismissible }) => !dismissible)) && (
              <Button type="link" size="small" style={{ padding: 0 }} aria-expanded={whole} onClick={() => setWhole(!whole)}>
                {t(whole ? 'notice.less' : 'notice.more')}
              </Button>
            )}
          </Flex>
        </div>
        <Button type="text" size="small" icon={<CloseOutlined />} aria-label={`${t('close')}: ${text}`} title={t('close')} onClick={onClose} />
      </Flex>
      {whole && (
        <>
          {notices.map((notice) => (
            <div key={`${notice.at} ${notice.device_id}`} style={{ overflowWrap: 'anywhere' }}>
              {said(notice)} <When at={notice.at} />
            </div>
          ))}
          {notices.some(({ dismissible }) => !dismissible) && <div className="second">{t('notice.stays')}</div>}
        </>
      )}
    </li>
  )
}

function When({ at }: { at: string }) {
  return (
    <span className="second">
      <Time at={at} />
    </span>
  )
}
