import { expect, test } from 'vitest'
import type { BackupTarget } from '../api/types'
import { unprovenOf } from './unproven'

const target = { name: 'nas', kind: 'directory', newest_at: '2026-01-03T03:00:00Z', proven_at: '2026-01-02T03:00:00Z', unproven: 1 } as BackupTarget

test('a target is named with the time of its last proven copy, a command with that of the last one sent', () => {
  expect(unprovenOf([])).toEqual([])
  expect(unprovenOf([{ ...target, unproven: 0 }])).toEqual([])
  expect(
    unprovenOf([
      target,
      { ...target, name: 'well', unproven: 0 },
      { ...target, name: 'never', proven_at: null },
      { ...target, name: 'pipe', kind: 'command', proven_at: null },
    ]),
  ).toEqual([
    { name: 'nas', since: '2026-01-02T03:00:00Z' },
    { name: 'never', since: null },
    { name: 'pipe', since: '2026-01-03T03:00:00Z' },
  ])
})
