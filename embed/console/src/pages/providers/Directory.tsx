import { Form, Input } from 'antd'
import TextArea from 'antd/es/input/TextArea'
import { t } from '../../i18n'
import { Group, required, Secret, Tags, Toggle } from './parts'

// Directory is how a directory is asked.
export function Directory({ stored }: { stored: boolean }) {
  return (
    <>
      <Group title={t('providers.group.directory')}>
        <Form.Item name="servers" label={t('providers.servers')} extra={t('providers.servers.hint')} rules={[{ required: true, message: t('form.required') }]}>
          <Tags most={10} placeholder="ldaps://ldap.example.com" />
        </Form.Item>
        <Form.Item name="certificates" label={t('providers.certificates')} extra={t('providers.certificates.hint')}>
          <TextArea maxLength={100_000} spellCheck={false} rows={4} placeholder="-----BEGIN CERTIFICATE-----" />
        </Form.Item>
        <Toggle name="plain" label={t('providers.plain')} extra={t('providers.plain.hint')} />
        <Text name="bind_dn" placeholder="cn=reader,dc=example,dc=com" />
        <Secret stored={stored} label={t('providers.bind_secret')} hint={t('providers.bind_secret.hint')} />
        <Text name="base_dn" needed placeholder="ou=people,dc=example,dc=com" />
        <Text name="group_base_dn" placeholder="ou=groups,dc=example,dc=com" />
      </Group>
      <Group title={t('providers.group.attributes')}>
        <Text name="user_filter" needed />
        <Text name="group_filter" />
        <Text name="id_attribute" needed />
        <Text name="username_attribute" needed />
        <Text name="name_attribute" needed />
        <Text name="email_attribute" needed />
      </Group>
    </>
  )
}

type Name =
  | 'bind_dn'
  | 'base_dn'
  | 'group_base_dn'
  | 'user_filter'
  | 'group_filter'
  | 'id_attribute'
  | 'username_attribute'
  | 'name_attribute'
  | 'email_attribute'

function Text({ name, needed, placeholder }: { name: Name; needed?: boolean; placeholder?: string }) {
  return (
    <Form.Item name={name} label={t(`providers.${name}`)} extra={t(`providers.${name}.hint`)} rules={needed ? required() : []}>
      <Input maxLength={2000} spellCheck={false} autoCapitalize="none" autoComplete="off" placeholder={placeholder} />
    </Form.Item>
  )
}
