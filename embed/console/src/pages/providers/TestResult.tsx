import { Alert, Descriptions, Flex, Tag, theme, Typography } from 'antd'
import { useEffect, useState } from 'react'
import { Failure, get, put } from '../../api/request'
import type { Test } from '../../api/types'
import { t } from '../../i18n'
import { sentence } from '../../ui/sentence'
import { useAction } from '../../ui/useAction'
import { ViewDrawer } from '../../ui/ViewDrawer'
import { words } from '../../ui/words'
import { Given } from './Given'
import { textOf } from './preset'

// A test that has failed at the provider says why.
type Result = Test & { fault?: string }

// TestResult shows what a provider has said in a test, and what the mappings would give. A provider that is still disabled can
// be enabled here, by those who may.
export function TestResult({ open, enables, onClose }: { open: boolean; enables: boolean; onClose: () => void }) {
  const { notify } = useAction()
  const [busy, setBusy] = useState(false)
  const [result, setResult] = useState<Result>()
  const [problem, setProblem] = useState('')
  useEffect(() => {
    const stop = new AbortController()
    get('/system/provider-test', {}, { quiet: true, signal: stop.signal }).then(setResult, (cause: unknown) => {
      if (!stop.signal.aborted) setProblem(cause instanceof Failure ? words(cause) : t('error.unreachable'))
    })
    return () => stop.abort()
  }, [])
  const fault = problem || result?.fault

  async function enable({ provider_id: id, provider_name: name }: Result) {
    setBusy(true)
    try {
      await put(`/system/provider/${id}`, { status: 1 })
      notify(t('providers.enabled', { name }))
      onClose()
    } catch (cause) {
      if (!(cause instanceof Failure)) throw cause // already shown
    } finally {
      setBusy(false)
    }
  }

  return (
    <ViewDrawer
      open={open}
      loading={!result && !fault}
      title={fault ? t('providers.test.fault') : result?.provider_name ? t('providers.test.result', { name: result.provider_name }) : t('providers.test')}
      action={enables && !fault && result?.provider_status === 0 && { label: t('providers.enable'), busy, onClick: () => void enable(result) }}
      onClose={onClose}
    >
      {fault ? (
        <Alert
          type="error"
          showIcon
          title={t('providers.test.failed')}
          description={
            <>
              <div>{sentence(fault)}</div>
              <div>{t('providers.test.fault.do')}</div>
            </>
          }
        />
      ) : (
        result && <Shown of={result} />
      )}
    </ViewDrawer>
  )
}

function Shown({ of }: { of: Result }) {
  const { token } = theme.useToken()
  return (
    <Flex vertical gap={16}>
      <Alert type={of.accepted ? 'success' : 'error'} showIcon title={t(of.accepted ? 'providers.test.accepted' : 'providers.test.refused')} />
      {!of.auth_time && <Alert type="warning" showIcon title={t('providers.test.no_auth_time')} />}
      <Descriptions
        column={1}
        size="small"
        bordered
        styles={{ content: { overflowWrap: 'anywhere', minWidth: 0 } }}
        items={[
          { label: t('providers.issuer'), children: <bdi>{of.issuer}</bdi> },
          { label: t('providers.test.subject'), children: <bdi>{of.subject}</bdi> },
          {
            label: t('providers.email'),
            children: of.email ? (
              <Flex gap={8} wrap>
                <bdi>{of.email}</bdi>
                <Tag color={of.email_verified ? 'success' : 'warning'}>{t(of.email_verified ? 'providers.test.verified' : 'providers.test.unverified')}</Tag>
              </Flex>
            ) : (
              '—'
            ),
          },
          { label: t('providers.test.factor'), children: t(of.factor ? 'providers.test.yes' : 'providers.test.no') },
          { label: t('providers.roles'), children: <Given kind="role" ids={of.role_ids} /> },
          { label: t('providers.dept'), children: <Given kind="dept" ids={of.dept_id ? [of.dept_id] : []} /> },
        ]}
      />
      <section aria-label={t('providers.test.claims')}>
        <Typography.Title level={2} style={{ fontSize: 16, margin: '0 0 8px' }}>
          {t('providers.test.claims')}
        </Typography.Title>
        <pre
          tabIndex={0}
          dir="ltr"
          style={{
            margin: 0,
            padding: 16,
            maxHeight: 480,
            overflow: 'auto',
            fontSize: 13,
            whiteSpace: 'pre-wrap',
            overflowWrap: 'anywhere',
            borderRadius: token.borderRadius,
            background: token.colorFillTertiary,
          }}
        >
          {textOf(of.claims)}
        </pre>
      </section>
    </Flex>
  )
}
