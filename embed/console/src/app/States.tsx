import { Button, Result } from 'antd'
import { isRouteErrorResponse, Link, useRouteError } from 'react-router'
import { t } from '../i18n'

// What stands where a page cannot.

export function NotFound() {
  return <Result status="404" title={t('state.not_found')} extra={<Link to="/"><Button type="primary">{t('state.home')}</Button></Link>} />
}

export function Forbidden({ permission }: { permission: string }) {
  return <Result status="403" title={t('state.forbidden')} subTitle={t('state.forbidden.missing', { permission })} />
}

// Problem is shown when a page breaks, or its file cannot be loaded: after an update
// of the server the files of the version before are gone.
export function Problem() {
  const error = useRouteError()
  if (isRouteErrorResponse(error) && error.status === 404) return <NotFound />
  return <Result status="warning" title={t('state.problem')} extra={<Button type="primary" onClick={() => location.reload()}>{t('state.reload')}</Button>} />
}
