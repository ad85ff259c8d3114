import type { AuthEvent, CacheEvent, QueryEvent, RedisRecord, RequestEvent, RequestPart } from '../../api/types'

// Timeline of a request.

export type Part = { id: number } & (
  | { kind: 'auth'; event: AuthEvent }
  | { kind: 'query'; event: QueryEvent }
  | { kind: 'cache'; event: CacheEvent }
  | { kind: 'redis'; event: RedisRecord }
)

// Laid is an operation with its bar, in milliseconds from the start of the request.
export type Laid = Part & { at: number; wait: number; took: number; commit: number }

export function lay(request: RequestEvent, events: RequestPart[]): { parts: Laid[]; whole: number } {
  const begun = micros(request.recorded_at)
  const parts = events.map(({ kind, event }): Laid => {
    const part = { kind, event, id: (event as { id: number }).id } as Part
    const at = (micros(part.event.recorded_at) - begun) / 1000
    if (part.kind === 'query') return { ...part, at, wait: part.event.wait_ms, took: part.event.duration_ms, commit: part.event.commit_ms }
    return { ...part, at, wait: 0, took: part.kind === 'auth' ? 0 : (part.event.duration_ms ?? 0), commit: 0 }
  })
  const ends = parts.map((p) => p.at + p.took + p.commit)
  return { parts, whole: Math.max(request.duration_ms, ...ends, 0.001) }
}

// micros parses a time to the microsecond, which Date does not.
function micros(at: string): number {
  const fraction = /\.(\d+)Z$/.exec(at)?.[1] ?? ''
  return Date.parse(at.replace(/\.\d+Z$/, 'Z')) * 1000 + Number(fraction.padEnd(6, '0'))
}
