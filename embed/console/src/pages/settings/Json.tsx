import { AlignLeftOutlined } from '@ant-design/icons'
import { Button, Flex } from 'antd'
import TextArea from 'antd/es/input/TextArea'
import { t } from '../../i18n'
import { layOut, valid } from '../../ui/json'
import { type ControlProps, lines } from './control-props'

// Json edits JSON text. Formatting changes only whitespace, so that long numbers keep all
// digits.
export function Json({ of: _, value = '', onChange, ...rest }: ControlProps) {
  return (
    <Flex vertical gap={8} align="start">
      <TextArea
        {...rest}
        rows={lines(value)}
        spellCheck={false}
        style={{ fontFamily: 'ui-monospace, monospace', fontSize: 13 }}
        value={value}
        onChange={(e) => onChange?.(e.target.value)}
      />
      {!rest.disabled && (
        <Button size="small" icon={<AlignLeftOutlined />} disabled={!valid(value)} onClick={() => onChange?.(layOut(value))}>
          {t('settings.json.format')}
        </Button>
      )}
    </Flex>
  )
}
