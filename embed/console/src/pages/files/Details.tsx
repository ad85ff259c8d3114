import { Button, Descriptions, Drawer, Flex, Spin, Typography } from 'antd'
import { lazy, Suspense, useEffect, useState } from 'react'
import { Link, useNavigate, useParams, useSearchParams } from 'react-router'
import type { File } from '../../api/types'
import { useAccount } from '../../app/account'
import { type Key, t } from '../../i18n'
import { Copy } from '../../ui/Copy'
import { bytes, count } from '../../ui/format'
import { activity } from '../../ui/log/address'
import { PersonLink } from '../../ui/PersonLink'
import { Time } from '../../ui/Time'
import { useGet } from '../../ui/useGet'
import { useWider } from '../../ui/useWider'
import { SignedLink } from './SignedLink'
import { Thumb } from './Thumb'
import type { Actions } from './useActions'
import type { Groups } from './useGroups'

const Versions = lazy(async () => ({ default: (await import('./Versions')).Versions }))
const EditFile = lazy(async () => ({ default: (await import('./EditFile')).EditFile }))

type Props = { actions: Actions; groups: Groups; rows: readonly File[]; preview: (file: File) => void; changed: () => Promise<unknown> }

// Details shows the file whose ID is at the end of the URL.
export function Details({ actions, groups, rows, preview, changed }: Props) {
  const { may } = useAccount()
  const md = useWider('md')
  const navigate = useNavigate()
  const [params] = useSearchParams()
  const id = Number(useParams()['*'])
  const { data, loading, reload } = useGet(id > 0 ? `/file/list/${id}` : '')
  const [editing, setEditing] = useState<boolean>() // undefined until first opened
  const row = rows.find((one) => one.id === id)
  const file = data?.id === id ? data : row
  const close = () => void navigate(`/file/list?${params}`)
  useEffect(() => {
    if (row && data && row.id === data.id && row.updated_at !== data.updated_at) void reload() // it was changed in another drawer
  }, [row, data, reload])

  async function trash() {
    if (file && (await actions.trash([file]))) close()
  }

  return (
    <Drawer
      title={t('files.details')}
      open={id > 0}
      onClose={close}
      size={md ? 480 : '100%'}
      destroyOnHidden
      footer={
        file && (
          <Flex gap={8} justify="end" wrap>
            {may('file.list.delete') && (
              <Button style={{ marginInlineEnd: 'auto' }} onClick={() => void trash()}>
                {t('delete')}
              </Button>
            )}
            {may('file.list.download') && <Button onClick={() => void actions.download([file])}>{t('files.download')}</Button>}
            {may('file.list.update') && (
              <Button type="primary" onClick={() => setEditing(true)}>
                {t('edit')}
              </Button>
            )}
          </Flex>
        )
      }
    >
      {file ? (
        <Facts file={file} groups={groups} preview={preview} changed={() => Promise.all([reload(), changed()])} />
      ) : loading ? (
        <Spin delay={200} />
      ) : (
        t('error.not_found')
      )}
      <Suspense>
        {file && editing !== undefined && (
          <EditFile file={file} open={editing} onClose={() => setEditing(false)} reload={reload} saved={() => Promise.all([reload(), changed()])} />
        )}
      </Suspense>
    </Drawer>
  )
}

type FactsProps = { file: File; groups: Groups; preview: (file: File) => void; changed: () => Promise<unknown> }

function Facts({ file, groups, preview, changed }: FactsProps) {
  const { may } = useAccount()
  const address = new URL(file.url, location.origin).href
  return (
    <Flex vertical gap={20}>
      <button type="button" className="file-large" aria-label={t('files.preview')} title={t('files.preview')} onClick={() => preview(file)}>
        <Thumb file={file} size="400x400" />
      </button>
      <Typography.Text strong style={{ fontSize: 16, overflowWrap: 'anywhere' }}>
        <bdi>{file.name}</bdi>
      </Typography.Text>
      <Descriptions
        column={1}
        size="small"
        styles={{ label: { width: 120 } }}
        items={[
          { label: t('files.kind'), children: t(`files.kind.${file.kind}` as Key) },
          { label: t('files.mime'), children: <span style={{ overflowWrap: 'anywhere' }}>{file.mime}</span> },
          { label: t('files.size'), children: t('files.bytes', { size: bytes(file.size), n: count(file.size) }) },
          {
            label: t('files.group'),
            children: file.group_id ? <bdi style={{ overflowWrap: 'anywhere' }}>{groups.name(file.group_id)}</bdi> : t('files.ungrouped'),
          },
          {
            label: t('files.uploader'),
            children: (
              <span style={{ overflowWrap: 'anywhere' }}>
                <PersonLink name={file.uploader_name} id={file.uploader_id} />
              </span>
            ),
          },
          { label: t('files.uploaded'), children: <Time at={file.created_at} /> },
          ...(file.stored_at === file.created_at ? [] : [{ label: t('files.version.stored'), children: <Time at={file.stored_at} /> }]),
          { label: t('updated_at'), children: <Time at={file.updated_at} /> },
          {
            label: t('files.sha'),
            children: (
              <Typography.Text code style={{ overflowWrap: 'anywhere' }}>
                {file.sha256}
              </Typography.Text>
            ),
          },
        ]}
      />
      <section aria-label={t('files.access')}>
        <Typography.Paragraph strong style={{ marginBottom: 4 }}>
          {file.public ? t('files.public') : t('files.private')}
        </Typography.Paragraph>
        <Typography.Paragraph type="secondary" style={{ marginBottom: 8 }}>
          {file.public ? t('files.public.text') : t('files.private.text')}
        </Typography.Paragraph>
        {file.public === 1 && (
          <Flex gap={8} align="center">
            <Typography.Text code style={{ overflowWrap: 'anywhere', flex: 1 }}>
              {address}
            </Typography.Text>
            <Copy text={address} />
          </Flex>
        )}
      </section>
      {file.public === 0 && may('file.list.download') && <SignedLink key={file.id} file={file} />}
      <Suspense>
        <Versions key={`${file.id} ${file.sha256}`} file={file} changed={changed} />
      </Suspense>
      {may('system.audit.query') && <Link to={activity({ collection: 'file', record: file.id })}>{t('menu.system.audit')}</Link>}
    </Flex>
  )
}
