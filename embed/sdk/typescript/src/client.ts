import type { Check, CodeRequest, Login } from '../api.js'
import { type Config, type ConfigQuery, follow } from './config.js'
import { type EventsOptions, follow as followEvents, type StreamEvent } from './events.js'
import { type FlagContext, type FlagDetails, FlagReader } from './flag.js'
import type { SignInOptions, Step } from './login.js'
import { type Commit, parse, type Received, type ReeveError, send } from './send.js'
import type { AppPermission, CallArguments, CommonOptions, Data, FlagKey, FlagValue, Method, Path, Permission, Realm, Settings } from './types.js'

/** Options of a client. */
export interface ReeveOptions {
  /** Base URL of Reeve, such as `https://reeve.example.org`. */
  url: string
  /** API key, or token of a session; absent for anonymous calls. */
  key?: string | undefined
  /** Origin of the program itself, such as `https://shop.example.org`; needed only for the sign-in of browsers. */
  origin?: string | undefined
  /** URL at which the browsers of app users reach Reeve; `url` by default. */
  publicUrl?: string | undefined
  /** Milliseconds for one attempt; 10000 by default. */
  timeout?: number | undefined
  /** Maximum number of further attempts after a failure; 3 by default. */
  retries?: number | undefined
  /** Milliseconds up to which flags are not read again; 10000 by default. */
  flagAge?: number | undefined
  /** Function to use instead of the global `fetch`. */
  fetch?: typeof fetch | undefined
}

/** Options of {@link Reeve.exchange}. */
export interface ExchangeOptions extends CommonOptions {
  body?: unknown
  headers?: Record<string, string>
  /** Milliseconds for one attempt, instead of those of the client. */
  timeout?: number
  /** Further attempts, instead of those of the client. */
  retries?: number
}

/**
 * A client of Reeve with one credential.
 *
 * ```js
 * const reeve = new Reeve({ url: 'http://127.0.0.1:8080', key: process.env.REEVE_KEY })
 * const role = await reeve.call('POST', '/admin/role', { body: { name: 'Support', data_scope: 'self' } })
 * ```
 */
export class Reeve {
  /** Base URL of Reeve, without a slash at the end. */
  readonly url: string
  /** Origin of the program itself; undefined if it was not given. */
  readonly origin: string | undefined
  /** Base URL of Reeve for browsers, without a slash at the end. */
  readonly publicUrl: string
  /** Milliseconds for one attempt. */
  readonly timeout: number
  readonly #options: ReeveOptions
  readonly #key: string
  #flags: FlagReader
  #commit: Commit = {}

