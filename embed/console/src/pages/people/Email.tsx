import { Flex, Tag } from 'antd'
import { t } from '../../i18n'
import type { Person } from './person'

// Email is a person's email address, and whether it is confirmed.
export function Email({ of }: { of: Person }) {
  if (!of.email) return <>—</>
  return (
    <Flex gap={8} align="center" wrap>
      <a href={`mailto:${encodeURI(of.email)}`}>{of.email}</a>
      {of.email_verified === 1 && (
        <Tag color="success" title={t('people.verified.text')} style={{ margin: 0 }}>
          {t('people.verified')}
        </Tag>
      )}
    </Flex>
  )
}
