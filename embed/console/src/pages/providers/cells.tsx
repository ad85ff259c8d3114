import { Flex, Tag, Typography } from 'antd'
import type { Provider } from '../../api/types'
import { type Key, t } from '../../i18n'
import { Copy } from '../../ui/Copy'
import { realmsOf } from './preset'

export const kindOf = ({ kind }: Provider): string => t(`providers.kind.${kind}` as Key)

export const inRealms = (of: Provider): string => {
  const names = realmsOf(of).map((realm) => t(`providers.${realm}`))
  return names.length ? names.join(t('list.separator')) : t('providers.realms.none')
}

export function Status({ of }: { of: Provider }) {
  return (
    <Tag color={of.status ? 'success' : 'default'} style={{ marginInlineEnd: 0 }}>
      {t(of.status ? 'enabled' : 'disabled')}
    </Tag>
  )
}

// Addresses are the URLs to register at a provider.
export function Addresses({ of }: { of: Provider }) {
  if (!of.callback_url) return <Typography.Paragraph type="warning">{t('providers.no_public_url')}</Typography.Paragraph>
  return (
    <Flex vertical gap={12} style={{ marginBottom: 24 }}>
      <Address label={t('providers.callback')} hint={t('providers.callback.hint')} url={of.callback_url} copy={t('providers.copy.callback')} />
      {of.kind !== 'github' && (
        <Address label={t('providers.logout')} hint={t('providers.logout.hint')} url={of.logout_url} copy={t('providers.copy.logout')} />
      )}
    </Flex>
  )
}

function Address({ label, hint, url, copy }: { label: string; hint: string; url: string; copy: string }) {
  return (
    <div>
      <div>{label}</div>
      <Flex gap={8} align="center" wrap>
        <span dir="ltr" style={{ fontFamily: 'monospace', fontSize: 13, overflowWrap: 'anywhere', minWidth: 0 }}>
          {url}
        </span>
        <Copy text={url} label={copy} />
      </Flex>
      <Typography.Text type="secondary">{hint}</Typography.Text>
    </div>
  )
}
