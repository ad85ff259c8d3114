/**
 * The client of Reeve. Start with {@link Reeve}; {@link verifyWebhook} checks messages of webhooks. The
 * middlewares for routes of a program are in `@reeve/client/express` and `@reeve/client/hono`.
 */
export type * from '../api.js'
export { Reeve, type ReeveOptions } from './client.js'
export type { Config as FollowedConfig, ConfigQuery } from './config.js'
export type { EventsOptions, StreamEvent, StreamOpened } from './events.js'
export type { FlagContext, FlagDetails } from './flag.js'
export type { SignInOptions } from './login.js'
export { ReeveError } from './send.js'
export type {
  AppPermission,
  Body,
  Caller,
  CallOptions,
  Data,
  FlagKey,
  FlagValue,
  Installation,
  Method,
  Path,
  Permission,
  Query,
  Realm,
  Scope,
  Settings,
} from './types.js'
export { verifyWebhook, WebhookError, type WebhookEvent, type WebhookHeaders } from './webhook.js'
