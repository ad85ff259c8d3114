import { Flex, Table, Typography } from 'antd'
import type { SystemInfo } from '../../api/types'
import { useAccount } from '../../app/account'
import { maybe, t } from '../../i18n'
import { bytes } from '../../ui/format'
import { Time } from '../../ui/Time'
import { wide } from '../../ui/Wide'
import { Compact } from './Compact'
import { Progress } from '../../ui/Progress'
import { MoveContents } from './MoveContents'

// Files shows the database files, their usage, and pre-upgrade copies. reload loads info again.
export function Files({ info, reload }: { info: SystemInfo; reload: () => unknown }) {
  const { may } = useAccount()
  const bucket = info.config.some(({ key, value }) => key === 'files.s3.bucket' && value)
  return (
    <Flex vertical gap={12}>
      <Table
        size="small"
        rowKey="name"
        pagination={false}
        {...wide}
        dataSource={info.files}
        columns={[
          {
            title: t('info.file'),
            dataIndex: 'name',
            render: (name: string) => (
              <>
                <Typography.Text code>{name}</Typography.Text> <Typography.Text type="secondary">{maybe(`info.file.${name}`)}</Typography.Text>
              </>
            ),
          },
          { title: t('info.size'), dataIndex: 'size_bytes', align: 'end', render: bytes },
          { title: t('info.free'), dataIndex: 'free_bytes', align: 'end', render: bytes },
          {
            title: t('info.used'),
            key: 'used',
            width: 200,
            render: (_, file) => (
              <Progress percent={file.size_bytes ? Math.round((1 - file.free_bytes / file.size_bytes) * 100) : 0} label={`${t('info.used')}: ${file.name}`} />
            ),
          },
        ]}
      />
      {may('system.compact') ? (
        <>
          <Typography.Text type="secondary">{t('compact.space')}</Typography.Text>
          <Compact ended={reload} />
        </>
      ) : (
        <Typography.Text type="secondary">{t('info.files.compact')}</Typography.Text>
      )}
      {bucket && may('system.file.move') && <MoveContents />}
      {info.kept.length > 0 && (
        <>
          <Typography.Text>{t('info.kept')}</Typography.Text>
          <Table
            size="small"
            rowKey="name"
            pagination={false}
            {...wide}
            dataSource={info.kept}
            columns={[
              { title: t('info.file'), dataIndex: 'name', render: (name: string) => <Typography.Text code>{name}</Typography.Text> },
              { title: t('info.schema'), dataIndex: 'schema', align: 'end' },
              { title: t('info.size'), dataIndex: 'size_bytes', align: 'end', render: bytes },
              { title: t('created_at'), dataIndex: 'created_at', render: (at: string) => <Time at={at} /> },
            ]}
          />
        </>
      )}
    </Flex>
  )
}
