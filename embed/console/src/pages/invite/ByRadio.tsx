import { Flex, Radio } from 'antd'
import { t } from '../../i18n'
import type { By } from './link'

type Option = { label: string; off?: string } // why it can't be selected

type Props = { value: By; mail: Option; link: Option; onChange: (by: By) => void }

// ByRadio selects how links reach people.
export function ByRadio({ value, mail, link, onChange }: Props) {
  return (
    <Radio.Group value={value} onChange={(e) => onChange(e.target.value as By)} aria-label={t('invite.by')}>
      <Flex vertical gap={8}>
        {(
          [
            ['mail', mail],
            ['link', link],
          ] as const
        ).map(([by, { label, off }]) => (
          <Radio key={by} value={by} disabled={!!off}>
            {label}
            {off && <div className="second">{off}</div>}
          </Radio>
        ))}
      </Flex>
    </Radio.Group>
  )
}
