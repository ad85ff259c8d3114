import { AlignLeftOutlined } from '@ant-design/icons'
import { Button, Flex } from 'antd'
import TextArea from 'antd/es/input/TextArea'
import { t } from '../../i18n'
import { type ControlProps, lines } from './Control'

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

function valid(text: string): boolean {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}

// layOut indents JSON without parsing values.
function layOut(text: string): string {
  let depth = 0
  const tokens = text.match(/"(?:\\.|[^"\\])*"|[{}[\],:]|[^\s{}[\],:"]+/g) ?? []
  const line = () => `\n${'  '.repeat(depth)}`
  return tokens
    .map((token, i) => {
      if (token === '{' || token === '[') {
        const empty = tokens[i + 1] === '}' || tokens[i + 1] === ']'
        depth++
        return empty ? token : token + line()
      }
      if (token === '}' || token === ']') {
        depth--
        return tokens[i - 1] === '{' || tokens[i - 1] === '[' ? token : line() + token
      }
      if (token === ',') return token + line()
      return token === ':' ? ': ' : token
    })
    .join('')
}
