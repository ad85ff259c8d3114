import { spawn } from 'node:child_process'
import process from 'node:process'
import { Reeve } from './client.js'
import type { Realm } from './types.js'

/** Options of {@link start}. */
export interface TestServerOptions {
  /** Setup files, or directories with them. */
  setup?: readonly string[]
  /** Path of the program; the environment variable REEVE by default, or else `reeve` in PATH. */
  program?: string
  /** Added to the environment, for secrets that setup files refer to. */
  env?: Record<string, string>
}

/** A user of a test, who is signed in. */
export interface TestUser {
  id: number
  username: string
  password: string
  /** Token of a session. */
  token: string
}

/** A running server. */
export interface TestServer {
  url: string
  /** A client that may do everything. */
  owner: Reeve
  /** API keys of the setup files, by name. */
  keys: Record<string, string>
  /** Secrets of their webhooks, by description. */
  webhooks: Record<string, string>
  /** Creates a user of a realm with roles, and signs in as it. */
  user(realm: Realm, ...roles: string[]): Promise<TestUser>
  /** Stops the server and removes its data. */
  stop(): Promise<void>
}

/**
 * Starts a throw-away server of Reeve for tests, which takes less than 100 ms. It needs Node.js and the program `reeve`.
 *
 * ```js
 * const server = await start({ setup: ['shop.toml'] })
 * const ann = await server.user('admin', 'Support')
 * …
 * await server.stop()
 * ```
 *
 * It ends with this process, too. Rejects with an Error that has the program's output.
 */
export async function start({ setup = [], program, env }: TestServerOptions = {}): Promise<TestServer> {
  const child = spawn(program ?? process.env.REEVE ?? 'reeve', ['dev', '--json', '--stdin', ...setup], { env: { ...process.env, ...env } })
  let log = ''
  child.stderr.setEncoding('utf8')
  child.stderr.on('data', (text) => (log += text))
  const ended = new Promise<void>((resolve, reject) => {
    child.on('error', (error) => reject(new Error(`Reeve did not start; its path is in the variable REEVE unless it is in PATH: ${error.message}`)))
    child.on('close', (code) => (code ? reject(new Error(`Reeve ended with exit code ${code}: ${log}`)) : resolve()))
  })
  ended.catch(() => {}) // stop reports it
  const line = new Promise<string>((resolve) => {
    let text = ''
    child.stdout.setEncoding('utf8')
    child.stdout.on('data', (part) => {
      text += part
      if (text.endsWith('\n')) resolve(text)
    })
  })
  const started = await Promise.race([line, ended.then(() => Promise.reject(new Error(`Reeve ended: ${log}`)))])
  const { url, token, keys, webhooks } = JSON.parse(started)
  const owner = new Reeve({ url, key: token })
  return {
    url,
    owner,
    keys,
    webhooks,
    user: (realm, ...roles) => newUser(owner, realm, roles),
    stop() {
      child.stdin.end()
      return ended
    },
  }
}

async function newUser(owner: Reeve, realm: Realm, roles: string[]): Promise<TestUser> {
  const username = `test-${crypto.randomUUID().slice(0, 8)}`
  const password = crypto.randomUUID()
  const { id } = await owner.call('POST', realm === 'app' ? '/user/list' : '/admin/list', { body: { username, password, roles } })
  const { token } = await owner.signIn(username, password, realm)
  return { id, username, password, token }
}
