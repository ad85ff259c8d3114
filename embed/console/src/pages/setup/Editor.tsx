import { Alert, Button, Form, theme, Typography } from 'antd'
import TextArea from 'antd/es/input/TextArea'
import { useMemo, useRef } from 'react'
import { t } from '../../i18n'
import { Line, Lines } from '../../ui/Lines'
import { type Fault, numbers, rangeOf } from './setup'

type Props = { value: string; faults: Fault[]; disabled: boolean; onChange: (text: string) => void }

const height = 20 // pixels of a line
const rows = 18

// Editor edits the text of a file beside the numbers of its lines. Faults lead to their lines.
export function Editor({ value, faults, disabled, onChange }: Props) {
  const { token } = theme.useToken()
  const box = useRef<HTMLDivElement>(null)
  const gutter = useRef<HTMLPreElement>(null)
  const parts = useMemo(() => numbers(value, new Set(faults.map((fault) => fault.line))), [value, faults])

  function show(line: number) {
    const area = box.current?.querySelector('textarea')
    if (!area) return
    area.focus()
    area.setSelectionRange(...rangeOf(value, line))
    area.scrollTop = (line - rows / 2) * height
  }

  const type = { fontFamily: 'ui-monospace, monospace', fontSize: 13, lineHeight: `${height}px`, paddingBlock: 8 }
  return (
    <>
      <Form.Item label={t('setup.text')} htmlFor="text">
        <div ref={box} style={{ display: 'flex' }}>
          <pre
            ref={gutter}
            aria-hidden
            dir="ltr"
            style={{
              ...type,
              boxSizing: 'border-box',
              flex: 'none',
              height: rows * height + 18,
              margin: 0,
              overflow: 'hidden',
              padding: '9px 8px 40px 0',
              minWidth: 36,
              textAlign: 'end',
              color: token.colorTextTertiary,
              userSelect: 'none',
            }}
          >
            {parts.map((part, i) =>
              part.marked ? (
                <strong key={i} style={{ color: token.colorErrorText }}>
                  {part.text}
                </strong>
              ) : (
                part.text
              ),
            )}
          </pre>
          <TextArea
            id="text"
            dir="ltr"
            wrap="off"
            spellCheck={false}
            autoCapitalize="off"
            placeholder={t('setup.drop')}
            disabled={disabled}
            status={faults.length ? 'error' : undefined}
            style={{ ...type, height: rows * height + 18, resize: 'none', flex: 1, minWidth: 0 }}
            value={value}
            onChange={(e) => onChange(e.target.value)}
            onScroll={(e) => {
              if (gutter.current) gutter.current.scrollTop = e.currentTarget.scrollTop
            }}
          />
        </div>
      </Form.Item>
      {faults.length > 0 && (
        <Alert
          type="error"
          style={{ marginBottom: 16 }}
          title={t('setup.faults', { n: faults.length })}
          description={
            <Lines>
              {faults.map(({ line, place, text }) => (
                <Line key={`${line} ${place}`}>
                  {line > 0 && (
                    <Button type="link" size="small" style={{ paddingInlineStart: 0 }} onClick={() => show(line)}>
                      {t('setup.line', { n: line })}
                    </Button>
                  )}
                  {place && <Typography.Text code>{place}</Typography.Text>} {text}
                </Line>
              ))}
            </Lines>
          }
        />
      )}
    </>
  )
}
