import { Alert, Checkbox, Form, Input, InputNumber, Select, Typography } from 'antd'
import type { ReactNode } from 'react'
import { Failure } from '../../api/request'
import type { Mapping, Provider } from '../../api/types'
import { t } from '../../i18n'
import { StatusField } from '../../ui/fields'
import { FormDrawer } from '../../ui/FormDrawer'
import { useEditor } from '../../ui/useEditor'
import { Addresses } from './cells'
import { Directory } from './Directory'
import { Mappings } from './Mappings'
import { Group, required, Secret, Tags, Toggle } from './parts'
import { atFields, blank, bodyOf, filled, isDirectory, isTemplate, type Kind, kinds, presetFields, type Realm, type Values, valuesOf } from './preset'

type Props = { open: boolean; provider?: Provider; onClose: () => void; onSaved: (provider: Provider, created: boolean) => Promise<void> }

// ProviderForm creates or edits a sign-in provider.
export function ProviderForm({ open, provider, onClose, onSaved }: Props) {
  const { of, save: store, form: editor } = useEditor('/system/provider', provider, valuesOf)

  async function save(values: Values) {
    try {
      await onSaved(await store(bodyOf(values)), !of)
    } catch (cause) {
      throw cause instanceof Failure ? atFields(cause, (n) => t('providers.mapping', { n })) : cause
    }
  }

  return (
    <FormDrawer<Values>
      size={640}
      history={of && { collection: 'provider', id: of.id }}
      title={t(of ? 'providers.edit' : 'providers.create')}
      open={open}
      onClose={onClose}
      save={save}
      {...editor(blank)}
    >
      {(form) => (
        <>
          <Group title={t('providers.group.provider')}>
            <Form.Item name="kind" label={t('providers.kind')} required>
              <Select<Kind>
                options={kinds.map((value) => ({ value, label: t(`providers.kind.${value}`) }))}
                onChange={(kind) => form.setFieldsValue(filled(kind, form.getFieldsValue(presetFields) as Partial<Values>))}
              />
            </Form.Item>
            <Form.Item noStyle dependencies={['kind']}>
              {({ getFieldValue }) => <About kind={getFieldValue('kind') as Kind} />}
            </Form.Item>
            <Form.Item name="title" label={t('providers.title')} extra={t('providers.title.hint')} rules={required()}>
              <Input maxLength={64} autoComplete="off" />
            </Form.Item>
            <ByKind open={<Issuer />} directory={<Name hint={() => t('providers.name.hint.directory')} />} />
          </Group>
          <ByKind open={<Client of={of} />} directory={<Directory stored={of?.has_secret === 1} />} />
          <People />
          <ByKind
            open={
              <Group title={t('providers.group.factor')}>
                <Form.Item name="factor_values" label={t('providers.factors')} extra={t('providers.factors.hint')}>
                  <Tags most={20} placeholder={t('providers.factors.none')} />
                </Form.Item>
                <Toggle name="ends_session" label={t('providers.ends')} extra={t('providers.ends.hint')} />
              </Group>
            }
          />
          <Group title={t('providers.group.mappings')}>
            <Typography.Paragraph type="secondary">{t('providers.mappings.hint')}</Typography.Paragraph>
            <ByKind directory={<Typography.Paragraph type="secondary">{t('providers.mappings.hint.directory')}</Typography.Paragraph>} />
            <Form.Item noStyle dependencies={['realms']}>
              {({ getFieldValue }) => (
                <Form.Item name="mappings" rules={[{ validator: complete }]}>
                  <Mappings realms={(getFieldValue('realms') as Realm[] | undefined) ?? []} />
                </Form.Item>
              )}
            </Form.Item>
          </Group>
          <Group title={t('providers.group.page')}>
            <Form.Item name="sort" label={t('providers.sort')}>
              <InputNumber min={-1_000_000} max={1_000_000} precision={0} style={{ width: 160 }} />
            </Form.Item>
            <ByKind
              open={<StatusField extra={t(of && !of.callback_url ? 'providers.no_public_url' : 'providers.status.hint')} />}
              directory={<StatusField extra={t('providers.status.hint')} />}
            />
          </Group>
        </>
      )}
    </FormDrawer>
  )
}

