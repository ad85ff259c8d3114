import { Checkbox, Form, Input } from 'antd'
import { beginActing } from '../../api/acting'
import { post } from '../../api/request'
import { useAccount } from '../../app/account'
import { t } from '../../i18n'
import { Question } from '../../ui/Question'
import { names, type Person } from './person'

type Values = { reason: string; writes?: boolean }

type Props = { open: boolean; user: Person; onClose: () => void }

// ActAs asks for the reason to act as a user, and opens the console as that user.
export function ActAs({ open, user, onClose }: Props) {
  const { access } = useAccount().info
  const name = names([user])
  const canWrite = access.includes('admin.list.act_as_write')

  async function run({ reason, writes }: Values) {
    const { user_id } = await post(`/admin/list/${user.id}/act-as`, { reason, writes: writes ? 1 : 0 }, { quiet: true })
    beginActing(user_id)
  }

  return (
    <Question<Values> open={open} title={t('people.act_as.of', { name })} ok={t('people.act_as')} initial={{ writes: false }} run={run} onClose={onClose}>
      <p style={{ marginTop: 0, overflowWrap: 'anywhere' }}>
        {t('people.act_as.text', { name, look: t(canWrite ? 'people.act_as.look.writes' : 'people.act_as.look') })}
      </p>
      <Form.Item name="reason" label={t('people.act_as.reason')} rules={[{ required: true, whitespace: true, message: t('form.required') }]}>
        <Input autoFocus autoComplete="off" maxLength={200} />
      </Form.Item>
      {canWrite && (
        <Form.Item name="writes" valuePropName="checked">
          <Checkbox>{t('people.act_as.writes')}</Checkbox>
        </Form.Item>
      )}
    </Question>
  )
}
