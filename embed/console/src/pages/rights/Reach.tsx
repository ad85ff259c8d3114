import { Alert, Button } from 'antd'
import { useEffect, useState } from 'react'
import { post } from '../../api/request'
import type { Reach as Answer, Role } from '../../api/types'
import { joined, t } from '../../i18n'
import { count } from '../../ui/format'
import { few, ownerRole } from './words'

type Props = Pick<Role, 'id' | 'rule_ids' | 'data_scope' | 'dept_ids' | 'grant_role_ids'> & {
  onGive?: (roles: number[]) => void // lets members assign further roles
}

// Reach says how many people the members of a role can and can't change, why, and what to do about it. The
// role need not be saved.
export function Reach({ onGive, ...role }: Props) {
  const [answer, setAnswer] = useState<Answer>()
  const sent = JSON.stringify(role)
  useEffect(() => {
    const question = new AbortController()
    const wait = setTimeout(() => {
      post('/admin/role-reach', JSON.parse(sent) as Omit<Props, 'onGive'>, { quiet: true, signal: question.signal }).then(setAnswer, () => {})
    }, 300)
    return () => {
      clearTimeout(wait)
      question.abort()
    }
  }, [sent])
  if (!answer?.changes || role.id === ownerRole) return null

  const { people, beyond, reasons } = answer
  const able = { n: count(people - beyond), all: count(people) }
  if (!beyond) return <Alert type="success" showIcon style={{ marginBottom: 16 }} title={t('role.reach.all', able)} />
  const remedies = reasons.filter(({ id, remedy }) => remedy && id !== ownerRole)
  return (
    <Alert
      type={reasons.every(({ id }) => id === ownerRole) ? 'info' : 'warning'}
      showIcon
      style={{ marginBottom: 16 }}
      title={t('role.reach', able)}
      description={
        <>
          {t('role.reach.beyond')}
          <ul style={{ margin: '4px 0 8px', paddingInlineStart: 20, overflowWrap: 'anywhere' }}>
            {reasons.slice(0, most).map(({ id, name, users, missing, wider }) => (
              <li key={id}>
                <bdi>{name}</bdi> ({t('role.reach.people', { n: users })}):{' '}
                {id === ownerRole
                  ? t('role.reach.owner')
                  : [missing.length > 0 && t('role.reach.missing', { names: few(missing, 3) }), wider === 1 && t('role.reach.wider')]
                      .filter(Boolean)
                      .join('; ')}
              </li>
            ))}
            {reasons.length > most && <li>{t('role.review.more', { n: reasons.length - most })}</li>}
          </ul>
          {remedies.length > 0 &&
            (onGive ? (
              <Button size="small" onClick={() => onGive(remedies.map(({ id }) => id))}>
                {t('role.reach.give', { names: joined(remedies.slice(0, 3).map(({ name }) => name)) + (remedies.length > 3 ? '…' : '') })}
              </Button>
            ) : (
              t('role.reach.remedy')
            ))}
        </>
      }
    />
  )
}

const most = 5
