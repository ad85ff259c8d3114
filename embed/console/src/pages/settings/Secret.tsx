import { Button, Flex, Typography } from 'antd'
import { Password } from '../../ui/Password'
import { useState } from 'react'
import { t } from '../../i18n'
import type { ControlProps } from './control-props'

// Secret never shows the stored value. Typing replaces it, and a button removes it; an
// empty field keeps it.
export function Secret({ of, value, onChange, ...rest }: ControlProps) {
  const [typing, setTyping] = useState(false)
  const stored = of.values !== ''
  const removed = stored && value === '' && !typing
  return (
    <Flex vertical gap={8} align="start">
      <Password
        {...rest}
        autoComplete="new-password"
        style={{ maxWidth: 400 }}
        placeholder={removed ? t('settings.secret.removed') : stored ? t('settings.secret.stored') : t('settings.secret.none')}
        value={value ?? ''}
        onFocus={() => setTyping(true)}
        onBlur={() => setTyping(false)}
        onChange={(e) => onChange?.(e.target.value || undefined)}
      />
      {stored &&
        !rest.disabled &&
        (removed ? (
          <Typography.Text type="secondary">{t('settings.secret.removal')}</Typography.Text>
        ) : (
          <Button size="small" onClick={() => onChange?.('')}>
            {t('settings.secret.remove')}
          </Button>
        ))}
    </Flex>
  )
}
