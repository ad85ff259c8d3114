import { Flex, Input } from 'antd'
import dayjs from 'dayjs'
import { useState } from 'react'
import { t } from '../../i18n'
import { inAddress, type Span } from './span'

type Props = { span: Span; set: (values: Record<string, string | undefined>) => void }

const local = (at: number) => dayjs(at).format('YYYY-MM-DDTHH:mm:ss')

// Past selects a period with the browser's own date fields: the component library's
// calendar is a tenth of the page's size. It applies once both ends are set and the fields
// lose the focus.
export function Past({ span, set }: Props) {
  const [typed, type] = useState<{ from: string; to: string }>()
  const shown = typed ?? (span.to === undefined ? { from: '', to: '' } : { from: local(span.from()), to: local(span.to) })

  function apply() {
    if (!typed) return
    const [from, to] = [Date.parse(typed.from), Date.parse(typed.to)]
    if (from < to) set({ ...inAddress(from, to), live: undefined })
    else if (typed.from || typed.to) return
    else if (span.to !== undefined) set({ from: undefined, to: undefined })
    type(undefined)
  }

  return (
    <Flex
      gap={8}
      wrap
      role="group"
      aria-label={t('monitor.span')}
      onBlur={(e) => {
        if (!e.currentTarget.contains(e.relatedTarget)) apply()
      }}
    >
      {(['from', 'to'] as const).map((end) => (
        <Input
          key={end}
          type="datetime-local"
          step={1}
          aria-label={t(`monitor.${end}`)}
          title={t(`monitor.${end}`)}
          style={{ width: 216 }}
          value={shown[end]}
          onChange={(e) => type({ ...shown, [end]: e.target.value })}
          onPressEnter={apply}
        />
      ))}
    </Flex>
  )
}
