import type { CompactionState } from '../../api/types'

// percentOf returns how much of a compaction is done. The copies are verified at the end, so it is 100
// only afterwards.
export function percentOf({ state, done_bytes, total_bytes }: Pick<CompactionState, 'state' | 'done_bytes' | 'total_bytes'>): number {
  if (state === 'done') return 100
  return total_bytes > 0 ? Math.min(99, Math.floor((done_bytes / total_bytes) * 100)) : 0
}

// returned returns the bytes that a compaction has returned to the disk.
export function returned(files: CompactionState['files']): number {
  return files.reduce((sum, { before_bytes, after_bytes }) => sum + Math.max(0, before_bytes - after_bytes), 0)
}
