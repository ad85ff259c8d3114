import { Alert, Checkbox, Flex, Table, Tag } from 'antd'
import { useState } from 'react'
import type { Import, Verdict } from '../../api/types'
import { t } from '../../i18n'
import { actingHeight } from '../../ui/acting-height'
import { count } from '../../ui/format'
import { faultText } from '../../ui/words'

// Verdicts is the preview of an import, row by row.
export function Verdicts({ of }: { of: Import }) {
  const [onlyBad, setOnlyBad] = useState(of.failed > 0)
  const rows = onlyBad && of.failed > 0 ? of.rows.filter((row) => !row.ok) : of.rows
  return (
    <Flex vertical gap={16}>
      {of.rows.length === 0 && <Alert type="warning" showIcon title={t('people.import.none')} />}
      {of.rows.length > 0 &&
        (of.failed > 0 ? (
          <Alert type="error" showIcon title={t('people.import.bad', { n: count(of.failed), of: count(of.rows.length) })} />
        ) : (
          <Alert type="success" showIcon title={t('people.import.good', { n: count(of.rows.length) })} />
        ))}
      {of.failed > 0 && of.failed < of.rows.length && (
        <Checkbox checked={onlyBad} onChange={(e) => setOnlyBad(e.target.checked)}>
          {t('people.import.only_bad')}
        </Checkbox>
      )}
      {of.rows.length > 0 && (
        <Table<Verdict>
          virtual
          size="small"
          rowKey="line"
          pagination={false}
          scroll={{ x: 560, y: Math.max(240, window.innerHeight - 380 - actingHeight()) }}
          dataSource={rows}
          columns={[
            { title: t('people.import.line'), dataIndex: 'line', width: 72 },
            { title: t('sign_in.username'), dataIndex: 'username', width: 160, ellipsis: true },
            {
              title: t('people.import.verdict'),
              key: 'verdict',
              render: (_, row) =>
                row.ok ? (
                  <Tag color="success">{t('people.import.fine')}</Tag>
                ) : (
                  <Flex gap={4} align="start">
                    <Tag color="error">{t('people.import.wrong')}</Tag>
                    <span style={{ overflowWrap: 'anywhere', whiteSpace: 'normal' }}>
                      {Object.entries(row.errors ?? {}).map(([column, fault]) => (
                        <div key={column}>
                          <b>{column === 'row' ? t('people.import.row') : column}</b>: {faultText(fault, row.details?.[column])}
                        </div>
                      ))}
                    </span>
                  </Flex>
                ),
            },
          ]}
        />
      )}
    </Flex>
  )
}
