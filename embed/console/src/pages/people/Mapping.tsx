import { Alert, Flex, Select, Typography } from 'antd'
import { t } from '../../i18n'
import { byLabel } from '../../ui/fold'
import type { Sheet, Target } from './import-file'

type Props = { sheet: Sheet; targets: Target[]; chosen: string[]; onChange: (chosen: string[]) => void }

// Mapping asks what each column of a file holds.
export function Mapping({ sheet, targets, chosen, onChange }: Props) {
  const put = (at: number, column: string) => onChange(chosen.map((one, i) => (i === at ? column : one === column ? '' : one)))
  return (
    <Flex vertical gap={12}>
      <Typography.Text>{t('people.import.map')}</Typography.Text>
      {!chosen.includes('username') && <Alert type="warning" showIcon title={t('people.import.map.username')} />}
      {sheet.header.map((name, at) => {
        const title = name || t('people.import.map.nameless', { n: at + 1 })
        const cells = sheet.rows.slice(0, 20).flatMap(({ cells }) => cells[at]?.trim() || [])
        return (
          <Flex key={at} gap="4px 16px" wrap align="center">
            <div style={{ flex: '1 1 200px', minWidth: 0 }}>
              <div style={{ fontWeight: 600, overflowWrap: 'anywhere' }}>{title}</div>
              <div className="second" style={{ overflow: 'hidden', textOverflow: 'ellipsis', whiteSpace: 'nowrap' }}>
                {cells.slice(0, 3).join(' · ') || '—'}
              </div>
            </div>
            <Select
              style={{ flex: '1 1 200px', maxWidth: 280 }}
              aria-label={t('people.import.map.of', { name: title })}
              showSearch={byLabel}
              value={chosen[at]}
              onChange={(column: string) => put(at, column)}
              options={[{ value: '', label: t('people.import.map.none') }, ...targets.map(({ column, title }) => ({ value: column, label: title }))]}
            />
          </Flex>
        )
      })}
    </Flex>
  )
}
