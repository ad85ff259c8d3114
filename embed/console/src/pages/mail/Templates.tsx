import { Empty, Flex, Segmented, Select, Skeleton, theme, Typography } from 'antd'
import { useMemo, useState } from 'react'
import { language, maybe, t } from '../../i18n'
import { languages } from '../../i18n/languages'
import { nonce } from '../../app/nonce'
import { useGet } from '../../ui/useGet'
import { useQueryParams } from '../../ui/useQueryParams'
import { shownIn } from './preview'

const formats = ['html', 'text'] as const

// Templates shows an example of each mail that this server sends. What is shown is in the URL.
export function Templates() {
  const { token } = theme.useToken()
  const { params, set } = useQueryParams()
  const [format, setFormat] = useState<(typeof formats)[number]>('html')
  const { data, loading } = useGet('/system/mail-template')
  const all = data?.data ?? []
  const codes = [...new Set(all.map((one) => one.language))]
  const code = params.get('language') ?? (codes.includes(language) ? language : codes[0])
  const shown = all.find((one) => one.name === params.get('name') && one.language === code) ?? all.find((one) => one.language === code)
  const names = all.filter((one) => one.language === code).map(({ name }) => ({ value: name, label: maybe(`mail.purpose.${name}`) ?? name }))
  if (!shown) return loading ? <Skeleton active title={false} /> : <Empty image={Empty.PRESENTED_IMAGE_SIMPLE} />
  return (
    <Flex vertical gap={16}>
      <Typography.Text type="secondary">{t('mail.templates.text')}</Typography.Text>
      <Flex gap={8} wrap align="center">
        <Select<string>
          aria-label={t('mail.template')}
          style={{ width: 240, maxWidth: '100%' }}
          value={shown.name}
          options={names}
          onChange={(name) => set({ name })}
        />
        <Segmented
          aria-label={t('language')}
          value={shown.language}
          options={codes.map((value) => ({ value, label: languages[value]?.name ?? value }))}
          onChange={(to) => set({ language: to })}
        />
        <Segmented
          aria-label={t('mail.format')}
          value={format}
          options={formats.map((value) => ({ value, label: t(`mail.format.${value}`) }))}
          onChange={setFormat}
        />
      </Flex>
      <div>
        <Typography.Text type="secondary">{t('mail.subject')}</Typography.Text>
        <div lang={shown.language} style={{ fontWeight: 600, overflowWrap: 'anywhere' }}>
          {shown.subject}
        </div>
      </div>
      {format === 'html' ? (
        <Page html={shown.html} title={t('mail.preview', { subject: shown.subject })} />
      ) : (
        <pre
          lang={shown.language}
          style={{
            margin: 0,
            padding: 16,
            maxWidth: 680,
            whiteSpace: 'pre-wrap',
            overflowWrap: 'anywhere',
            borderRadius: token.borderRadius,
            background: token.colorFillTertiary,
          }}
        >
          {shown.text}
        </pre>
      )}
    </Flex>
  )
}

// Page shows the HTML of a mail without scripts. Its content can't be measured from here.
function Page({ html, title }: { html: string; title: string }) {
  const { token } = theme.useToken()
  const shown = useMemo(() => shownIn(html, nonce), [html])
  return (
    <iframe
      sandbox=""
      srcDoc={shown}
      title={title}
      style={{
        boxSizing: 'border-box',
        width: '100%',
        maxWidth: 680,
        height: 560,
        border: `1px solid ${token.colorBorderSecondary}`,
        borderRadius: token.borderRadius,
      }}
    />
  )
}
