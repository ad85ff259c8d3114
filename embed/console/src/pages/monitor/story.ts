import type { AuthEvent, CacheEvent, QueryEvent, RedisRecord, RequestEvent, RequestPart } from '../../api/types'

// What happened in a request, laid out in time.

export type Part = { id: number } & (
  | { kind: 'auth'; event: AuthEvent }
  | { kind: 'query'; event: QueryEvent }
  | { kind: 'cache'; event: CacheEvent }
  | { kind: 'redis'; event: RedisRecord }
)

// Laid is a part with its bar, in milliseconds from the beginning of the request.
// Only operations of the store know when they began; of the rest the order alone is
// known.
export type Laid = Part & { at: number | null; wait: number; took: number; commit: number }

export function lay(request: RequestEvent, events: RequestPart[]): { parts: Laid[]; whole: number } {
  const begun = micros(request.recorded_at)
  const parts = events.map(({ kind, event }): Laid => {
    const part = { kind, event, id: (event as { id: number }).id } as Part
    if (part.kind === 'query') {
      const { duration_ms, wait_ms, commit_ms, recorded_at } = part.event
      return { ...part, at: (micros(recorded_at) - begun) / 1000, wait: wait_ms, took: duration_ms, commit: commit_ms }
    }
    return { ...part, at: null, wait: 0, took: part.kind === 'auth' ? 0 : (part.event.duration_ms ?? 0), commit: 0 }
  })
  const ends = parts.map((p) => (p.at === null ? 0 : p.at + p.took + p.commit))
  return { parts, whole: Math.max(request.duration_ms, ...ends, 0.001) }
}

// micros reads a time to the microsecond, which Date does not.
function micros(at: string): number {
  const fraction = /\.(\d+)Z$/.exec(at)?.[1] ?? ''
  return Date.parse(at.replace(/\.\d+Z$/, 'Z')) * 1000 + Number(fraction.padEnd(6, '0'))
}
