import type { Access, AuthEvent, CacheEvent, QueryEvent, RedisRecord, RequestEvent } from '../../api/types'

// Lists of events and their filters. The names are the API's.

export type Events = { request: RequestEvent; auth: AuthEvent; query: QueryEvent; cache: CacheEvent; redis: RedisRecord }
export type Kind = keyof Events

export const kinds = ['request', 'auth', 'query', 'cache', 'redis'] as const satisfies Kind[]

export const accessOf: Record<Kind | 'trace', Access> = {
  request: 'system.monitor.request',
  auth: 'system.monitor.auth',
  query: 'system.monitor.query',
  cache: 'system.monitor.cache',
  redis: 'system.monitor.redis',
  trace: 'system.monitor.trace',
}

// Filter is a filter, by its control.
export type Filter =
  | { name: string; by: 'choice'; values: string[] }
  | { name: string; by: 'text' | 'number' | 'route' | 'flag' }
  | { name: 'user_id'; by: 'user' } // or app_user_id

const user: Filter = { name: 'user_id', by: 'user' }
const route: Filter = { name: 'route', by: 'route' }
const status: Filter = { name: 'status', by: 'choice', values: ['2xx', '3xx', '4xx', '5xx'] }
const least: Filter = { name: 'min_duration_ms', by: 'number' }
const slow: Filter = { name: 'slow', by: 'flag' }
const request: Filter = { name: 'request_id', by: 'text' }

export const filters: Record<Kind, Filter[]> = {
  request: [
    user,
    status,
    { name: 'method', by: 'choice', values: ['GET', 'POST', 'PUT', 'DELETE'] },
    route,
    { name: 'address', by: 'text' },
    least,
    request,
    slow,
  ],
  auth: [
    {
      name: 'type',
      by: 'choice',
      values: [
        'login',
        'login_failed',
        'factor_required',
        'locked',
        'logout',
        'revoked',
        'password_changed',
        'factor_added',
        'factor_removed',
        'provider_connected',
        'provider_disconnected',
        'unlocked',
        'confirmed',
        'act_as',
        'permission',
      ] satisfies AuthEvent['type'][],
    },
    { name: 'result', by: 'choice', values: ['success', 'failed', 'allowed', 'denied'] },
    { name: 'username', by: 'text' },
    user,
    { name: 'ability', by: 'text' },
    { name: 'address', by: 'text' },
    route,
    status,
    request,
  ],
  query: [
    { name: 'mode', by: 'choice', values: ['read', 'write'] },
    { name: 'plan', by: 'choice', values: ['get', 'index', 'scan', 'put', 'delete'] },
    { name: 'connection', by: 'choice', values: ['data.db', 'files.db'] },
    { name: 'statement', by: 'text' },
    user,
    route,
    status,
    least,
    request,
    slow,
    { name: 'n_plus_one', by: 'flag' },
  ],
  cache: [
    { name: 'cache', by: 'choice', values: ['settings', 'rules', 'permissions', 'dictionaries', 'sessions'] },
    { name: 'type', by: 'choice', values: ['hit', 'miss', 'set', 'forget', 'rebuild'] },
    user,
    route,
    request,
  ],
  redis: [
    { name: 'type', by: 'choice', values: ['state', 'info', 'command', 'slowlog'] },
    { name: 'connection', by: 'text' },
    { name: 'command', by: 'text' },
    user,
    least,
    request,
  ],
}

// asked are the query parameters of a list, besides the period.
export const asked = (kind: Kind): string[] => ['keywordSearch', 'app_user_id', ...filters[kind].map((f) => f.name)]
