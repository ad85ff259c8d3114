import { base, serverURL } from '../../api/base'
import { Drawer, Flex, theme, Typography } from 'antd'
import { type ReactNode, useEffect, useState } from 'react'
import { get } from '../../api/request'
import type { Dict, OpenDict } from '../../api/types'
import { t } from '../../i18n'
import { Copy } from '../../ui/Copy'
import { useWider } from '../../ui/useWider'

const shown = 20 // items in the example

// Clients shows how to read a dictionary with the API.
export function Clients({ dict, onClose }: { dict: Dict; onClose: () => void }) {
  const md = useWider('md')
  const [open, setOpen] = useState(true)
  const [answer, setAnswer] = useState<OpenDict | null>()
  useEffect(() => {
    get('/admin/dict').then(
      (dicts) => setAnswer(dicts[dict.code] ?? null),
      () => {},
    ) // already shown
  }, [dict.code])

  const curl = `curl -H "Authorization: Bearer $TOKEN" ${serverURL()}/admin/dict`
  const js = [
    `const answer = await fetch('${base}/admin/dict', { headers: { Authorization: \`Bearer \${token}\` } })`,
    'const { data } = await answer.json()',
    `const { items } = data[${JSON.stringify(dict.code)}]`,
    'const labels = new Map(items.map((item) => [item.value, item.label]))',
  ].join('\n')
  return (
    <Drawer
      title={t('dicts.clients.title')}
      open={open}
      onClose={() => setOpen(false)}
      afterOpenChange={(now) => {
        if (!now) onClose()
      }}
      size={md ? 640 : '100%'}
    >
      <Typography.Paragraph>{t('dicts.clients.text')}</Typography.Paragraph>
      <Code title="curl" text={curl} />
      <Code title="JavaScript" text={js} />
      {answer && (
        <Code
          title={t('dicts.clients.answer')}
          text={JSON.stringify({ [dict.code]: { ...answer, items: answer.items.slice(0, shown) } }, null, 2)}
          note={answer.items.length > shown ? t('dicts.clients.more', { n: answer.items.length - shown }) : undefined}
        />
      )}
      {answer === null && <Typography.Paragraph>{t('dicts.disabled.text')}</Typography.Paragraph>}
    </Drawer>
  )
}

function Code({ title, text, note }: { title: ReactNode; text: string; note?: string }) {
  const { token } = theme.useToken()
  return (
    <div style={{ marginBottom: 24 }}>
      <Flex justify="space-between" align="center" style={{ marginBottom: 8 }}>
        <Typography.Text strong>{title}</Typography.Text>
        <Copy text={text} />
      </Flex>
      <pre
        tabIndex={0}
        style={{
          margin: 0,
          padding: 12,
          overflow: 'auto',
          maxHeight: 360,
          fontSize: 13,
          borderRadius: token.borderRadius,
          background: token.colorFillTertiary,
        }}
      >
        {text}
      </pre>
      {note && <Typography.Text type="secondary">{note}</Typography.Text>}
    </div>
  )
}
