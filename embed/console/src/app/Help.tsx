import { CloseOutlined } from '@ant-design/icons'
import { Button, Checkbox, Flex, theme, Typography } from 'antd'
import { useState } from 'react'
import { t } from '../i18n'
import { Key } from '../ui/Key'
import { command } from './Head'
import { jumps, listKeys, setSingleKeys, singleKeys } from './keys'
import type { Place } from './menu'
import { Overlay } from './Overlay'

type Line = { keys: string[]; says: string }

// Help lists the keyboard shortcuts.
export function Help({ places, onClose }: { places: Place[]; onClose: () => void }) {
  const [on, setOn] = useState(singleKeys)
  const names = new Map([['/', t('home')], ['/account', t('account')], ...places.map((place) => [place.key, place.title] as const)])
  const general: Line[] = [
    { keys: [command('K')], says: t('help.palette') },
    { keys: ['/'], says: t('help.search') },
    { keys: ['?'], says: t('help') },
    { keys: ['a'], says: t('requests') },
    { keys: [command('Enter')], says: t('help.save') },
    { keys: [command('Z')], says: t('help.undo') },
    { keys: ['Esc'], says: t('help.close') },
  ]
  const going = Object.entries(jumps).flatMap(([key, path]) => (names.has(path) ? [{ keys: ['g', key], says: names.get(path)! }] : []))
  return (
    <Overlay label={t('help')} onClose={onClose}>
      <Flex align="center" justify="space-between" style={{ padding: '12px 12px 0 20px' }}>
        <Typography.Title level={2} style={{ fontSize: 16, margin: 0 }}>
          {t('help')}
        </Typography.Title>
        <Button type="text" icon={<CloseOutlined />} aria-label={t('close')} onClick={onClose} />
      </Flex>
      <div style={{ padding: '4px 20px 16px', overflow: 'auto' }} tabIndex={0} role="group" aria-label={t('help')}>
        <Lines lines={general} />
        <Typography.Title level={3} style={{ fontSize: 13, margin: '16px 0 4px' }}>
          {t('help.lists')}
        </Typography.Title>
        <Lines lines={Object.entries(listKeys).map(([key, act]) => ({ keys: [key], says: t(`help.lists.${act}`) }))} />
        <Typography.Title level={3} style={{ fontSize: 13, margin: '16px 0 4px' }}>
          {t('help.go')}
        </Typography.Title>
        <Lines lines={going} />
        <Checkbox
          checked={on}
          style={{ marginTop: 16 }}
          onChange={(e) => {
            setSingleKeys(e.target.checked)
            setOn(e.target.checked)
          }}
        >
          {t('help.single')}
        </Checkbox>
      </div>
    </Overlay>
  )
}

function Lines({ lines }: { lines: Line[] }) {
  const { token } = theme.useToken()
  return (
    <dl style={{ display: 'grid', gridTemplateColumns: 'repeat(auto-fill, minmax(240px, 1fr))', columnGap: 28, margin: 0 }}>
      {lines.map(({ keys, says }) => (
        <Flex key={says} justify="space-between" align="center" gap={12} style={{ minHeight: 34, borderBottom: `1px solid ${token.colorBorderSecondary}` }}>
          <dt>{says}</dt>
          <dd style={{ margin: 0, display: 'flex', gap: 4, flex: 'none' }}>
            {keys.map((key) => (
              <Key key={key}>{key}</Key>
            ))}
          </dd>
        </Flex>
      ))}
    </dl>
  )
}
