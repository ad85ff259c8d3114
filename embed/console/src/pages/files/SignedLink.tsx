import { LinkOutlined } from '@ant-design/icons'
import { Button, Flex, Select, Typography } from 'antd'
import dayjs from 'dayjs'
import { useEffect, useState } from 'react'
import { post } from '../../api/request'
import type { File, Link } from '../../api/types'
import { t } from '../../i18n'
import { Copy } from '../../ui/Copy'

// SignedLink creates a temporary link to a private file.
export function SignedLink({ file }: { file: File }) {
  const [seconds, setSeconds] = useState(300)
  const [link, setLink] = useState<Link>()
  const [dead, setDead] = useState(false)

  useEffect(() => {
    if (!link) return
    // biome-ignore lint/nursery/useReactCompiler: a new link is valid until its timer ends
    setDead(false)
    const wait = setTimeout(() => setDead(true), Math.max(0, Date.parse(link.expires_at) - Date.now()))
    return () => clearTimeout(wait)
  }, [link])

  const url = link && new URL(link.url, location.origin).href
  return (
    <section aria-label={t('files.link')}>
      <Typography.Paragraph strong style={{ marginBottom: 4 }}>
        {t('files.link')}
      </Typography.Paragraph>
      <Typography.Paragraph type="secondary" style={{ marginBottom: 8 }}>
        {t('files.link.text')}
      </Typography.Paragraph>
      <Flex gap={8} wrap>
        <Select
          style={{ width: 140 }}
          aria-label={t('files.link.life')}
          value={seconds}
          onChange={setSeconds}
          options={[
            { value: 60, label: t('files.link.minute') },
            { value: 300, label: t('files.link.minutes', { n: 5 }) },
          ]}
        />
        <Button icon={<LinkOutlined />} onClick={() => void post(`/file/list/${file.id}/link`, { seconds }).then(setLink)}>
          {t('files.link.make')}
        </Button>
      </Flex>
      {url && (
        <Flex vertical gap={4} style={{ marginTop: 12 }} role="status" ref={(shown: HTMLElement | null) => shown?.scrollIntoView({ block: 'nearest' })}>
          {dead ? (
            t('files.link.dead')
          ) : (
            <>
              <Flex gap={8} align="center">
                <Typography.Text code ellipsis style={{ flex: 1, minWidth: 0 }} title={url}>
                  {url}
                </Typography.Text>
                <Copy text={url} />
              </Flex>
              <Typography.Text type="secondary">{t('files.link.ends', { at: dayjs(link.expires_at).format('HH:mm:ss') })}</Typography.Text>
            </>
          )}
        </Flex>
      )}
    </section>
  )
}
