import { Button, Flex, Tag, Typography } from 'antd'
import { useState } from 'react'
import type { Change } from '../../api/types'
import { maybe, t } from '../../i18n'
import { Line, Lines } from '../../ui/Lines'
import { marks, shown } from './setup'

const colors: Record<Change['operation'], string> = { create: 'success', update: 'processing', delete: 'error' }
const first = 100 // changes that are shown at once

// kindName is the kind of an object for people.
export const kindName = (kind: string): string => maybe(`setup.kind.${kind}`) ?? kind

// Plan lists changes in their order, with the fields that change.
export function Plan({ changes }: { changes: Change[] }) {
  const [most, setMost] = useState(first)
  return (
    <>
      <Lines>
        {changes.slice(0, most).map((change) => (
          <Line key={`${change.operation} ${change.kind} ${change.key}`}>
            <Flex gap={8} align="baseline" wrap>
              <Tag color={colors[change.operation]}>
                {marks[change.operation]} {t(`setup.${change.operation}`)}
              </Tag>
              {kindName(change.kind)}
              <strong>
                <bdi>{change.key}</bdi>
              </strong>
            </Flex>
            {change.fields.map((field) => (
              <div key={field.name} style={{ paddingInlineStart: 16 }}>
                <code>{field.name}</code>:{' '}
                {field.secret ? (
                  t('setup.secret')
                ) : (
                  <>
                    {change.operation === 'update' && (
                      <>
                        <Value of={field.old} /> →{' '}
                      </>
                    )}
                    <Value of={field.new} />
                  </>
                )}
              </div>
            ))}
          </Line>
        ))}
      </Lines>
      {changes.length > most && (
        <Button style={{ marginTop: 8 }} onClick={() => setMost(most + 10 * first)}>
          {t('more')}
        </Button>
      )}
    </>
  )
}

function Value({ of }: { of: unknown }) {
  const text = shown(of)
  return text ? <code dir="auto">{text}</code> : <Typography.Text type="secondary">{t('setup.nothing')}</Typography.Text>
}