// complete requires a claim and a value of every mapping.
const complete = (_: unknown, mappings: Mapping[] = []) => {
  const at = mappings.findIndex(({ claim, value }) => !claim.trim() || !value.trim())
  return at < 0 ? Promise.resolve() : Promise.reject(new Error(`${t('providers.mapping', { n: at + 1 })}: ${t('form.required')}`))
}

// ByKind shows one thing for directories and another for other providers.
function ByKind({ open, directory }: { open?: ReactNode; directory?: ReactNode }) {
  return (
    <Form.Item noStyle dependencies={['kind']}>
      {({ getFieldValue }) => (isDirectory(getFieldValue('kind') as Kind) ? directory : open)}
    </Form.Item>
  )
}

function Issuer() {
  return (
    <Form.Item
      name="issuer"
      label={t('providers.issuer')}
      extra={t('providers.issuer.hint')}
      rules={[
        ...required(),
        { validator: (_, issuer: string) => (isTemplate(issuer) ? Promise.reject(new Error(t('providers.issuer.template'))) : Promise.resolve()) },
      ]}
    >
      <Input maxLength={2000} spellCheck={false} inputMode="url" autoComplete="off" placeholder="https://id.example.com" />
    </Form.Item>
  )
}

// Name is the name in URLs. The hint gets what is entered.
function Name({ hint }: { hint: (name: string) => string }) {
  return (
    <Form.Item noStyle dependencies={['name']}>
      {({ getFieldValue }) => (
        <Form.Item
          name="name"
          label={t('providers.name')}
          extra={hint((getFieldValue('name') as string) || '…')}
          rules={[
            { required: true, message: t('form.required') },
            { pattern: /^[a-z][a-z0-9-]*$/, message: t('providers.name.rule') },
          ]}
        >
          <Input maxLength={32} spellCheck={false} autoCapitalize="none" autoComplete="off" />
        </Form.Item>
      )}
    </Form.Item>
  )
}

function About({ kind }: { kind: Kind }) {
  if (kind !== 'github' && kind !== 'microsoft') return null
  return <Alert type={kind === 'github' ? 'warning' : 'info'} showIcon title={t(`providers.kind.hint.${kind}`)} style={{ marginBottom: 24 }} />
}

// Client is what belongs to the registration at the provider.
function Client({ of }: { of?: Provider }) {
  const stored = of?.has_secret === 1
  return (
    <Group title={t('providers.group.client')}>
      <Name hint={(name) => t('providers.name.hint', { callback: `/auth/provider/${name}/callback` })} />
      {of && <Addresses of={of} />}
      <Form.Item name="client_id" label={t('providers.client_id')} rules={required()}>
        <Input maxLength={300} spellCheck={false} autoComplete="off" />
      </Form.Item>
      <Secret stored={stored} label={t('providers.secret')} hint={t('providers.secret.new')} />
      <Form.Item noStyle dependencies={['kind']}>
        {({ getFieldValue }) => (
          <Form.Item
            name="scopes"
            label={t('providers.scopes')}
            extra={t(getFieldValue('kind') === 'github' ? 'providers.scopes.github' : 'providers.scopes.hint')}
          >
            <Tags most={20} />
          </Form.Item>
        )}
      </Form.Item>
    </Group>
  )
}

// People is who may sign in.
function People() {
  return (
    <Group title={t('providers.group.people')}>
      <Form.Item name="realms" label={t('providers.realms')} rules={[{ required: true, message: t('providers.realm.required') }]}>
        <Realms />
      </Form.Item>
      <Form.Item name="creates" label={t('providers.creates')} required>
        <Select options={(['never', 'invitation', 'always'] as const).map((value) => ({ value, label: t(`providers.creates.${value}`) }))} />
      </Form.Item>
      <Form.Item name="domains" label={t('providers.domains')} extra={t('providers.domains.hint')}>
        <Tags most={50} placeholder={t('providers.domains.any')} />
      </Form.Item>
      <Toggle name="trusts_address" label={t('providers.trusts')} extra={t('providers.trusts.hint')} />
    </Group>
  )
}

// Realms is whom a provider signs in. The group may not have all attributes that the form gives to its fields.
function Realms({ value, onChange }: { value?: Realm[]; onChange?: (realms: Realm[]) => void }) {
  return (
    <Checkbox.Group<Realm>
      aria-label={t('providers.realms')}
      value={value}
      onChange={onChange}
      options={[
        { value: 'users', label: t('providers.users') },
        { value: 'app_users', label: t('providers.app_users') },
      ]}
    />
  )
}