  /** Does not connect. Throws a TypeError if an option is not valid. */
  constructor(options: ReeveOptions) {
    this.url = baseURL('url', options.url, /^https?:\/\/[^?#@]+$/i)
    this.origin = options.origin && baseURL('origin', options.origin, /^https?:\/\/[^/?#@]+\/?$/i)
    this.publicUrl = baseURL('publicUrl', options.publicUrl ?? this.url, /^https?:\/\/[^?#@]+$/i)
    this.timeout = options.timeout ?? 10_000
    this.#options = options
    this.#flags = new FlagReader(options.flagAge)
    this.#key = options.key?.trim() ?? ''
    if (/[^!-~]/.test(this.#key)) throw new TypeError('key is not valid')
  }

  /** Returns a client with the same options that uses another token or key; an empty one makes anonymous calls. */
  as(token: string): Reeve {
    const other = new Reeve({ ...this.#options, key: token })
    other.#flags = this.#flags
    other.#commit = this.#commit
    return other
  }

  /** Returns a secret for a use, which is made of the key: the same in all processes with this key. */
  secret(use: string): Promise<ArrayBuffer> {
    return crypto.subtle.digest('SHA-256', new TextEncoder().encode(`${use} ${this.#key}`))
  }

  /**
   * Carries out an operation and returns its data. Method, path, body and data are typed by the OpenAPI
   * document of this version.
   *
   * ```js
   * const users = await reeve.call('GET', '/admin/list', { query: { pageSize: 20 } })
   * await reeve.call('PUT', `/admin/list/${users.data[0].id}/status`, { body: { status: 0 } })
   * ```
   *
   * A GET, or a POST with a credential, is repeated after no response, 502, 503 and 504; such a POST has an
   * `Idempotency-Key`, so that it is carried out once. Other requests are repeated only if the server has
   * not carried them out: after 429, and after Reeve's own 503 unless the outcome is unknown. If the server
   * asks for more than 10 seconds, the call fails at once.
   *
   * Rejects with a {@link ReeveError}, or with the reason of `signal`.
   */
  async call<M extends Method, P extends Path<M>>(method: M, path: P, ...[options]: CallArguments<M, P>): Promise<Data<M, P>> {
    const { error, text } = await this.exchange(method, path, options)
    if (error) throw error
    const value = parse(text)
    return (value?.success ? value.data : (value ?? text)) as Data<M, P>
  }

  /**
   * Sends a request and returns the response with any status; `call` is made of it. Rejects only if
   * `signal` is aborted. Throws a TypeError if the path does not begin with a slash.
   */
  exchange(method: string, path: string, { query = {}, body, headers, idempotencyKey, ...options }: ExchangeOptions = {}): Promise<Received> {
    // It could lead the credential to another server.
    if (path[0] !== '/') throw new TypeError('path must begin with /')
    const keyed = method === 'POST' && !!this.#key
    const values = Object.entries(query).flatMap(([name, value]) => [value ?? []].flat().map((one) => [name, `${one}`]))
    return send({
      fetch: this.#options.fetch ?? fetch,
      commit: this.#commit,
      timeout: this.timeout,
      retries: this.#options.retries ?? 3,
      ...options,
      method,
      url: `${this.url}${path}${values.length ? '?' : ''}${new URLSearchParams(values)}`,
      headers: {
        ...headers,
        ...(this.#key && { Authorization: `Bearer ${this.#key}` }),
        ...(keyed && { 'Idempotency-Key': idempotencyKey ?? crypto.randomUUID() }),
        ...(body !== undefined && { 'Content-Type': 'application/json' }),
      },
      body: JSON.stringify(body),
      repeatable: keyed || /^(GET|HEAD)$/.test(method),
    })
  }

  /**
   * Asks whose token it is and which of some permissions they have, at this moment. The key of the client
   * needs the permission `auth.check`.
   *
   * ```js
   * const { active, user, allowed } = await reeve.check(token, 'shop.order.query', 'shop.order.refund')
   * ```
   *
   * Rejects with a {@link ReeveError}; a token that is not valid is no error.
   */
  check(token: string, ...permissions: (Permission | AppPermission)[]): Promise<Check> {
    return this.call('POST', '/auth/check', { body: { token, permissions } })
  }

  /** Reports whether a token is valid and has a permission. */
  async can(token: string, permission: Permission | AppPermission): Promise<boolean> {
    return (await this.check(token, permission)).allowed[permission] === true
  }

  /**
   * Signs a user in with a password and returns the session.
   *
   * ```js
   * const { token } = await reeve.signIn('ada', password, 'app')
   * const me = await reeve.as(token).call('GET', '/api/user')
   * ```
   *
   * If the user has a second factor, `token` is empty: {@link completeSignIn} with `login_token` returns the session.
   *
   * A program that signs others in passes on their address, or the limit of failed attempts is one for all of them:
   * one attacker who guesses passwords would slow everyone down. Reeve takes the address of app users from keys with the
   * permission `auth.login`, and all addresses from programs in its `server.trusted_proxies`.
   *
   * ```js
   * const client = { address: request.socket.remoteAddress, userAgent: request.headers['user-agent'] }
   * await reeve.signIn(username, password, 'app', client)
   * ```
   *
   * Rejects with a {@link ReeveError}: status 401 for a wrong username or password, 429 after too many
   * attempts.
   */
  signIn(username: string, password: string, realm: Realm = 'admin', client?: SignInOptions): Promise<Login> {
    return this.#login(realm, '', { username, password }, client)
  }

  /**
   * Completes a sign-in whose response has a `login_token`, within 5 minutes, with a code of the user's authenticator
   * app or a recovery code. The options are those of the step before.
   *
   * ```js
   * let session = await reeve.signIn(username, password, 'app', client)
   * if (session.login_token) session = await reeve.completeSignIn(session.login_token, code, 'app', client)
   * ```
   *
   * Rejects with a {@link ReeveError}: code `wrong_code`, or `sign_in_again` if the sign-in has to begin again.
   */
  completeSignIn(login_token: string, otp: string, realm: Realm = 'admin', client?: SignInOptions): Promise<Login> {
    return this.#login(realm, '/totp', { login_token, otp }, client)
  }

  /**
   * Mails an app user a code to sign in, and returns the token for {@link signInWithCode}. The response is the same if
   * there is no such user. Rejects with a {@link ReeveError}: code `code_sign_in_off` without the setting
   * `app.code_sign_in`, `mail_off` if the server does not send mail.
   */
  requestSignInCode(username: string, client?: SignInOptions): Promise<CodeRequest> {
    return this.#login('app', '/email', { username }, client)
  }

  /**
   * Signs an app user in with a code that was mailed, as {@link signIn} does with a password. The options are those of
   * {@link requestSignInCode}.
   *
   * ```js
   * const { login_token } = await reeve.requestSignInCode(email, client)
   * const session = await reeve.signInWithCode(login_token, code, client)
   * ```
   *
   * Rejects with a {@link ReeveError}: code `wrong_code`, or `code_again` if another code has to be requested.
   */
  signInWithCode(login_token: string, otp: string, client?: SignInOptions): Promise<Login> {
    return this.#login('app', '/email-code', { login_token, otp }, client)
  }

  async #login<T>(...step: Step): Promise<T> {
    const { login } = await import('./login.js') // most programs have no sign-in form of their own
    return login<T>(this.as(''), this.#key ? this : undefined, ...step)
  }

  /** Ends the session of the token with which this client was made, see {@link as}. A session that has ended already is no error. */
  async signOut(realm: Realm = 'admin'): Promise<void> {
    const { error } = await this.exchange('POST', `/${realm === 'app' ? 'api' : 'admin'}/logout`)
    if (error && error.status !== 401) throw error
  }

  /**
   * Reads settings and dictionaries and follows their changes. Resolves when the first values are there;
   * rejects with a {@link ReeveError} if they cannot be read. The process runs until `close()`.
   *
   * ```js
   * const config = await reeve.follow({ groups: ['shop'] })
   * config.onChange(() => console.log(config.settings.shop.title))
   * ```
   */
  follow<S extends object = Settings>(query: ConfigQuery = {}): Promise<Config<S>> {
    return follow<S>(this, query)
  }

  /**
   * Returns the value of a feature flag for a context. It does not reject: while Reeve cannot be reached, the result
   * is the last known value, and `otherwise` without one, as it is for a flag that the key may not read or whose value
   * has another type; {@link flagDetails} tells why.
   *
   * ```js
   * if (await reeve.flag('shop.checkout', { targetingKey: 'user:7', country: 'CH' }, false)) …
   * ```
   *
   * One request reads all flags for a context. They are kept for `flagAge`, and then confirmed with their ETag. The
   * flags of the 1,000 contexts that were used last are kept. Reeve ignores the context for the token of a session,
   * whose flags are those of its user.
   */
  async flag<K extends FlagKey, T extends FlagValue<K, unknown>>(key: K, context: FlagContext, otherwise: T): Promise<FlagValue<K, T>> {
    return (await this.flagDetails(key, context, otherwise)).value
  }

  /** Is {@link flag} with the reason of the value. */
  flagDetails<K extends FlagKey, T extends FlagValue<K, unknown>>(key: K, context: FlagContext, otherwise: T): Promise<FlagDetails<FlagValue<K, T>>> {
    return this.#flags.details(this, this.#key, key, context, otherwise as FlagValue<K, T>)
  }

  /**
   * Follows changes in Reeve as they are committed. Types are such as `user.updated` or `role.*`; none are all. The
   * first event is `open`: read what you keep a copy of after it.
   *
   * ```js
   * for await (const event of reeve.events(['user.*'])) console.log(event.type, event.data.name)
   * ```
   *
   * After a failure that may pass, such as a server that restarts, it continues without a gap behind the last event,
   * after a pause that doubles up to 30 seconds; an entry with several events can come twice. It ends without an error
   * when `signal` is aborted, and with a {@link ReeveError} if another attempt would not help: status 401 or 403 if
   * the key is not valid, or can't get any event of one of the types (if only some of several types, the console has a
   * warning), 400 or 422 if a type is not one, and 410 if the events since the last one are no longer available, so
   * that you must read your data again.
   */
  events(types: readonly string[] = [], options: EventsOptions = {}): AsyncGenerator<StreamEvent, void, undefined> {
    const own = this.#options.fetch ?? fetch
    const credential: Record<string, string> = this.#key ? { Authorization: `Bearer ${this.#key}` } : {}
    // A redirect could lead the credential to another server.
    const fixed: RequestInit = { redirect: 'manual', credentials: 'omit', cache: 'no-store' }
    return followEvents(
      (path, headers, signal) => own(this.url + path, { ...fixed, headers: { ...headers, ...credential }, signal }),
      this.timeout,
      types,
      options,
      this.#commit,
    )
  }
}

// baseURL returns the URL in an option, without a slash at the end.
function baseURL(name: string, text: string, pattern: RegExp): string {
  if (!pattern.test(text) || !URL.canParse(text)) throw new TypeError(`${name} must be like https://example.org`)
  return new URL(text).href.replace(/\/+$/, '')
}
