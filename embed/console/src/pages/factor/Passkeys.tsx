import { Button, Flex, Form, Input, Tag, theme, Typography } from 'antd'
import { useState } from 'react'
import { confirmFirst, del, get, post, put } from '../../api/request'
import type { Passkey } from '../../api/types'
import { t } from '../../i18n'
import { Actions } from '../../ui/Actions'
import { Question } from '../../ui/Question'
import { Time } from '../../ui/Time'
import { useAction } from '../../ui/useAction'
import { canUse, make, whyNot } from './passkey'

type Props = {
  passkeys: Passkey[]
  options: unknown // for a new passkey; null if the server has no passkeys
  only: boolean // there is no other second factor
  reload: () => Promise<void>
  onCodes: (codes: string[]) => void
}

// Passkeys lists, adds, renames and removes the user's passkeys.
export function Passkeys({ passkeys, options, only, reload, onCodes }: Props) {
  const { token } = theme.useToken()
  const { confirm, notify } = useAction()
  const [open, setOpen] = useState<'add' | 'rename'>()
  const [chosen, setChosen] = useState<Passkey>() // to be renamed

  // The user confirms before there is a new passkey, which would be useless if that was refused.
  async function begin() {
    if (await confirmFirst()) setOpen('add')
  }

  async function add({ name = '' }: { name?: string }) {
    const { public_key } = await get('/admin/account/passkey-options', {}, { quiet: true })
    const made = await post('/admin/account/passkey', { name, credential: await make(public_key) }, { quiet: true })
    onCodes(made.recovery_codes)
    notify(t('passkey.added'))
    await reload()
  }

  async function rename({ name }: { name: string }) {
    await put(`/admin/account/passkey/${chosen!.id}`, { name }, { quiet: true })
    await reload()
  }

  async function remove({ id, name }: Passkey) {
    const text = [t('passkey.remove.text'), only && passkeys.length === 1 && t('passkey.remove.last')].filter(Boolean).join(' ')
    if (!(await confirm({ title: t('passkey.remove.sure', { name }), text, ok: t('passkey.remove') }))) return
    await del(`/admin/account/passkey/${id}`)
    notify(t('passkey.removed'))
    await reload()
  }

  return (
    <>
      <Typography.Text type="secondary">{t('passkey.about')}</Typography.Text>
      {passkeys.length > 0 && (
        <ul style={{ width: '100%', listStyle: 'none', padding: 0, margin: 0 }}>
          {passkeys.map((one) => (
            <li key={one.id} style={{ padding: '8px 0', borderBottom: `1px solid ${token.colorBorderSecondary}` }}>
              <Item
                of={one}
                onRename={() => {
                  setChosen(one)
                  setOpen('rename')
                }}
                onRemove={() => void remove(one)}
              />
            </li>
          ))}
        </ul>
      )}
      {!options ? (
        <Typography.Text>{t('passkey.unavailable')}</Typography.Text>
      ) : canUse(options) ? (
        <Button onClick={() => void begin()}>{t('passkey.add')}</Button>
      ) : (
        <Typography.Text>{whyNot(options)}</Typography.Text>
      )}
      <Question<{ name?: string }>
        open={open === 'add'}
        title={t('passkey.add')}
        ok={t('passkey.add')}
        initial={{}}
        run={add}
        onClose={() => setOpen(undefined)}
      >
        <Form.Item name="name" label={t('name')} extra={t('passkey.name.help')}>
          <Input autoFocus autoComplete="off" maxLength={64} />
        </Form.Item>
      </Question>
      <Question<{ name: string }>
        open={open === 'rename'}
        title={t('passkey.rename.of', { name: chosen?.name ?? '' })}
        ok={t('save')}
        initial={{ name: chosen?.name }}
        run={rename}
        onClose={() => setOpen(undefined)}
      >
        <Form.Item name="name" label={t('name')} rules={[{ required: true, message: t('form.required') }]}>
          <Input autoFocus autoComplete="off" maxLength={64} />
        </Form.Item>
      </Question>
    </>
  )
}

function Item({ of, onRename, onRemove }: { of: Passkey; onRename: () => void; onRemove: () => void }) {
  return (
    <Flex gap={8} align="start" justify="space-between">
      <div style={{ minWidth: 0 }}>
        <Flex gap={8} align="center" wrap>
          <b dir="auto" style={{ overflowWrap: 'anywhere', minWidth: 0 }}>
            {of.name}
          </b>
          {of.synced === 1 && <Tag style={{ margin: 0 }}>{t('passkey.synced')}</Tag>}
          {of.usable === 0 && (
            <Tag color="warning" style={{ margin: 0 }}>
              {t('passkey.unusable')}
            </Tag>
          )}
        </Flex>
        <Flex gap="0 16px" wrap className="second">
          <span>
            {t('passkey.since')} <Time at={of.created_at} />
          </span>
          <span>
            {t('factor.used')} <Time at={of.last_used} />
          </span>
        </Flex>
      </div>
      <Actions
        first={{ label: t('passkey.rename'), onClick: onRename }}
        called={t('passkey.rename.of', { name: of.name })}
        label={t('more.of', { name: of.name })}
        more={[{ label: t('passkey.remove'), danger: true, onClick: onRemove }]}
      />
    </Flex>
  )
}
