import { Input, theme } from 'antd'
import { t } from '../../i18n'
import { clear } from '../../ui/clear'
import type { ControlProps } from './control-props'

// Color is a color as text, with the browser's color picker.
export function Color({ of: _, value = '', onChange, ...rest }: ControlProps) {
  const { token } = theme.useToken()
  return (
    <Input
      {...rest}
      style={{ maxWidth: 240 }}
      allowClear={!rest.disabled && clear()}
      placeholder="#0958d9"
      value={value}
      onChange={(e) => onChange?.(e.target.value.trim())}
      prefix={
        <input
          type="color"
          aria-label={t('settings.color.choose')}
          disabled={rest.disabled}
          value={solid(value)}
          onChange={(e) => onChange?.(e.target.value)}
          style={{
            width: 32,
            height: 24,
            margin: '-1px 0',
            padding: 0,
            border: `1px solid ${token.colorBorder}`,
            borderRadius: 4,
            background: 'none',
            opacity: value ? 1 : 0.4,
          }}
        />
      }
    />
  )
}

// solid converts a color to the form that the picker supports.
function solid(text: string): string {
  if (/^#[0-9a-f]{3}$/i.test(text)) return text.replace(/[0-9a-f]/gi, '$&$&').toLowerCase()
  return /^#[0-9a-f]{6}/i.test(text) ? text.slice(0, 7).toLowerCase() : '#000000'
}
