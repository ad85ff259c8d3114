import { Button, Modal, Typography } from 'antd'
import { useEffect, useEffectEvent, useRef, useState } from 'react'
import { Failure } from '../../api/request'
import { noticeShown } from '../../api/saved-notice'
import { t } from '../../i18n'
import { Progress as Bar } from '../../ui/Progress'
import { useAction } from '../../ui/useAction'
import { words } from '../../ui/words'
import type { Person } from './person'

export type Job<T> = {
  title: string
  done: string // message when all succeeded
  on: T[]
  act(user: T): Promise<unknown>
  undo?: () => void
}

type Props<T> = { open: boolean; job: Job<T>; onClose: () => void; onDone: () => Promise<void> }

// Progress runs an action for many users one after the other, and lists the failures. It
// appears when it takes long or something fails; closing it stops after the current user.
export function Progress<T extends Person>({ open, job, onClose, onDone }: Props<T>) {
  const [count, setCount] = useState(0)
  const [failed, setFailed] = useState<[T, string][]>([])
  const [late, setLate] = useState(false)
  const stopped = useRef(false)
  const { notify } = useAction()
  const over = count === job.on.length

  const end = useEffectEvent(async (job: Job<T>, well: () => boolean) => {
    await onDone()
    noticeShown() // the dialog shows what failed
    if (!well()) return
    onClose()
    const { undo } = job
    notify(
      job.done,
      undo &&
        (async () => {
          undo() // another job, which reports when it is done
          return false
        }),
    )
  })

  useEffect(() => {
    stopped.current = false
    setCount(0)
    setFailed([])
    setLate(false)
    const wait = setTimeout(() => setLate(true), 400)
    let wrong = 0
    const run = async () => {
      for (const user of job.on) {
        if (stopped.current) break
        try {
          await job.act(user)
        } catch (cause) {
          if (!(cause instanceof Failure)) throw cause
          wrong++
          setFailed((before) => [...before, [user, words(cause)]])
        }
        setCount((n) => n + 1)
      }
      clearTimeout(wait)
      await end(job, () => wrong === 0 && !stopped.current)
    }
    void run()
    return () => {
      clearTimeout(wait)
      stopped.current = true
    }
  }, [job]) // start only once

  function close() {
    stopped.current = true
    onClose()
  }

  return (
    <Modal
      title={job.title}
      open={open && (late || failed.length > 0)}
      onCancel={close}
      closable={false}
      destroyOnHidden
      footer={
        <Button type={over ? 'primary' : 'default'} onClick={close}>
          {over ? t('close') : t('people.batch.stop')}
        </Button>
      }
    >
      <div aria-live="polite">
        <Bar percent={job.on.length ? Math.round((100 * count) / job.on.length) : 100} failed={failed.length > 0} info={false} label={job.title} />
        <Typography.Paragraph>{t('people.batch.count', { n: count - failed.length, of: job.on.length })}</Typography.Paragraph>
        {failed.length > 0 && (
          <>
            <Typography.Text strong>{t('people.batch.failed', { n: failed.length })}</Typography.Text>
            <ul tabIndex={0} style={{ maxHeight: 240, overflow: 'auto', margin: 0, paddingInlineStart: 20 }}>
              {failed.map(([user, why]) => (
                <li key={user.id} style={{ overflowWrap: 'anywhere' }}>
                  <bdi>{user.username}</bdi>: {why}
                </li>
              ))}
            </ul>
          </>
        )}
      </div>
    </Modal>
  )
}
