import type { Reeve } from './client.js'
import { parse, warn } from './send.js'

/** The user and the circumstances that a flag is evaluated for. */
export interface FlagContext {
  /** The user or thing, such as `user:7`, by which percentages are drawn. */
  targetingKey?: string
  /** What rules can name. */
  [attribute: string]: unknown
}

/** The result of a flag. */
export interface FlagDetails<T> {
  value: T
  /** Name of the variant; absent for the value that the caller has given. */
  variant?: string
  /**
   * `STATIC`, `TARGETING_MATCH`, `SPLIT`, `DEFAULT` or `DISABLED` as Reeve has said it, `STALE` for the last known value,
   * and `ERROR` for the value that the caller has given.
   */
  reason: string
  /**
   * Why there is no current value: `FLAG_NOT_FOUND` for a flag that does not exist or that the key may not read,
   * `TARGETING_KEY_MISSING`, `INVALID_CONTEXT`, `PARSE_ERROR`, `TYPE_MISMATCH`, or `GENERAL` if Reeve cannot be reached
   * or refuses the key. Absent for a current value.
   */
  errorCode?: string
  /** Description of the code, in English. */
  errorMessage?: string
  /** Why rules about users could not match; absent if they could. */
  warning?: string
}

interface Flag {
  key: string
  value?: unknown
  variant?: string
  reason: string
  metadata?: { warning?: string }
  errorCode?: string
  errorDetails?: string
}

interface Failure {
  errorCode: string
  errorMessage: string
}

// The flags of one context.
interface FlagSet {
  /** Undefined before the first response. */
  flags?: Map<string, Flag>
  /** Failure of the last request. */
  failure?: Failure | undefined
  etag?: string
  /** Time up to which flags and failure count, milliseconds. */
  until: number
  /** The request that is under way. */
  loading?: Promise<Failure | undefined> | undefined
}

const maxSets = 1000

/** Reads flags and keeps them; all clients made of one another have the same. */
export class FlagReader {
  readonly #age: number
  readonly #sets = new Map<string, FlagSet>() // by credential and context, that used last at the end
  #until = 0 // time before which Reeve is not asked, since it was not reached
  #failure: Failure | undefined // at that time

  constructor(age = 10_000) {
    this.#age = age
  }

  /** See {@link Reeve.flagDetails}. */
  async details<T>(reeve: Reeve, credential: string, key: string, context: FlagContext, otherwise: T): Promise<FlagDetails<T>> {
    const failed = (errorCode: string, errorMessage = ''): FlagDetails<T> => ({ value: otherwise, reason: 'ERROR', errorCode, errorMessage })
    let name: string
    try {
      name = `${credential}\n${JSON.stringify(context)}`
    } catch (error) {
      return failed('INVALID_CONTEXT', `${error}`)
    }
    const set = this.#set(name)
    const failure = await this.#refresh(reeve, set, context)
    const { flags } = set
    if (!flags) return failed(failure?.errorCode ?? 'GENERAL', failure?.errorMessage)
    const flag = flags.get(key)
    if (!flag) {
      const need = `system.setting.read.${key.split('.')[0]}`
      return failed('FLAG_NOT_FOUND', `the flag does not exist, or the client may not read it, which needs the permission ${need}`)
    }
    const { value, variant, reason, metadata, errorCode, errorDetails } = flag
    if (errorCode) return failed(errorCode, errorDetails)
    if (otherwise != null && typeof value !== typeof otherwise) return failed('TYPE_MISMATCH', `the value of the flag is a ${typeof value}`)
    return {
      value: value as T,
      ...(variant !== undefined && { variant }),
      ...(metadata?.warning && { warning: metadata.warning }),
      reason: failure ? 'STALE' : reason,
      ...failure,
    }
  }

  // #set returns the flags of a context.
  #set(name: string): FlagSet {
    const set = this.#sets.get(name) ?? { until: 0 }
    this.#sets.delete(name)
    this.#sets.set(name, set)
    for (const [first] of this.#sets) {
      if (this.#sets.size <= maxSets) break
      this.#sets.delete(first)
    }
    return set
  }

  // #refresh asks Reeve if it is time to, and returns why the flags may be out of date. While the request of one caller
  // is under way, others get the last flags.
  async #refresh(reeve: Reeve, set: FlagSet, context: FlagContext): Promise<Failure | undefined> {
    const now = Date.now()
    if (set.until > now) return set.failure
    if (this.#until > now) return this.#failure
    if (set.loading && set.flags) return set.failure
    set.loading ??= this.#load(reeve, set, context)
    return set.loading
  }

  // #load asks Reeve for the flags of a context, and returns the failure; it does not reject.
  async #load(reeve: Reeve, set: FlagSet, context: FlagContext): Promise<Failure | undefined> {
    const headers: Record<string, string> = set.etag ? { 'If-None-Match': set.etag } : {}
    // A page waits for it.
    const options = { body: { context }, headers, retries: 0, timeout: Math.min(reeve.timeout, 2000) }
    const { status, error, text, headers: received } = await reeve.exchange('POST', '/ofrep/v1/evaluate/flags', options)
    const body = parse(text) as { flags?: Flag[]; errorCode?: string; errorDetails?: string } | null | undefined
    set.loading = undefined
    const until = Date.now() + Math.max(this.#age, Math.min(60, error?.retryAfter ?? 0) * 1000)
    const current = status === 200 && Array.isArray(body?.flags)
    if (current) {
      set.flags = new Map(body?.flags?.map((flag) => [flag?.key, flag]))
      set.etag = received.get('ETag') ?? ''
    }
    if (current || (status === 304 && set.flags)) {
      set.until = until
      set.failure = undefined
      return
    }
    const { errorCode = 'GENERAL', errorDetails = error?.message ?? 'the response is not of Reeve' } = body ?? {}
    const failure = { errorCode, errorMessage: errorDetails }
    warn('flags cannot be evaluated; the last known values stay', errorDetails)
    if (status === 0 || status >= 500) {
      this.#until = until
      this.#failure = failure
    } else {
      set.until = until
      set.failure = failure
    }
    return failure
  }
}
