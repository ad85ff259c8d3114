import { base } from '../../api/base'
import { UploadOutlined } from '@ant-design/icons'
import { Button, Flex, Input, theme } from 'antd'
import { useRef, useState } from 'react'
import { post } from '../../api/request'
import { useAccount } from '../../app/account'
import { t } from '../../i18n'
import { clear } from '../../ui/clear'
import type { ControlProps } from './control-props'

// Image is the path of a public file, below the server's base path. Users with permission can upload one here; the file
// stays even if the setting is not saved.
export function Image({ of: _, value = '', onChange, ...rest }: ControlProps) {
  const { may } = useAccount()
  const { token } = theme.useToken()
  const [busy, setBusy] = useState(false)
  const chooser = useRef<HTMLInputElement>(null)

  async function upload(file: File) {
    const form = new FormData()
    form.append('public', '1')
    form.append('file', file)
    setBusy(true)
    try {
      const { data } = await post('/file/list', undefined, { form })
      onChange?.(data[0]!.url.slice(base.length))
    } finally {
      setBusy(false)
    }
  }

  return (
    <Flex vertical gap={8} align="start">
      {value.startsWith('/media/') && (
        <img
          src={base + value}
          alt={t('settings.image.preview')}
          style={{
            maxWidth: '100%',
            maxHeight: 96,
            borderRadius: token.borderRadius,
            border: `1px solid ${token.colorBorderSecondary}`,
            background: token.colorFillTertiary,
          }}
        />
      )}
      <Flex gap={8} style={{ width: '100%' }}>
        <Input {...rest} allowClear={!rest.disabled && clear()} placeholder="/media/…" value={value} onChange={(e) => onChange?.(e.target.value.trim())} />
        {may('file.list.create') && !rest.disabled && (
          <>
            <Button icon={<UploadOutlined />} loading={busy} onClick={() => chooser.current?.click()}>
              {t('settings.image.upload')}
            </Button>
            <input
              ref={chooser}
              type="file"
              hidden
              aria-label={t('settings.image.upload')}
              accept="image/png,image/jpeg,image/gif,image/webp"
              onChange={(e) => {
                const file = e.target.files?.[0]
                e.target.value = '' // lets the same file be selected again
                if (file) void upload(file)
              }}
            />
          </>
        )}
      </Flex>
    </Flex>
  )
}
