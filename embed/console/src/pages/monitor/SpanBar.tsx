import { PauseOutlined, CaretRightOutlined, ReloadOutlined } from '@ant-design/icons'
import { Button, Flex, Segmented } from 'antd'
import { t } from '../../i18n'
import { Past } from './Past'
import { quick, type Span } from './span'
import { word } from './words'

type Props = { span: Span; set: (values: Record<string, string | undefined>) => void; live: boolean; reload: () => Promise<void>; loading: boolean }

// SpanBar selects the period, and live updates.
export function SpanBar({ span, set, live, reload, loading }: Props) {
  return (
    <Flex wrap gap={8} align="center">
      <Segmented
        value={span.name}
        aria-label={t('monitor.span')}
        onChange={(name) => set({ span: name, from: undefined, to: undefined })}
        options={Object.keys(quick).map((name) => ({ value: name, label: word('span', name) }))}
      />
      <Past span={span} set={set} />
      <span style={{ flex: 1 }} />
      <Button
        icon={live ? <PauseOutlined /> : <CaretRightOutlined />}
        type={live ? 'primary' : 'default'}
        aria-pressed={live}
        disabled={span.to !== undefined}
        title={t('monitor.live.text')}
        onClick={() => set({ live: live ? undefined : '1' })}
      >
        {live ? t('monitor.live.pause') : t('monitor.live')}
      </Button>
      <Button icon={<ReloadOutlined />} loading={loading && !live} aria-label={t('reload')} title={t('reload')} onClick={() => void reload()} />
    </Flex>
  )
}
