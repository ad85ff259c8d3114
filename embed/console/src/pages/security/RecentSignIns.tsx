import { Flex, Skeleton, Tag } from 'antd'
import { Link } from 'react-router'
import { type Key, maybe, t } from '../../i18n'
import { Time } from '../../ui/Time'
import { useGet } from '../../ui/useGet'
import { colors } from '../LoginLog'
import { inWords } from '../session-columns'
import { Line, Lines } from '../../ui/Lines'

// RecentSignIns are the last sign-ins, including those that have failed.
export function RecentSignIns() {
  const { data } = useGet('/admin/loginlog', { pageSize: 5 })
  if (!data) return <Skeleton active title={false} />
  return (
    <Flex vertical gap={12} align="start">
      {data.data.length === 0 ? (
        <span>{t('loginlog.empty')}</span>
      ) : (
        <Lines>
          {data.data.map((row) => (
            <Line key={row.id}>
              <Flex gap="4px 12px" align="center" wrap>
                <Tag color={colors[row.result]} style={{ margin: 0 }}>
                  {t(`loginlog.${row.result}` as Key)}
                  {row.count > 1 ? ` × ${row.count}` : ''}
                </Tag>
                {row.reason && <span className="second">{maybe(`loginlog.reason.${row.reason}`) ?? row.reason}</span>}
                <span>{inWords(row) || t('account.device.unknown')}</span>
                {row.provider_name && <span className="second">{t('loginlog.with', { name: row.provider_name })}</span>}
                <bdi className="second">{row.ip}</bdi>
                <span className="second">
                  <Time at={row.created_at} />
                </span>
              </Flex>
            </Line>
          ))}
        </Lines>
      )}
      <Link to="/account/loginlog" style={{ textDecoration: 'underline' }}>
        {t('security.sign_ins.all')}
      </Link>
    </Flex>
  )
}
