import { Flex, Form, Radio } from 'antd'
import { useRef } from 'react'
import { post } from '../../api/request'
import { t } from '../../i18n'
import { Question } from '../../ui/Question'
import { type ApiKey, all, type KeyWithToken, name, own as ownPath } from './key'

type Props = {
  open: boolean
  of: ApiKey
  own: boolean // a personal key of the user who is signed in
  onClose: () => void
  onDone: () => Promise<void>
  onToken: (key: KeyWithToken) => void // shown once the dialog is closed
}

const hours = [0, 1, 24, 168] as const

// Rotate gives a key a new token. The one before stays valid for some hours.
export function Rotate({ open, of, own, onClose, onDone, onToken }: Props) {
  const made = useRef<KeyWithToken>(undefined)

  async function run({ overlap_hours }: { overlap_hours: number }) {
    made.current = await post(`${own ? ownPath : all}/${of.id}/rotate`, { overlap_hours }, { quiet: true })
    await onDone()
  }

  function closed() {
    if (made.current) onToken(made.current)
    made.current = undefined
  }

  return (
    <Question
      open={open}
      title={t('keys.rotate.title', { name: name(of) })}
      ok={t('keys.rotate')}
      initial={{ overlap_hours: 24 }}
      run={run}
      onClose={onClose}
      onClosed={closed}
    >
      <p style={{ marginTop: 0 }}>{t('keys.rotate.text')}</p>
      <Form.Item name="overlap_hours" required label={t('keys.rotate.overlap')} style={{ marginBottom: 0 }}>
        <Radio.Group>
          <Flex vertical gap={8}>
            {hours.map((n) => (
              <Radio key={n} value={n}>
                {t(`keys.rotate.overlap.${n}`)}
              </Radio>
            ))}
          </Flex>
        </Radio.Group>
      </Form.Item>
    </Question>
  )
}
