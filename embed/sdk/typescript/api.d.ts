// Made by embed/console/scripts/types.mjs from the OpenAPI document; not to be edited.

export type ActAs = {
  /** Time at which it ends */
  until: string
  /** ID to send in the header X-Act-As */
  user_id: number
  username: string
  writes: 0 | 1
}

export type ActAsUser = {
  /** Why; the change log has it, and the user is told */
  reason: string
  /** 1 to be able to change something, which requires the permission admin.list.act_as_write; 0, the default, to look only */
  writes?: 0 | 1
}

export type Acting = {
  /** Username of whoever acts as this user */
  by: string
  /** Time at which it ends */
  until: string
  /** 1 if that includes changes */
  writes: 0 | 1
}

export type ActivityEntry = {
  /** What was done besides changing records; empty otherwise */
  action: string
  /** Your client address; empty if it was somebody else */
  address: string
  /** Username of the user as whom you acted; empty otherwise */
  as: string
  at: string
  /** Username of an administrator who acted as you; empty if it was you */
  by: string
  operation: LogOperation
  /** Reason that was given; empty for none */
  reason: string
  /** Number of the entry in the change log */
  seq: number
}

export type ActivityPage = {
  /** 1 if a part of the log cannot be read, so that entries or values may be missing; otherwise absent */
  damaged?: 0 | 1
  /** Entries, the newest first */
  data: ActivityEntry[]
  /** Value of before for the next page; 0 on the last one */
  next: number
}

export type AddPasskey = {
  /** The new passkey: a PublicKeyCredential as toJSON() of a browser returns it */
  credential: Record<string, unknown>
  /** Name by which you recognize it; the browser and the system by default */
  name?: string | null
}

export type AddPasskeyAsAppUser = {
  /** The new passkey: a PublicKeyCredential as toJSON() of a browser returns it */
  credential: Record<string, unknown>
  /** Name by which you recognize it; the browser and the system by default */
  name?: string | null
  /** Current password. People who have none, or can't sign in with it, leave it out: they must have signed in within security.reauth_minutes (409 sign_in_first) */
  password?: string
}

export type AddPasskeyOnPage = {
  /** Response of the passkey: a PublicKeyCredential as JSON */
  credential: string
  /** Current password. People who have none, or can't sign in with it, leave it out: they must have signed in within security.reauth_minutes (409 sign_in_first) */
  password?: string
}

export type ApiKey = {
  /** What the key has created and what remains when it is deleted */
  created: CreatedByKey
  created_at: string
  /** Data scope that narrows that of the roles, relative to the owner; empty for no narrowing */
  data_scope: "" | "all" | "dept_tree" | "dept" | "self" | "custom"
  /** IDs of the departments of the data scope custom */
  dept_ids: number[]
  expires_at: string
  /** First characters of the key, by which you can recognize it */
  hint: string
  id: number
  /** Address of the last use */
  last_ip: string
  /** Time of the last use, accurate to a minute; null if it was never used */
  last_used: string | null
  name: string
  /** IP addresses and networks that it may be used from; empty for all */
  networks: string[]
  /** 1 for a personal key, which has the permissions of its owner; 0 for a service key, which has those of its roles as far as its owner may grant them */
  personal: 0 | 1
  /** Time until which the key from before the last rotation is valid too; null if there is none */
  previous_until: string | null
  /** Requests per minute; 0 for the setting security.key_rate_limit */
  rate_limit: number
  /** IDs of the roles; of a personal key, those of the owner's roles that it has, empty for all */
  role_ids: number[]
  /** Names of the roles, in the order of role_ids */
  role_names: string[]
  /** State: active; unused for 90 days; disabled, also while personal keys are turned off; expired; paused since a backup was restored; sign_in_due, if the owner has to sign in with a provider, see the setting security.provider_key_days; or no_owner, if the owner was disabled or deleted */
  state: "active" | "unused" | "disabled" | "expired" | "paused" | "no_owner" | "sign_in_due"
  /** Status: 1 enabled, 0 disabled */
  status: 0 | 1
  updated_at: string
  /** ID of the owner, the user for whom the key acts and whose rights limit it */
  user_id: number
  /** Username of the owner; empty if the owner was deleted */
  username: string
  /** grows with every change of the record */
  version: number
}

export type ApiKeyPage = {
  /** Number of this page, from 1 */
  current: number
  /** IDs of records of this page that data lacks, because they, or records that they need, are damaged; the system's health names the damage; absent if none */
  damaged_ids?: number[]
  /** Records of this page */
  data: ApiKey[]
  /** Maximum number of records per page */
  pageSize: number
  /** Number of matching records, damaged ones included */
  total: number
}

export type AppFactor = {
  /** 1 if app users may set up an authenticator app: the setting app.second_factor */
  allowed: 0 | 1
  /** Time at which the authenticator app was set up; null without one */
  created_at: string | null
  /** 1 if a sign-in asks for a code */
  enabled: 0 | 1
  /** Time at which a code was last used; null without one */
  last_used: string | null
  /** Number of recovery codes that are left */
  recovery_codes: number
}

export type AppFields = {
  /** Fields that app users can read, in the order of a form */
  data: FieldForm[]
}

export type AppPermission = {
  created_at: string
  id: number
  key: string
  name: string
  parent_id: number
  sort: number
  status: 0 | 1
  updated_at: string
  /** grows with every change of the record */
  version: number
}

export type AppPermissionNode = {
  children?: AppPermissionNode[]
  created_at: string
  id: number
  key: string
  name: string
  parent_id: number
  sort: number
  status: 0 | 1
  updated_at: string
  /** grows with every change of the record */
  version: number
}

export type AppPermissionTree = {
  data: AppPermissionNode[]
}

export type AppRole = {
  created_at: string
  /** 1 if app users who register get the role, else 0 */
  default: 0 | 1
  description: string
  id: number
  name: string
  /** 1 if passwords are turned off for app users with the role */
  password_off: 0 | 1
  /** IDs of the app permissions that the role grants */
  rule_ids: number[]
  sort: number
  status: 0 | 1
  updated_at: string
  user_count: number
  /** grows with every change of the record */
  version: number
}

export type AppRolePage = {
  /** Number of this page, from 1 */
  current: number
  /** IDs of records of this page that data lacks, because they, or records that they need, are damaged; the system's health names the damage; absent if none */
  damaged_ids?: number[]
  /** Records of this page */
  data: AppRole[]
  /** Maximum number of records per page */
  pageSize: number
  /** Number of matching records, damaged ones included */
  total: number
}

export type AppUser = {
  avatar_url: string
  created_at: string
  /** ID of the API key that created the user; 0 if none did. The key may have been deleted */
  created_by_key: number
  email: string
  /** 1 if the user has opened a link that was sent to the address, else 0 */
  email_verified: 0 | 1
  /** Values of custom fields by key, as far as you may read them; a field without a value is absent */
  fields: AppUserFields
  id: number
  /** Why the user can't sign in now after failed sign-ins; null if that is not so */
  lockout: Lockout | null
  login_ip: string
  /** Time of the last sign-in; null before the first */
  login_time: string | null
  mobile: string
  nickname: string
  /** Number of passkeys of the user */
  passkeys: number
  /** Whether the user can sign in with a password: on, off, or empty for what the roles and the settings say */
  password_sign_in: "" | "on" | "off"
  /** 1 if the user has registered and the address is not confirmed yet: the user can't sign in, and is deleted after 24 hours; else 0 */
  pending: 0 | 1
  /** Address that a pending user has to confirm; empty otherwise */
  pending_email: string
  /** IDs of the app roles */
  role_ids: number[]
  /** Names of the roles, in the order of role_ids */
  role_names: string[]
  /** 1 if a sign-in asks for a code besides the password, else 0 */
  second_factor: 0 | 1
  /** Status: 1 enabled, 0 disabled; a disabled user can't sign in */
  status: 0 | 1
  updated_at: string
  username: string
  /** grows with every change of the record */
  version: number
}

export type AppUserFields = Record<string, unknown>

export type AppUserFieldsInput = Record<string, unknown>

export type AppUserPage = {
  /** Number of this page, from 1 */
  current: number
  /** IDs of records of this page that data lacks, because they, or records that they need, are damaged; the system's health names the damage; absent if none */
  damaged_ids?: number[]
  /** Records of this page */
  data: AppUser[]
  /** Maximum number of records per page */
  pageSize: number
  /** Number of matching records, damaged ones included */
  total: number
}

export type Applied = {
  /** Changes, in the order in which they are made */
  changes: Change[]
  /** Job of a setup with many changes; it is still running if it takes longer than 30 seconds */
  job?: Job
  /** Secrets of new API keys and webhooks of files that are sent as text; no other response has them */
  secrets?: NewSecret[]
}

export type ApplySetup = {
  files: {
  /** Name of the file, which owns the objects that it creates */
  name: string
  /** Text of the file, in TOML, of at most 512 KiB. New API keys and webhooks get a secret, which the response has. Other secrets can't be referred to */
  text?: string
  /** Content of the file; see GET /setup.schema.json. Either this or text is required */
  values?: Record<string, unknown>
}[]
  /** 1 to delete the objects that these files have created and no longer have */
  prune?: 0 | 1
}

export type AuthEvent = {
  /** Permission that was checked */
  ability: string
  address: string
  /** Host name of the server */
  host_name: string
  /** ID of the event; later events have larger ones */
  id: number
  /** Names of the roles that grant the permission */
  matched_by: string[]
  /** Title of the sign-in provider that the event is about, such as that of a sign-in with it; empty for none */
  provider_name: string
  /** Code of the error (errorCode) if it failed or was denied */
  reason: string
  /** Time of the event, or of its start if it took time */
  recorded_at: string
  /** ID of the request that caused the event; empty for none */
  request_id: string
  /** Result: success or failed; for a permission, allowed or denied */
  result: string
  route: string
  /** Number of similar events that this one represents; more than 1 if events are sampled under load */
  sampled: number
  /** Type of event: permission for a permission check; act_as if the user began to act as another user; confirmed if the user confirmed the session for a sensitive action; locked for a sign-in that was rate-limited; revoked if sessions were ended by an administrator or on another device */
  type: "login" | "login_failed" | "factor_required" | "locked" | "logout" | "revoked" | "password_changed" | "factor_added" | "factor_removed" | "provider_connected" | "provider_disconnected" | "unlocked" | "confirmed" | "act_as" | "permission"
  /** User who was signed in; null for none */
  user: EventUser | null
  /** Name of the user that the event is about; # and a fingerprint of the input for a sign-in with an unknown name */
  username: string
}

export type AuthEventMonitorPage = {
  /** Number of this page, from 1 */
  current: number
  /** IDs of records of this page that data lacks, because they, or records that they need, are damaged; the system's health names the damage; absent if none */
  damaged_ids?: number[]
  /** Records of this page */
  data: AuthEvent[]
  /** Name of the node that answers, whose events these are; empty for a server that is the only one */
  node: string
  /** Maximum number of records per page */
  pageSize: number
  /** Time of the oldest event that was searched if the search stopped early; total counts only events down to it. null if the search is complete */
  scanned_until: string | null
  /** Number of matching records, damaged ones included */
  total: number
}

export type AuthZENFailure = {
  message: string
}

export type AuthenticatorApp = {
  /** Secret for an authenticator app, in base32; it is shown once */
  secret: string
  /** Address of the secret for a QR code: otpauth://totp/… */
  uri: string
}

export type Avatar = {
  avatar_id: number
  avatar_url: string
}

export type AzContext = {
  /** Reason, as in GET /admin/permission/explain; also invalid_request, unknown_subject and unknown_permission */
  reason: string
}

export type AzDecision = {
  /** Why not; absent if the decision is true */
  context?: AzContext
  decision: boolean
}

export type AzDecisions = {
  context?: AzContext
  /** Answer if there is no list of questions */
  decision?: boolean
  /** Answers; fewer than questions if one has ended the evaluation */
  evaluations?: AzDecision[]
}

export type AzMetadata = {
  access_evaluation_endpoint: string
  access_evaluations_endpoint: string
  /** URL of this server */
  policy_decision_point: string
}

export type BackUpNow = {
  /** Name of the target */
  target: string
}

export type BackupCopies = {
  data: BackupCopy[]
}

export type BackupCopy = {
  /** Time of the data in the copy */
  at: string
  /** Whether the server that makes the copies can prove it: at other targets than local, what it has made since its start */
  checkable: boolean
  /** Damage that was found; empty for none */
  fault: string
  /** Number of contents of files that belong to it, which are stored once for all copies */
  files: number
  /** Name of the copy at the target */
  name: string
  /** Time of the proof; null for none */
  proven_at: string | null
  /** Number of records that the proof found; 0 without one */
  records: number
  /** Bytes of the records and the change log, as they are stored */
  size: number
  /** proven: restored and examined; stored: read back; sent: taken by a command; foreign: of an earlier secret.key, only the identity opens it; previous: from before the data were restored; damaged */
  state: "proven" | "stored" | "sent" | "foreign" | "previous" | "damaged"
  /** Name of the target */
  target: string
}

export type BackupTarget = {
  /** Number of attempts since the start of the server, with several nodes those of all; in the answer to a request for a copy, of those before it */
  attempts: number
  /** Reason for which commits could not be stored at the last attempt; empty for none */
  commit_error: string
  /** Number of copies */
  copies: number
  /** 1 if copies that are no longer kept are deleted */
  deletes: 0 | 1
  /** Bytes that were sent and read back */
  done_bytes: number
  /** 1 if a restore needs the identity of a recipient */
  encrypted: 0 | 1
  /** Reason for which the last attempt failed; empty for none */
  error: string
  /** directory, bucket or command */
  kind: "directory" | "bucket" | "command"
  /** Ranges of time of which each moment can be restored, the oldest first */
  moments: Range[]
  /** Name of its table in the configuration; local for the data directory */
  name: string
  /** Time of the newest copy since the data were restored, if ever; null for none */
  newest_at: string | null
  /** Time of the next copy; null while unknown */
  next_at: string | null
  /** waiting, storing, proving or deleting */
  phase: "waiting" | "storing" | "proving" | "deleting"
  /** Path of the directory, URL of the bucket, or program */
  place: string
  /** Time of the newest copy that is proven; null for none */
  proven_at: string | null
  /** Recipients whose identities open the copies */
  recipients: string[]
  /** Time of the last attempt; null before the first */
  started_at: string | null
  /** Last time at which all commits were stored there; null if they never were */
  stored_at: string | null
  /** Bytes to send and to read back; 0 while unknown */
  total_bytes: number
  /** 1 if no copy of the last backup.proof_hours hours is proven or, at a command, was sent */
  unproven: 0 | 1
  /** What is to be known about the target */
  warnings: string[]
}

export type BackupTargets = {
  data: BackupTarget[]
}

export type BuildInfo = {
  cpus: number
  go: string
  /** Whether the source has changed since that revision */
  modified: boolean
  platform: string
  /** Revision of the source; empty if unknown */
  revision: string
}

export type CacheEvent = {
  /** Cache: settings, rules, permissions, dictionaries or sessions; throttle for the counters of the rate limiter */
  cache: string
  /** Number of occurrences */
  count: number
  duration_ms: number
  generation: number
  /** Host name of the server */
  host_name: string
  /** ID of the event; later events have larger ones */
  id: number
  /** Key of the entry, in a cache with several */
  key: string
  /** Time of the event, or of its start if it took time */
  recorded_at: string
  /** ID of the request that caused the event; empty for none */
  request_id: string
  route: string
  /** Number of similar events that this one represents; more than 1 if events are sampled under load */
  sampled: number
  /** Number of entries; for throttle, the value of the counter */
  size: number
  /** Type of event: hit, miss, set, forget or rebuild; an event of hits counts those of many requests */
  type: string
  /** User who was signed in; null for none */
  user: EventUser | null
}

export type CacheEventMonitorPage = {
  /** Number of this page, from 1 */
  current: number
  /** IDs of records of this page that data lacks, because they, or records that they need, are damaged; the system's health names the damage; absent if none */
  damaged_ids?: number[]
  /** Records of this page */
  data: CacheEvent[]
  /** Name of the node that answers, whose events these are; empty for a server that is the only one */
  node: string
  /** Maximum number of records per page */
  pageSize: number
  /** Time of the oldest event that was searched if the search stopped early; total counts only events down to it. null if the search is complete */
  scanned_until: string | null
  /** Number of matching records, damaged ones included */
  total: number
}

export type CacheInfo = {
  computed_at: string
  /** Number of rebuilds since the start */
  generation: number
  name: string
  /** Number of records in the cache */
  records: number
}

export type CancelBackup = {
  /** Name of the target */
  target: string
}

export type Challenge = {
  /** Hash function: SHA-256 */
  algorithm: string
  /** Hash of the salt followed by the number in decimal digits, hexadecimal */
  challenge: string
  /** Highest possible number */
  maxnumber: number
  /** Random text, with the time at which the challenge expires, in seconds since 1970 */
  salt: string
  /** Proof that this server has made the challenge, to be sent back */
  signature: string
}

export type Change = {
  /** Fields that are set; none of an object that is deleted */
  fields: ChangedField[]
  /** Name or key of the object */
  key: string
  /** Kind of the object, such as role or setting */
  kind: string
  /** What is done: create, update or delete */
  operation: "create" | "update" | "delete"
}

export type ChangeLogInfo = {
  /** Number of the newest entry; 0 for none */
  entries: number
  /** Random name of the numbering; a restore begins a new one */
  generation: string
  /** SHA-256 of the newest entry, hexadecimal */
  sha256: string
}

export type ChangedField = {
  name: string
  /** any JSON value */
  new?: unknown
  /** Value before; absent for a new object */
  old?: unknown
  /** 1 for a secret, whose values are left out; otherwise absent */
  secret?: 0 | 1
}

export type Check = {
  /** Whether the next request with the token would be accepted, or the user is enabled */
  active: boolean
  /** Whether the user or key has each permission, by key */
  allowed: Record<string, boolean>
  /** Data scope; null if the token is not active, or of an app user */
  data_scope: CheckedScope | null
  /** Why or why not, by key, as in GET /admin/permission/explain; also unknown_token and password_change_required. Absent unless explain is 1 */
  reasons?: Record<string, string>
  /** Keys of permissions that do not exist, perhaps mistyped; absent if there are none */
  unknown?: string[]
  /** Whom the token belongs to; null if it is not active */
  user: CheckedUser | null
}

export type CheckNewestCopy = {
  /** Name of the target */
  target: string
}

export type CheckPermissions = {
  /** Username of the app user, instead of app_user_id */
  app_user?: string | null
  /** ID of an app user */
  app_user_id?: number | null
  /** 1 to get reasons */
  explain?: 0 | 1
  /** Keys of permissions; empty or absent to ask only whose token it is */
  permissions?: string[] | null
  /** Token of a session or an API key; one of token, user_id and app_user_id is required */
  token?: string | null
  /** Username of the user, instead of user_id */
  user?: string | null
  /** ID of a user in your data scope */
  user_id?: number | null
}

export type CheckedScope = {
  /** Whether it is everything */
  all: boolean
  /** IDs of the departments in it, unless it is everything */
  dept_ids: number[]
  /** ID of the user, who is always in it */
  user_id: number
}

export type CheckedUser = {
  /** Values of the custom fields of the user that programs may read, by key; absent for an API key, and if there are none */
  fields?: Record<string, unknown>
  id: number
  /** ID of the API key that acts for the user; absent for the user */
  key_id?: number
  /** Name of that key */
  key_name?: string
  /** Realm: admin or app */
  realm: string
  username: string
}

export type Choice = {
  /** Domains of the addresses of its people; empty for any */
  domains: string[]
  kind: "openid" | "google" | "microsoft" | "github" | "gitlab" | "keycloak" | "authentik" | "ldap" | "active_directory"
  name: string
  title: string
  /** URL to which the browser is sent; without the host if server.public_url is not in the configuration */
  url: string
}

export type ChoiceNode = {
  children?: ChoiceNode[]
  id: number
  /** Key of a permission or a setting group, username of a user; empty otherwise */
  key: string
  name: string
  /** ID of the parent; 0 for a root and for records that form no tree */
  parent_id: number
  /** 0 if the record is disabled */
  status: 0 | 1
}

export type ChoiceTree = {
  data: ChoiceNode[]
}

export type Choices = {
  data: Choice[]
  /** 0 if the setting turns passwords off for the realm: the page then offers the providers first. Roles and users may differ */
  password_sign_in: 0 | 1
}

export type Clients = {
  /** Module for Go */
  go: GoClient
  /** Package for npm */
  typescript: NpmClient
  /** Version of the server and its clients */
  version: string
}

export type CodeRequest = {
  /** End of the validity of the code */
  expires_at: string
  /** Token to send with the code */
  login_token: string
}

export type CollectionInfo = {
  name: string
  records: number
}

export type CompactedFile = {
  /** Size after the compaction */
  after_bytes: number
  /** Size before the compaction */
  before_bytes: number
  name: string
  /** Time for which writes waited, in milliseconds */
  paused_ms: number
}

export type CompactionState = {
  /** Bytes that were copied; the copies are verified afterwards */
  done_bytes: number
  /** null while it is running, and for none */
  ended_at: string | null
  /** Reason of the failure; empty for none. Files that are not in files are unchanged */
  error: string
  /** Files that were compacted */
  files: CompactedFile[]
  /** null for none */
  started_at: string | null
  /** none since the start of the server, running, done or failed */
  state: string
  /** Bytes to copy; 0 while unknown */
  total_bytes: number
}

export type CompleteSignInOnPage = {
  /** Code of the authenticator app, or a recovery code */
  otp: string
}

export type CompleteSignInWithCode = {
  /** 1 to get the token as a cookie that scripts cannot read, instead of in the response */
  cookie?: 0 | 1
  /** The same device_token as in the first step, if one was sent there */
  device_token?: string | null
  /** login_token from the response to the first step; it is accepted only from the same address and device */
  login_token: string
  /** Code of the authenticator app, or a recovery code; each works once */
  otp: string
}

export type CompleteSignInWithCodeAsAppUser = {
  /** 1 to get the token as a cookie that scripts cannot read, instead of in the response */
  cookie?: 0 | 1
  /** The same device_token as in the first step, if one was sent there */
  device_token?: string | null
  /** login_token from the response to the first step; it is accepted only from the same address and device */
  login_token: string
  /** Code of the authenticator app, or a recovery code; each works once */
  otp: string
}

export type CompleteSignInWithCodeForProgram = {
  /** Address of the client, IPv4 or IPv6 */
  address: string
  /** device_token of the previous step */
  device_token?: string | null
  /** login_token from the response to the previous step */
  login_token: string
  /** Code of the authenticator app, or a recovery code */
  otp: string
  /** User agent of the client, whose browser and system are shown with the session; the first 512 bytes count */
  user_agent?: string | null
}

export type CompleteSignInWithProvider = {
  /** 1 to get the token as a cookie that scripts cannot read, instead of in the response */
  cookie?: 0 | 1
  /** device_token from the response to an earlier sign-in; browsers send it as a cookie */
  device_token?: string | null
}

export type Config = {
  /** Enabled dictionaries with their enabled items, by code */
  dicts: Record<string, OpenDict>
  /** Values by group and key, decoded by type */
  settings: Record<string, Record<string, unknown>>
  /** Secrets of these groups that you may not read, as group.key */
  withheld: string[]
}

export type ConfigValue = {
  key: string
  /** Source of the value: default, file, environment or flag */
  source: string
  /** Effective value; secrets are masked */
  value: string
}

export type ConfirmAppUserEmail = {
  /** Token of the link: what follows /link/ in its URL */
  token: string
}

export type ConfirmAuthenticatorApp = {
  /** Code of the authenticator app */
  otp: string
}

export type ConfirmAuthenticatorAppAsAppUser = {
  /** Code of the authenticator app */
  otp: string
}

export type ConfirmAuthenticatorAppOnPage = {
  /** Code of the authenticator app */
  otp: string
}

export type ConfirmEmailAddress = {
  /** Token of the link: what follows /link/ in its URL */
  token: string
}

export type ConfirmIdentity = {
  /** Code of the authenticator app, or a recovery code */
  otp?: string | null
  /** Response of the passkey: a PublicKeyCredential as toJSON() of a browser returns it */
  passkey?: Record<string, unknown>
  /** Password, unless you have a second factor */
  password?: string
  /** 1 for a browser that has come back from the provider with POST /admin/reauth/provider/:name */
  provider?: 0 | 1
}

export type CreateAPIKey = {
  /** Data scope that narrows that of the roles, relative to the owner; empty for no narrowing */
  data_scope?: "" | "all" | "dept_tree" | "dept" | "self" | "custom" | null
  /** Paths of the departments, instead of dept_ids; such as Sales/EU, where \/ is a slash in a name; or # and the code, such as #sales-eu */
  departments?: string[] | null
  /** IDs of the departments of the data scope custom */
  dept_ids?: number[] | null
  /** Time at which the key expires; 90 days after its creation by default, and at most as many days ahead as the setting security.key_max_days says */
  expires_at?: string
  /** Name of the program that uses the key */
  name: string
  /** IP addresses and networks that it may be used from, such as 192.0.2.7 or 10.0.0.0/8; empty for all */
  networks?: string[] | null
  /** Requests per minute; 0 for the setting security.key_rate_limit */
  rate_limit?: number
  /** IDs of the roles, which must be within what you can grant; not the owner role */
  role_ids?: number[]
  /** Names of the roles, instead of role_ids */
  roles?: string[]
  /** Status: 1 enabled, the default of a new key; 0 disabled */
  status?: 0 | 1
}

export type CreateAppPermission = {
  /** Unique key, which begins with app. and by which programs check the permission */
  key: string
  name: string
  /** Key of the app permission, instead of parent_id */
  parent?: string | null
  /** ID of the parent; 0 for a root */
  parent_id?: number | null
  sort?: number
  /** Status: 1 enabled, the default of a new permission; 0 disabled */
  status?: 0 | 1
}

export type CreateAppRole = {
  /** 1 to give the role to app users who register; 0, the default, not to. At most 20 roles */
  default?: 0 | 1
  description?: string | null
  /** Name of the role; unique among app roles; texts that differ only in case, width, spaces or invisible characters are the same */
  name: string
  /** 1 to turn passwords off for app users with the role. To change it requires a confirmation, and 1 a sign-in provider */
  password_off?: 0 | 1
  sort?: number
  /** Status: 1 enabled, the default of a new role; 0 disabled */
  status?: 0 | 1
}

export type CreateAppUser = {
  /** E-mail address, unique unless empty */
  email?: string | null
  /** Values of custom fields by key; null removes a value, and fields that are not sent remain unchanged */
  fields?: AppUserFieldsInput
  /** mail to mail an invitation, or link to return one, with which the user sets the password; not together with password. Requires the permission to invite, too */
  invite?: "" | "mail" | "link" | null
  mobile?: string | null
  nickname?: string | null
  /** Password; any characters are allowed. If it and invite are absent, one is generated and returned once, and the user must change it */
  password?: string
  /** on to let the user sign in with a password also where a role or the setting turns passwords off, off to refuse passwords; empty, the default, to follow the roles and the setting. To change it requires a confirmation */
  password_sign_in?: "" | "on" | "off" | null
  /** IDs of the app roles; to change them requires the permission user.list.role, too */
  role_ids?: number[] | null
  /** Names of the app roles, instead of role_ids */
  roles?: string[] | null
  /** Status: 1 enabled, the default of a new user; 0 disabled, which ends the sessions */
  status?: 0 | 1
  /** Username: 3 to 32 letters, digits and . _ -; unique; texts that differ only in case, width, spaces or invisible characters are the same */
  username: string
}

export type CreateAppUserResetLink = {
  /** 1 to mail the link; 0 to return it */
  send?: 0 | 1
}

export type CreateCustomField = {
  /** Access of users of the administration who may read or change the user; write by default */
  backend_access?: "none" | "read" | "write"
  /** Help text of the input */
  describe?: string | null
  /** 1 if lists can be filtered by the value, with fields.KEY; not for the types textarea, image and json */
  filterable?: 0 | 1
  /** Name of the field in fields, matching [a-z][a-z0-9_]*, unique in the realm; it can't be changed */
  key: string
  /** 1 if lists in the console have a column */
  listed?: 0 | 1
  /** Options; required for the types radio, select and checkbox. Values that are no option any more remain until they are changed */
  options?: {
  /** Text to show */
  label: string
  /** Value to store */
  value: string
}[] | null
  /** Access of API keys that may read or change the user, and whether introspection, checks and flags have the value; read by default */
  program_access?: "none" | "read" | "write"
  /** Properties: min, max, step and maxlength are enforced for values that change; others are hints for the console */
  props?: ({
  name: string
  value?: string | null
})[] | null
  /** Realm: admin for fields of users, app for fields of app users; it can't be changed */
  realm: "admin" | "app"
  /** 1: a new user needs a value, from everybody who can set it, and it can't be removed; 0 by default */
  required?: 0 | 1
  /** 1 if keywordSearch finds the value; for the types input, textarea and number */
  searchable?: 0 | 1
  /** Access of users to their own value; none by default */
  self_access?: "none" | "read" | "write"
  sort?: number
  title: string
  /** Type of the values, as of settings; it can't be changed */
  type: "checkbox" | "color" | "date" | "image" | "input" | "json" | "number" | "radio" | "select" | "switch" | "textarea" | "time"
  /** 1 if two users can't have the same value; texts that differ only in case, width, spaces or invisible characters are the same; for the types input and number */
  unique?: 0 | 1
}

export type CreateDept = {
  /** Unique key, by which requests can refer to the department as #code; empty for none */
  code?: string | null
  email?: string | null
  leader?: string | null
  name: string
  /** Path of the department, instead of parent_id; such as Sales/EU, where \/ is a slash in a name; or # and the code, such as #sales-eu */
  parent?: string | null
  /** ID of the parent department; 0 for a root */
  parent_id?: number | null
  phone?: string | null
  sort?: number
  /** Status: 1 enabled, the default of a new department; 0 disabled: no more users can be put into it, and those who are in it stay */
  status?: 0 | 1
}

export type CreateDict = {
  /** Unique name of the dictionary for programs */
  code: string
  describe?: string | null
  name: string
  /** Visibility: 1 makes it readable without signing in, with GET /api/dict; 0, the default, does not */
  public?: 0 | 1
  /** Status: 1 enabled, the default of a new dictionary; 0 hides it from GET /admin/dict */
  status?: 0 | 1
  /** Way in which items are shown; default for a new dictionary */
  type?: "default" | "badge" | "tag"
}

export type CreateDictItem = {
  /** Text that is shown */
  label: string
  sort?: number
  /** Color; default for a new item */
  status?: "default" | "success" | "error" | "processing" | "warning"
  /** Status: 1 enabled, the default of a new item; 0 hides it from GET /admin/dict */
  switch?: 0 | 1
  /** Value that programs store, unique in its dictionary */
  value: string
}

export type CreateFileGroup = {
  describe?: string | null
  /** Name of the group; unique; texts that differ only in case, width, spaces or invisible characters are the same */
  name: string
  sort?: number
}

export type CreateFileLink = {
  /** Life of the link in seconds, 300 by default; the link ends with the session that created it */
  seconds?: number
  /** ID of an earlier version of the file; absent for the current one */
  version_id?: number | null
}

export type CreateOwnAPIKey = {
  /** Data scope that narrows that of the roles, relative to the owner; empty for no narrowing */
  data_scope?: "" | "all" | "dept_tree" | "dept" | "self" | "custom" | null
  /** Paths of the departments, instead of dept_ids; such as Sales/EU, where \/ is a slash in a name; or # and the code, such as #sales-eu */
  departments?: string[] | null
  /** IDs of the departments of the data scope custom */
  dept_ids?: number[] | null
  /** Time at which the key expires; 90 days after its creation by default, and at most as many days ahead as the setting security.key_max_days says */
  expires_at?: string
  /** Name of the program that uses the key */
  name: string
  /** IP addresses and networks that it may be used from, such as 192.0.2.7 or 10.0.0.0/8; empty for all */
  networks?: string[] | null
  /** Requests per minute; 0 for the setting security.key_rate_limit */
  rate_limit?: number
  /** IDs of those of your roles that the key has; empty for all */
  role_ids?: number[] | null
  /** Names of the roles, instead of role_ids */
  roles?: string[] | null
  /** Status: 1 enabled, the default of a new key; 0 disabled */
  status?: 0 | 1
}

export type CreatePasswordResetLink = {
  /** 1 to mail the link; 0 to return it */
  send?: 0 | 1
}

export type CreatePermission = {
  icon?: string | null
  /** Unique key, by which routes and buttons check the permission */
  key: string
  /** Key of the translated name in the console */
  local?: string | null
  name: string
  /** How the menu opens url: link (default) in the same tab, tab in a new one */
  open?: "" | "link" | "tab" | null
  /** Key of the permission, instead of parent_id */
  parent?: string | null
  /** ID of the parent, a menu or a page; 0 for a root */
  parent_id?: number | null
  /** Path of the page in the console */
  path?: string | null
  /** Visibility in the menu: 1 shown, the default of a new permission; 0 hidden */
  show?: 0 | 1
  sort?: number
  /** Status: 1 enabled, the default of a new permission; 0 disabled */
  status?: 0 | 1
  /** Type: 0 menu, 1 page, 2 action */
  type: 0 | 1 | 2
  /** URL of a page of your own, for the console's menu: http(s), or a path on this server. Only for a page (type 1) */
  url?: string | null
}

export type CreateRole = {
  /** Data scope; self for a new role */
  data_scope?: "all" | "dept_tree" | "dept" | "self" | "custom"
  /** Paths of the departments, instead of dept_ids; such as Sales/EU, where \/ is a slash in a name; or # and the code, such as #sales-eu */
  departments?: string[] | null
  /** IDs of the departments of the data scope custom */
  dept_ids?: number[] | null
  description?: string | null
  /** IDs of the roles that users with this role can assign without having them. To add a role, you must have all its permissions */
  grant_role_ids?: number[] | null
  /** Names of the roles, instead of grant_role_ids */
  grant_roles?: string[] | null
  /** Name of the role; unique; texts that differ only in case, width, spaces or invisible characters are the same */
  name: string
  /** 1 to turn passwords off for users with the role, who then sign in with a provider or a passkey. To change it requires a confirmation, and 1 another way to sign in for you */
  password_off?: 0 | 1
  /** 1 if users with the role must have a second factor: after security.factor_grace_days from their next sign-in, they can do nothing before they have set one up. Requires that you have one */
  require_factor?: 0 | 1
  sort?: number
  /** Status: 1 enabled, the default of a new role; 0 disabled */
  status?: 0 | 1
}

export type CreateSetting = {
  describe?: string | null
  /** Key of the setting group, instead of group_id */
  group?: string
  /** ID of the setting group */
  group_id?: number
  /** Key matching [a-z][a-z0-9_]*, unique in its group */
  key: string
  /** Options; required for the types radio, select and checkbox */
  options?: {
  /** Text to show */
  label: string
  /** Value to store */
  value: string
}[] | null
  /** Properties: min, max, step and maxlength are enforced; others are hints for the console */
  props?: ({
  name: string
  value?: string | null
})[] | null
  sort?: number
  title: string
  type: "checkbox" | "color" | "date" | "flag" | "image" | "input" | "json" | "number" | "radio" | "secret" | "select" | "switch" | "textarea" | "time"
  /** Value: the text that is stored, or a JSON value of the type; it must be valid for type, options and props. Responses have the text, and mask that of a secret as ******; sending ****** leaves it unchanged. Rules of a flag have IDs or names of roles, departments and users, and responses the IDs */
  values?: unknown
}

export type CreateSettingGroup = {
  /** Unique key matching [a-z][a-z0-9_]* */
  key: string
  /** Visibility: 1 makes the values readable without signing in; 0 does not */
  public?: 0 | 1
  remark?: string | null
  title: string
}

export type CreateSignInProvider = {
  /** 1 if app users can sign in with it */
  app_users?: 0 | 1
  /** For a directory: DN of the entry below which people are. Required */
  base_dn?: string | null
  /** For a directory: DN of the account that searches, with its password in client_secret; empty to search without an account */
  bind_dn?: string | null
  /** For a directory: certificates in PEM of authorities that are trusted besides those of the system */
  certificates?: string
  /** ID of Reeve at the provider. Required, but for a directory */
  client_id?: string | null
  /** Client secret, or password of bind_dn; never returned. Absent to keep it, empty for a public client */
  client_secret?: string
  /** Who without an account gets one: never, invitation for those whose address was invited, or always */
  creates?: "never" | "invitation" | "always"
  /** Domains in which people must have a verified address; empty for any address. The sign-in page proposes the provider to addresses in them */
  domains?: string[] | null
  /** For a directory: attribute with the address. It counts as that of the person only with trusts_address */
  email_attribute?: string | null
  /** 1 if signing out here signs out at the provider */
  ends_session?: 0 | 1
  /** Values of the claims amr and acr that stand for a second factor, such as mfa; empty to ask for the factor here */
  factor_values?: string[] | null
  /** For a directory: DN of the entry below which groups are searched; empty to use only the groups that the attribute memberOf names */
  group_base_dn?: string | null
  /** For a directory: filter that finds the groups of a person, with {dn} in place of the DN, or {username} */
  group_filter?: string | null
  /** For a directory: attribute by which people are told apart, which never changes and is never used again */
  id_attribute?: string | null
  /** URL by which the provider calls itself; for GitHub https://github.com, or that of your server. Required, but for a directory */
  issuer?: string | null
  /** Kind of provider; openid by default */
  kind?: "openid" | "google" | "microsoft" | "github" | "gitlab" | "keycloak" | "authentik" | "ldap" | "active_directory"
  /** Which claims give which roles and department, at each sign-in. What a claim has given is taken away when it is gone */
  mappings?: ({
  /** IDs of the app roles that such app users have */
  app_role_ids?: number[] | null
  /** Names of the app roles, instead of app_role_ids */
  app_roles?: string[] | null
  /** Name of a claim, such as groups; nested ones are separated by dots */
  claim: string
  /** Path of the department, instead of dept_id; such as Sales/EU, where \/ is a slash in a name; or # and the code, such as #sales-eu */
  department?: string | null
  /** ID of the department that such users are in; 0 for no change */
  dept_id?: number | null
  /** IDs of the roles that such users have */
  role_ids?: number[] | null
  /** Names of the roles, instead of role_ids */
  roles?: string[] | null
  /** Value that the claim has, or that is in its list */
  value: string
})[] | null
  /** Name in URLs: lower-case letters, digits and hyphens; it is part of the address that is registered at the provider */
  name: string
  /** For a directory: attribute with the name */
  name_attribute?: string | null
  /** For a directory: 1 to use ldap:// without StartTLS, so that passwords are sent without encryption; only to hosts in providers.allow of the configuration */
  plain?: 0 | 1
  /** Scopes to ask for besides openid */
  scopes?: string[] | null
  /** For a directory: URLs of its servers, ldaps://host or ldap://host, with :port if it is not the usual one. They are tried in this order */
  servers?: string[] | null
  /** Position on the sign-in page, ascending */
  sort?: number
  /** Status: 1 enabled; 0 disabled, the default of a new provider */
  status?: 0 | 1
  /** Title on the sign-in page */
  title: string
  /** 1 if addresses are those of the person even if the provider does not say that it has verified them */
  trusts_address?: 0 | 1
  /** For a directory: filter that finds a person, with {username} in place of the username; what is usual for the kind by default, as are the other fields */
  user_filter?: string | null
  /** For a directory: attribute with the username */
  username_attribute?: string | null
  /** 1 if users of the console can sign in with it */
  users?: 0 | 1
}

export type CreateUser = {
  /** Path of the department, instead of dept_id; such as Sales/EU, where \/ is a slash in a name; or # and the code, such as #sales-eu */
  department?: string | null
  /** ID of the department; 0 for none */
  dept_id?: number | null
  /** E-mail address, unique unless empty */
  email?: string | null
  /** Values of custom fields by key; null removes a value, and fields that are not sent remain unchanged */
  fields?: UserFieldsInput
  /** mail to mail an invitation, or link to return one, with which the user sets the password; not together with password. Requires the permission to invite, too */
  invite?: "" | "mail" | "link" | null
  mobile?: string | null
  nickname?: string | null
  /** Password; any characters are allowed. If it and invite are absent, one is generated and returned once, and the user must change it */
  password?: string
  /** on to let the user sign in with a password also where a role or the setting turns passwords off, off to refuse passwords; empty, the default, to follow the roles and the setting. To change it requires a confirmation, and off a provider or a passkey of your own */
  password_sign_in?: "" | "on" | "off" | null
  /** IDs of the roles */
  role_ids?: number[] | null
  /** Names of the roles, instead of role_ids */
  roles?: string[] | null
  /** Sex: 0 not given, 1 male, 2 female */
  sex?: 0 | 1 | 2
  /** Status: 1 enabled, the default of a new user; 0 disabled, which ends the sessions */
  status?: 0 | 1
  /** Username: 3 to 32 letters, digits and . _ -; unique; texts that differ only in case, width, spaces or invisible characters are the same */
  username: string
}

export type CreateWebhook = {
  description?: string | null
  /** Signing secret: whsec_ and the base64 of 24 to 64 bytes; one is generated if absent */
  secret?: string
  /** Status: 1 enabled, the default of a new webhook; 0 disabled */
  status?: 0 | 1
  /** Types of events to send, such as user.created, role.* or *; see GET /system/event-type */
  types: string[]
  /** Address to which events are sent with POST: https, or http if webhooks.allow in the configuration names the host */
  url: string
}

export type CreatedByKey = {
  /** Number of app users that the key created and that still exist */
  app_users: number
  /** Usernames of some of them, at most 20 */
  usernames: string[]
  /** Number of users that the key created and that still exist */
  users: number
}

export type CustomField = {
  applied: 0 | 1
  backend_access: "none" | "read" | "write"
  created_at: string
  deleted: 0 | 1
  describe: string
  duplicates: number[]
  filterable: 0 | 1
  id: number
  key: string
  listed: 0 | 1
  options: Option[]
  program_access: "none" | "read" | "write"
  props: Prop[]
  realm: "admin" | "app"
  required: 0 | 1
  searchable: 0 | 1
  self_access: "none" | "read" | "write"
  sort: number
  title: string
  type: "checkbox" | "color" | "date" | "image" | "input" | "json" | "number" | "radio" | "select" | "switch" | "textarea" | "time"
  unique: 0 | 1
  updated_at: string
  /** grows with every change of the record */
  version: number
}

export type CustomFieldForms = {
  /** Fields of app users */
  app_users: FieldForm[]
  /** Fields of your own account */
  own: FieldForm[]
  /** Fields of users */
  users: FieldForm[]
}

export type CustomFieldPage = {
  /** Number of this page, from 1 */
  current: number
  /** IDs of records of this page that data lacks, because they, or records that they need, are damaged; the system's health names the damage; absent if none */
  damaged_ids?: number[]
  /** Records of this page */
  data: CustomField[]
  /** Maximum number of records per page */
  pageSize: number
  /** Number of matching records, damaged ones included */
  total: number
}

export type DeleteAccountOnPage = {
  /** Current password. People who have none, or can't sign in with it, leave it out: they must have signed in within security.reauth_minutes (409 sign_in_first) */
  password?: string
}

export type DeleteOwnAppUser = {
  /** Current password. People who have none, or can't sign in with it, leave it out: they must have signed in within security.reauth_minutes (409 sign_in_first) */
  password?: string
}

export type Deleted = {
  /** Number of records deleted, or in a dry run that would be; absent if they were selected by ids and deleted at once */
  count?: number
  /** Job of a deletion that is too large for one transaction; it is still running if it takes longer than 30 seconds */
  job?: Job
}

export type Delivery = {
  at: string
  /** Number of the attempt, from 1 */
  attempt: number
  duration_ms: number
  /** Why it failed, in the language of the request; empty otherwise */
  error: string
  /** ID of the message, which is the same in every attempt */
  event: string
  id: number
  /** Kind: event, replay or test */
  kind: "event" | "replay" | "test"
  /** Code and parameters of error */
  reason: Reason
  /** HTTP status of the response; 0 without one */
  status: number
  /** 1 if the receiver has answered with a 2xx status */
  success: 0 | 1
  type: string
}

export type DeliveryDetail = {
  at: string
  /** Number of the attempt, from 1 */
  attempt: number
  duration_ms: number
  /** Why it failed, in the language of the request; empty otherwise */
  error: string
  /** ID of the message, which is the same in every attempt */
  event: string
  id: number
  /** Kind: event, replay or test */
  kind: "event" | "replay" | "test"
  /** Code and parameters of error */
  reason: Reason
  /** Body that was sent */
  request: string
  /** First 2 KiB of the response's body */
  response: string
  /** HTTP status of the response; 0 without one */
  status: number
  /** 1 if the receiver has answered with a 2xx status */
  success: 0 | 1
  type: string
}

export type DeliveryPage = {
  /** Deliveries, the newest first. A page can have fewer than pageSize, or none, although next is not 0 */
  data: Delivery[]
  /** Value of before for the next page; 0 on the last one */
  next: number
  /** Name of the node that answers, which has sent them; empty for a server that is the only one */
  node: string
  /** Maximum number of deliveries per page */
  pageSize: number
}

export type Dept = {
  /** Unique key, by which requests can refer to the department as #code; empty for none */
  code: string
  created_at: string
  email: string
  id: number
  leader: string
  name: string
  parent_id: number
  phone: string
  sort: number
  status: 0 | 1
  updated_at: string
  /** Number of users in the department, without its sub-departments */
  user_count: number
  /** grows with every change of the record */
  version: number
}

export type DeptNamed = {
  id: number
  name: string
}

export type DeptNode = {
  children?: DeptNode[]
  /** Unique key, by which requests can refer to the department as #code; empty for none */
  code: string
  created_at: string
  email: string
  id: number
  leader: string
  name: string
  parent_id: number
  phone: string
  sort: number
  status: 0 | 1
  updated_at: string
  /** Number of users in the department, without its sub-departments */
  user_count: number
  /** grows with every change of the record */
  version: number
}

export type DeptTree = {
  data: DeptNode[]
}

export type Device = {
  /** Browser of the last sign-in; empty if unknown */
  browser: string
  created_at: string
  /** 1 if the session of this request was opened there, else 0 */
  current: 0 | 1
  /** Time at which it is forgotten without another sign-in */
  expires_at: string
  id: number
  /** Address of the last sign-in; empty if unknown */
  ip: string
  /** Time of the last sign-in, or of the last request of an open session; null if unknown */
  last_used: string | null
  /** Name that you have given to it; empty for none */
  name: string
  /** Operating system of the last sign-in; empty if unknown */
  os: string
  /** Title of the sign-in provider that you came from at the last sign-in; empty otherwise */
  provider_name: string
  /** Number of open sessions */
  sessions: number
  updated_at: string
  /** grows with every change of the record */
  version: number
}

export type DevicePage = {
  /** Number of this page, from 1 */
  current: number
  /** IDs of records of this page that data lacks, because they, or records that they need, are damaged; the system's health names the damage; absent if none */
  damaged_ids?: number[]
  /** Records of this page */
  data: Device[]
  /** Maximum number of records per page */
  pageSize: number
  /** Number of matching records, damaged ones included */
  total: number
}

export type Dict = {
  code: string
  created_at: string
  describe: string
  id: number
  name: string
  /** Whether everybody can read it, signed in or not */
  public: 0 | 1
  status: 0 | 1
  /** How an item is shown: default, badge or tag */
  type: "default" | "badge" | "tag"
  updated_at: string
  /** grows with every change of the record */
  version: number
}

export type DictItem = {
  created_at: string
  dict_id: number
  id: number
  label: string
  sort: number
  /** Colour: default, success, error, processing or warning */
  status: "default" | "success" | "error" | "processing" | "warning"
  /** Whether the item can be chosen */
  switch: 0 | 1
  updated_at: string
  value: string
  /** grows with every change of the record */
  version: number
}

export type DictItemPage = {
  /** Number of this page, from 1 */
  current: number
  /** IDs of records of this page that data lacks, because they, or records that they need, are damaged; the system's health names the damage; absent if none */
  damaged_ids?: number[]
  /** Records of this page */
  data: DictItem[]
  /** Maximum number of records per page */
  pageSize: number
  /** Number of matching records, damaged ones included */
  total: number
}

export type DictPage = {
  /** Number of this page, from 1 */
  current: number
  /** IDs of records of this page that data lacks, because they, or records that they need, are damaged; the system's health names the damage; absent if none */
  damaged_ids?: number[]
  /** Records of this page */
  data: Dict[]
  /** Maximum number of records per page */
  pageSize: number
  /** Number of matching records, damaged ones included */
  total: number
}

export type DismissNotices = {
  /** Time of the last notice that the user has read */
  until: string
}

export type Effective = {
  /** 1 if the user's data scope is all, else 0 */
  all: 0 | 1
  /** Number of departments in the user's data scope; 0 if all is 1 */
  dept_count: number
  /** Departments in the user's data scope that are also in yours, by ID, at most 200; none if all is 1 */
  depts: DeptNamed[]
  /** Permission keys that the user holds, sorted; none while the user is disabled */
  keys: string[]
}

export type EnableOrDisableAppPermission = {
  status: 0 | 1
  /** Time of the last change as it was read, in any precision; 409 stale if the record has changed since */
  updated_at?: string
  /** Version of the record as it was read; 409 stale if the record has changed since */
  version?: number
}

export type EnableOrDisableAppUser = {
  status: 0 | 1
  /** Time of the last change as it was read, in any precision; 409 stale if the record has changed since */
  updated_at?: string
  /** Version of the record as it was read; 409 stale if the record has changed since */
  version?: number
}

export type EnableOrDisablePermission = {
  status: 0 | 1
  /** Time of the last change as it was read, in any precision; 409 stale if the record has changed since */
  updated_at?: string
  /** Version of the record as it was read; 409 stale if the record has changed since */
  version?: number
}

export type EnableOrDisableUser = {
  status: 0 | 1
  /** Time of the last change as it was read, in any precision; 409 stale if the record has changed since */
  updated_at?: string
  /** Version of the record as it was read; 409 stale if the record has changed since */
  version?: number
}

export type EndSessionOnPage = {
  /** ID of the session */
  id: string
}

export type EndSessionsForProvider = {
  logout_token: string
}

export type EraseAppUser = {
  /** Username of the user, exactly as stored, as a confirmation */
  username: string
}

export type EraseUser = {
  /** Username of the user, exactly as stored, as a confirmation */
  username: string
}

export type ErasedCounts = {
  /** Number of stored deliveries of webhooks that were removed */
  deliveries: number
  /** Number of known devices that were deleted */
  devices: number
  /** Number of events of monitoring that were removed */
  events: number
  /** Number of files from which the name of the uploader was removed */
  files: number
  /** Number of jobs from which the username was removed */
  jobs: number
  /** Number of sessions that were ended */
  sessions: number
  /** Number of rows of the sign-in log that were deleted */
  sign_ins: number
}

export type Erasure = {
  /** Backups and copies of the data made before this time still contain the person; if one is restored on this server, the person is erased again */
  backups_before: string
  /** 1 if everything was removed; 0 if the rest is removed within minutes, or after the next start */
  complete: 0 | 1
  erased_at: string
  /** Number of copies of the data in the data directory, from before upgrades and restores, which still contain the person until you delete them */
  kept_copies: number
  /** Time until which monitoring may keep events of the person if the erasure can't be completed; null if they were removed */
  monitoring_until: string | null
  /** Numbers of records that were deleted or no longer name the person, besides the user's own */
  removed: ErasedCounts
}

export type EtcdMember = {
  alarms: string[]
  /** Size of its database */
  bytes: number
  endpoint: string
  /** Why it does not answer, or that it finds no leader; otherwise empty */
  error: string
  latency_ms: number
  leader: 0 | 1
  /** Size at which it accepts no more writes; 0 if unknown */
  quota_bytes: number
  /** Bytes of its database that are in use */
  used_bytes: number
  /** Empty if it does not answer */
  version: string
}

export type EvaluateAccessRequest = {
  /** What is to be done: name, the last part of the key of a permission */
  action?: Record<string, unknown>
  /** Not looked at */
  context?: Record<string, unknown>
  /** To what it is to be done: type, the first parts of the key of a permission, and id, which is not looked at */
  resource?: Record<string, unknown>
  /** Who wants to do it: type, user or app_user, and id, the ID or the username */
  subject?: Record<string, unknown>
}

export type EvaluateAccessRequests = {
  /** What is to be done: name, the last part of the key of a permission */
  action?: Record<string, unknown>
  /** Not looked at */
  context?: Record<string, unknown>
  /** The questions, objects with subject, action and resource; absent or empty to ask the whole as one */
  evaluations?: unknown[] | null
  /** evaluations_semantic says when to stop: execute_all, the default, deny_on_first_deny or permit_on_first_permit */
  options?: Record<string, unknown>
  /** To what it is to be done: type, the first parts of the key of a permission, and id, which is not looked at */
  resource?: Record<string, unknown>
  /** Who wants to do it: type, user or app_user, and id, the ID or the username */
  subject?: Record<string, unknown>
}

export type EvaluateFlag = {
  /** Whom and what the flags are evaluated for: targetingKey and attributes. It is ignored for sessions, whose identity is that of the user. Without a token and in a public group, identity attributes are ignored */
  context?: Record<string, unknown>
}

export type EvaluateFlags = {
  /** Whom and what the flags are evaluated for: targetingKey and attributes. It is ignored for sessions, whose identity is that of the user. Without a token and in a public group, identity attributes are ignored */
  context?: Record<string, unknown>
}

export type EventType = {
  /** Collection of the records that it is about; empty for an action */
  collection: string
  type: string
}

export type EventTypeList = {
  data: EventType[]
}

export type EventUser = {
  /** ID of the user as whom the user acted; absent for nobody */
  as_id?: number
  id: number
  /** Name of that key */
  key?: string
  /** ID of the API key that acted for the user; absent for the user */
  key_id?: number
  /** Realm of the user: admin or app */
  realm: string
  /** Username; with that of another user as whom the user acted, like ada as bob */
  username: string
}

export type Exchange = {
  /** Time at which the session expires; an idle session expires earlier */
  expires_at: string
  must_change_password: 0 | 1
  /** Token of the session, to be sent in the header Authorization: Bearer <token> */
  token: string
}

export type ExchangeCodeForSessionOfAppUser = {
  /** The parameter code with which the browser has returned; it can be used once, within a minute */
  code_token: string
  /** Code verifier whose challenge was sent to GET /app/sign-in */
  code_verifier: string
  /** The same state as was sent there */
  state: string
  /** The same URL as was sent there */
  to: string
}

export type ExplainWhomRoleCanUpdate = {
  /** Data scope */
  data_scope?: "all" | "dept_tree" | "dept" | "self" | "custom"
  /** Paths of the departments, instead of dept_ids; such as Sales/EU, where \/ is a slash in a name; or # and the code, such as #sales-eu */
  departments?: string[] | null
  /** IDs of the departments of the data scope custom */
  dept_ids?: number[] | null
  /** IDs of the roles that its holders can assign */
  grant_role_ids?: number[] | null
  /** Names of the roles, instead of grant_role_ids */
  grant_roles?: string[] | null
  /** ID of the role, which may have been deleted since; 0 for a new one */
  id?: number
  /** Keys of the permissions, instead of rule_ids */
  permissions?: string[] | null
  /** IDs of its permissions */
  rule_ids?: number[] | null
}

export type Explanation = {
  allowed: boolean
  /** Time of the oldest entry of the change log, if at is earlier; absent otherwise */
  known_from?: string
  /** 1 if the user's data scope is limited: users, departments and sessions outside it are hidden from the user, as are files uploaded by users outside it */
  limited: 0 | 1
  /** Path to the permission in the permission tree, from the root */
  path: Step[]
  /** Reason: granted, owner, unknown_permission, user_disabled, permission_disabled, parent_disabled, role_disabled, not_granted or no_role; of an API key also key_disabled, key_paused, key_expired, personal_keys_off, sign_in_due, no_owner, not_for_keys if no API key can have it, or beyond_owner if its owner may not grant it; with at also unknown_user, if the user did not exist, or unknown, if the change log does not go back that far */
  reason: string
  /** Roles that grant the permission; for role_disabled, the disabled roles that would */
  roles: RoleID[]
}

export type Exported = {
  /** Tables of objects; see GET /setup.schema.json */
  values: Record<string, unknown>
}

export type Failure = {
  data: Record<string, never>
  /** Codes and parameters of errors, by field; a failure has either these or a reason */
  details?: Record<string, Reason>
  /** Stable code of the error, in snake_case */
  errorCode: string
  /** Messages by field, in the language of msg */
  errors?: Record<string, string>
  /** Message for the user: what is wrong and what to do, in Chinese if Accept-Language prefers zh, otherwise in English */
  msg: string
  reason?: Reason
  /** ID of the request, also in X-Request-Id and in the log */
  requestId: string
  /** How to show msg: 0 silent success, 1 warning, 2 error, 3 to 5 the same as notifications, 99 not at all */
  showType: 0 | 1 | 2 | 3 | 4 | 5 | 99
  /** false */
  success: boolean
}

export type FieldForm = {
  describe: string
  /** 1 if the list can be filtered by the value now, else 0 */
  filterable: 0 | 1
  key: string
  /** 1 if lists have a column, else 0 */
  listed: 0 | 1
  options: Option[]
  props: Prop[]
  required: 0 | 1
  title: string
  type: "checkbox" | "color" | "date" | "image" | "input" | "json" | "number" | "radio" | "select" | "switch" | "textarea" | "time"
  /** 1 if you can change the value, 0 if you can only read it */
  writable: 0 | 1
}

export type File = {
  created_at: string
  /** Extension of the name, in lower case, without the dot */
  ext: string
  /** ID of the file group; 0 for none */
  group_id: number
  id: number
  /** 1 if its public URL sends the content unchanged, with metadata that it may contain, such as the place in videos, SVG files and documents; 0 for pictures, which are sent without */
  keeps_metadata: 0 | 1
  /** Kind of file, detected from the content: image, audio, video, archive, document or other */
  kind: "image" | "audio" | "video" | "archive" | "document" | "other"
  /** Media type, detected from the content */
  mime: string
  name: string
  public: 0 | 1
  sha256: string
  /** Size in bytes */
  size: number
  /** Time at which the content was uploaded; later than created_at for a new version */
  stored_at: string
  updated_at: string
  uploader_id: number
  /** Username of the uploader at the time of the upload */
  uploader_name: string
  /** URL of the content; it requires a token unless the file is public */
  url: string
  /** grows with every change of the record */
  version: number
}

export type FileGroup = {
  created_at: string
  describe: string
  /** Number of files in the group, of all uploaders, without those in the trash */
  file_count: number
  id: number
  name: string
  sort: number
  updated_at: string
  /** grows with every change of the record */
  version: number
}

export type FileGroupPage = {
  /** Number of this page, from 1 */
  current: number
  /** IDs of records of this page that data lacks, because they, or records that they need, are damaged; the system's health names the damage; absent if none */
  damaged_ids?: number[]
  /** Records of this page */
  data: FileGroup[]
  /** Maximum number of records per page */
  pageSize: number
  /** Number of matching records, damaged ones included */
  total: number
}

export type FilePage = {
  /** Number of this page, from 1 */
  current: number
  /** IDs of records of this page that data lacks, because they, or records that they need, are damaged; the system's health names the damage; absent if none */
  damaged_ids?: number[]
  /** Records of this page */
  data: File[]
  /** Number of records of the whole list, whatever the parameters, outside your data scope; absent if none */
  hidden?: number
  /** Maximum number of records per page */
  pageSize: number
  /** Number of matching records, damaged ones included */
  total: number
}

export type Files = {
  data: File[]
}

export type FlagEndpoint = {
  /** Path and query of the stream, at the origin of this request. With a token, it is signed: it needs no token, ends with the session or key and after at most 24 hours, and must be kept secret */
  requestUri: string
}

export type FlagEvaluation = {
  /** TARGETING_KEY_MISSING or PARSE_ERROR instead of a value, among several flags */
  errorCode?: string
  /** Details of the error */
  errorDetails?: string
  /** Key of the flag: group.key */
  key: string
  /** What you should know about the result */
  metadata?: FlagMetadata
  /** Reason: STATIC, TARGETING_MATCH, SPLIT, DEFAULT or DISABLED */
  reason?: string
  /** Value of the variant: a boolean, string, number or object */
  value?: unknown
  /** Name of the variant */
  variant?: string
}

export type FlagEvaluations = {
  /** Streams that tell when to evaluate the flags again */
  eventStreams: FlagEventStream[]
  /** The flags that you may evaluate, by key */
  flags: FlagEvaluation[]
}

export type FlagEventStream = {
  endpoint: FlagEndpoint
  /** Seconds after which a client that is not used should close the stream, and evaluate again when it opens it */
  inactivityDelaySec: number
  /** sse: Server-Sent Events */
  type: string
}

export type FlagMetadata = {
  /** Why rules about users, roles and departments could not match: the API key has no such user in its data scope. Absent otherwise */
  warning?: string
}

export type FlagPreview = {
  /** Number of enabled users in your data scope; if it is larger than users, the counts are those of a sample */
  total: number
  /** Number of users that the flag was evaluated for */
  users: number
  /** What the users get, by variant */
  variants: PreviewVariant[]
}

export type GoClient = {
  /** Path of the module */
  module: string
  /** Path of the proxy, for GOPROXY */
  path: string
  /** Version of the module */
  version: string
}

export type Health = {
  /** Always ok; any other state is an error response */
  status: string
}

export type Home = {
  /** Accent color in light mode, #rrggbb; empty for the console's own */
  accent: string
  /** Accent color in dark mode, #rrggbb; empty for the console's own */
  accent_dark: string
  /** Whom people can ask for help, from the setting site.contact; empty for nobody */
  contact: string
  /** 1 while the generated password of the first user is in the file initial-password of the data directory; absent afterwards */
  first_sign_in?: 0 | 1
  /** 1 if this server can mail links with which people set a new password, else 0 */
  forgot_password: 0 | 1
  /** URL of the logo; empty for none */
  logo: string
  /** Minimum length of a password in characters, from the setting security.password_length */
  password_length: number
  /** Values of the public setting groups, by group and key */
  settings: Record<string, Record<string, unknown>>
  /** Plain text for the sign-in page, from the setting site.sign_in_text; empty for none */
  sign_in_text: string
  /** Current time of the server */
  time: string
  title: string
}

export type Import = {
  /** Encoding as which the file was read */
  charset: string
  /** Number of users created so far, 0 in a dry run; all of them once the job is done */
  created: number
  dry_run: 0 | 1
  /** Number of rows that cannot be imported */
  failed: number
  /** Job that creates the users, null in a dry run; it is still running if it takes longer than 30 seconds */
  job: Job | null
  rows: Verdict[]
}

export type ImportAppUsers = {
  /** Encoding of the file, such as utf-8, utf-16le, windows-1251, gb18030, big5, shift_jis or euc-kr; an unknown name is answered with all of them. Required unless the file is UTF-8 or has a byte order mark, which comes first. Also a query parameter */
  charset?: string
  /** 1 to report what would happen and change nothing; also a query parameter */
  dry_run?: 0 | 1
  file: string
  /** 1 to mail an invitation to each user who has an address, and to make one without a mail for the others. Users with a password hash are not invited. Requires the permission admin.invite.create, or user.invite.create for app users; also a query parameter */
  invite?: 0 | 1
}

export type ImportUsers = {
  /** Encoding of the file, such as utf-8, utf-16le, windows-1251, gb18030, big5, shift_jis or euc-kr; an unknown name is answered with all of them. Required unless the file is UTF-8 or has a byte order mark, which comes first. Also a query parameter */
  charset?: string
  /** 1 to report what would happen and change nothing; also a query parameter */
  dry_run?: 0 | 1
  file: string
  /** 1 to mail an invitation to each user who has an address, and to make one without a mail for the others. Users with a password hash are not invited. Requires the permission admin.invite.create, or user.invite.create for app users; also a query parameter */
  invite?: 0 | 1
}

export type Info = {
  /** Keys of the permissions that the user holds */
  access: string[]
  /** Who acts as this user; null for the user */
  acting: Acting | null
  /** Time from which the user can do nothing before setting up a second factor; null if none is required, or there is one */
  factor_due: string | null
  /** 1 if the user has a password and can sign in with it */
  has_password: 0 | 1
  info: User
  /** Time at which this server was installed */
  installed_at: string
  /** Tree of the enabled, visible menus and pages that the user may open */
  menus: PermissionNode[]
  /** What has happened to the account while the user may not have looked, the oldest first; until PUT /admin/account/notice */
  notices: Notice[]
  /** Paths of the lists that open with a saved view of the user's choice */
  view_lists: string[]
}

export type IntrospectToken = {
  /** Ignored: the key says which program it is */
  client_id?: string
  /** API key, for programs that send it neither as a bearer token nor by Basic authentication */
  client_secret?: string
  /** Token of a session of a user or an app user, or an API key */
  token: string
  /** Ignored: tokens of all kinds are recognized */
  token_type_hint?: string
}

export type Introspection = {
  /** Whether the next request with the token would be accepted */
  active: boolean
  /** Time at which the token expires at the latest, in seconds since 1970 */
  exp?: number
  /** Values of the custom fields of the user or app user that programs may read, by key; absent for an API key */
  fields?: Record<string, unknown>
  /** ID of the API key; absent for a session */
  key_id?: number
  /** Name of the API key */
  key_name?: string
  /** Realm: admin or app */
  realm?: string
  /** Keys of the permissions, separated by spaces */
  scope?: string
  /** Whom the token belongs to: user:7 or app_user:3 */
  sub?: string
  /** Always Bearer */
  token_type?: string
  /** ID of the user or app user; of an API key, of its owner */
  user_id?: number
  username?: string
}

export type Invitation = {
  created_at: string
  /** Address to which it is mailed; empty for none */
  email: string
  /** Time at which the last link expires, or has expired; null before the first */
  expires_at: string | null
  id: number
  /** Username of the user who has invited; empty if the user was deleted */
  invited_by: string
  /** Number of links that can be used, at most 3: each copy and each mail has its own */
  links: number
  /** What the mail server said about the last attempt */
  mail_response: string
  /** State of the last mail: queued, sent, failed or cancelled; empty if none was sent */
  mail_state: "" | "queued" | "sent" | "failed" | "cancelled"
  nickname: string
  updated_at: string
  /** ID of the user, or of the app user */
  user_id: number
  username: string
  /** grows with every change of the record */
  version: number
}

export type InvitationPage = {
  /** Number of this page, from 1 */
  current: number
  /** IDs of records of this page that data lacks, because they, or records that they need, are damaged; the system's health names the damage; absent if none */
  damaged_ids?: number[]
  /** Records of this page */
  data: Invitation[]
  /** Maximum number of records per page */
  pageSize: number
  /** Number of matching records, damaged ones included */
  total: number
}

export type InviteAppUser = {
  /** 1 to mail the link; 0 to return it */
  send?: 0 | 1
}

export type InviteAppUsers = {
  /** 1 to return the links, for at most 200 people */
  copy?: 0 | 1
  /** 1 to mail the invitations. People without an address are skipped */
  send?: 0 | 1
}

export type InviteUser = {
  /** 1 to mail the link; 0 to return it */
  send?: 0 | 1
}

export type InviteUsers = {
  /** 1 to return the links, for at most 200 people */
  copy?: 0 | 1
  /** 1 to mail the invitations. People without an address are skipped */
  send?: 0 | 1
}

export type InvitedLink = {
  email: string
  expires_at: string
  nickname: string
  url: string
  user_id: number
  username: string
}

export type InvitedMany = {
  /** Number of people who were invited */
  count: number
  /** The links, which no other response contains; absent unless copy is 1 */
  links?: InvitedLink[]
  /** People who were not, at most 1000 */
  skipped: Skipped[]
}

export type Job = {
  created_at: string
  /** Codes and parameters of errors, by field */
  details?: unknown
  /** Records changed so far; of a failed job none remain changed, except contents of files that were moved */
  done: number
  /** Time when the job ended; null until it is done or failed */
  ended_at: string | null
  /** What is wrong, by field, in the language of the request */
  errors?: Record<string, string>
  id: number
  /** ID of the API key that started it for the user; 0 for none */
  key_id: number
  /** What the job does: user_import, app_user_import, user_update, user_delete, app_user_delete, file_trash, setup, undo, files_to_bucket or files_to_local */
  kind: string
  /** Why the job failed, in the language of the request; empty otherwise */
  msg: string
  /** 1 if the user had just confirmed who it is when the job was started, so that it can do what requires that */
  proved: 0 | 1
  /** Code and parameters of msg */
  reason?: unknown
  /** State: preparing, running, undoing, done or failed */
  state: "preparing" | "running" | "undoing" | "done" | "failed"
  /** Records to change */
  total: number
  updated_at: string
  /** ID of the user who started it */
  user_id: number
  username: string
}

export type JobPage = {
  /** Number of this page, from 1 */
  current: number
  /** IDs of records of this page that data lacks, because they, or records that they need, are damaged; the system's health names the damage; absent if none */
  damaged_ids?: number[]
  /** Records of this page */
  data: Job[]
  /** Maximum number of records per page */
  pageSize: number
  /** Number of matching records, damaged ones included */
  total: number
}

export type KeptCopy = {
  created_at: string
  name: string
  schema: number
  size_bytes: number
}

export type KeyDeleted = {
  /** What the key has created, which stays */
  created: CreatedByKey
}

export type KeyWithToken = {
  /** What the key has created and what remains when it is deleted */
  created: CreatedByKey
  created_at: string
  /** Data scope that narrows that of the roles, relative to the owner; empty for no narrowing */
  data_scope: "" | "all" | "dept_tree" | "dept" | "self" | "custom"
  /** IDs of the departments of the data scope custom */
  dept_ids: number[]
  expires_at: string
  /** First characters of the key, by which you can recognize it */
  hint: string
  id: number
  /** Address of the last use */
  last_ip: string
  /** Time of the last use, accurate to a minute; null if it was never used */
  last_used: string | null
  name: string
  /** IP addresses and networks that it may be used from; empty for all */
  networks: string[]
  /** 1 for a personal key, which has the permissions of its owner; 0 for a service key, which has those of its roles as far as its owner may grant them */
  personal: 0 | 1
  /** Time until which the key from before the last rotation is valid too; null if there is none */
  previous_until: string | null
  /** Requests per minute; 0 for the setting security.key_rate_limit */
  rate_limit: number
  /** IDs of the roles; of a personal key, those of the owner's roles that it has, empty for all */
  role_ids: number[]
  /** Names of the roles, in the order of role_ids */
  role_names: string[]
  /** State: active; unused for 90 days; disabled, also while personal keys are turned off; expired; paused since a backup was restored; sign_in_due, if the owner has to sign in with a provider, see the setting security.provider_key_days; or no_owner, if the owner was disabled or deleted */
  state: "active" | "unused" | "disabled" | "expired" | "paused" | "no_owner" | "sign_in_due"
  /** Status: 1 enabled, 0 disabled */
  status: 0 | 1
  /** The new key, to be sent in the header Authorization: Bearer <token>; no other response contains it */
  token: string
  updated_at: string
  /** ID of the owner, the user for whom the key acts and whose rights limit it */
  user_id: number
  /** Username of the owner; empty if the owner was deleted */
  username: string
  /** grows with every change of the record */
  version: number
}

export type Link = {
  /** Time at which the link expires */
  expires_at: string
  /** URL of the file, relative to the origin of the server */
  url: string
}

export type LinkURL = {
  /** URL to which the browser is sent: of the provider or, for a directory, of a page of this server, without the host */
  url: string
}

export type LinkUsed = {
  /** Username of the person whom the link was for */
  username: string
}

export type Lockout = {
  /** Client networks from which the user can't sign in, at most 10; empty for all except known ones */
  networks: string[]
  /** Time of the first of the failed sign-ins */
  since: string
  /** Number of sign-ins that failed or were refused since then, with the password or the second factor */
  tries: number
  /** Time at which the user can sign in again */
  until: string
}

export type LogActor = {
  /** 1 if the name can't be read because the person was erased; otherwise absent */
  erased?: 0 | 1
  id?: number
  /** Kind: user, app_user, system, cli or anonymous; unknown for an actor outside your data scope */
  kind: "user" | "app_user" | "key" | "system" | "cli" | "anonymous" | "unknown"
  /** Username at that time */
  name?: string
}

export type LogChange = {
  /** Collection of the record, such as user, role or setting */
  collection: string
  /** 1 if the name can't be read because the person was erased; otherwise absent */
  erased?: 0 | 1
  fields: LogField[]
  id: number
  /** Name of the record at that time */
  name?: string
  /** What was done: create, update or delete */
  operation: "create" | "update" | "delete"
}

export type LogDetail = {
  /** What was done besides changing records, such as export, denied or undo */
  action?: string
  actor: LogActor
  /** Client address */
  address?: string
  /** User as whom the actor acted; absent for nobody */
  as?: LogActor
  at: string
  changes: LogChange[]
  /** 1 if values can't be read because the key of a person is damaged; they look like those of an erased person; otherwise absent */
  damaged?: 0 | 1
  /** Details of the action */
  details?: unknown
  /** Generation and number. A restore begins a new generation, so an ID is never used twice */
  event_id: string
  /** Number of changes of records that you may not read; absent if none */
  hidden?: number
  /** Job of a large operation, which has several entries */
  job_id?: number
  operation: LogOperation
  /** Number of the entry in its job, from 1 */
  part?: number
  /** Reason that the client gave in X-Reason or, to act as a user, in the body */
  reason?: string
  request_id?: string
  /** Number of the entry; numbers have no gaps */
  seq: number
  session_id?: number
  undo: UndoInfo
}

export type LogEntry = {
  /** What was done besides changing records, such as export, denied or undo */
  action?: string
  actor: LogActor
  /** Client address */
  address?: string
  /** User as whom the actor acted; absent for nobody */
  as?: LogActor
  at: string
  changes: LogChange[]
  /** 1 if values can't be read because the key of a person is damaged; they look like those of an erased person; otherwise absent */
  damaged?: 0 | 1
  /** Details of the action */
  details?: unknown
  /** Generation and number. A restore begins a new generation, so an ID is never used twice */
  event_id: string
  /** Number of changes of records that you may not read; absent if none */
  hidden?: number
  /** Job of a large operation, which has several entries */
  job_id?: number
  operation: LogOperation
  /** Number of the entry in its job, from 1 */
  part?: number
  /** Reason that the client gave in X-Reason or, to act as a user, in the body */
  reason?: string
  request_id?: string
  /** Number of the entry; numbers have no gaps */
  seq: number
  session_id?: number
}

export type LogField = {
  /** Of an array: values that were added, at most 20 */
  added?: unknown[]
  /** Of an array: number of values that were added */
  added_count?: number
  /** 1 if a value can't be read because the person was erased; otherwise absent */
  erased?: 0 | 1
  /** Present names of the records whose IDs are values, by ID, as far as you may read them */
  labels?: Record<string, string>
  name: string
  /** Value after; absent for a deleted record */
  new?: unknown
  /** Value before; absent for a new record */
  old?: unknown
  /** Of an array: values that were removed, at most 20 */
  removed?: unknown[]
  /** Of an array: number of values that were removed */
  removed_count?: number
  /** 1 for a secret, of which the log has no value; otherwise absent */
  secret?: 0 | 1
  /** 1 if a value is longer than a list shows; otherwise absent */
  truncated?: 0 | 1
}

export type LogOperation = {
  method?: string
  route?: string
  title: string
}

export type LogPage = {
  /** 1: pages follow one another by before */
  current: number
  /** 1 if a part of the log cannot be read, so that entries or values may be missing; otherwise absent */
  damaged?: 0 | 1
  /** Entries, the newest first. A page can have fewer than pageSize, or none, although next is not 0 */
  data: LogEntry[]
  /** Value of before for the next page; 0 on the last one */
  next: number
  /** Maximum number of entries per page */
  pageSize: number
  /** Number of matching entries; null if counting them would mean reading all of them */
  total: number | null
}

export type Login = {
  /** Token to send with the next sign-in of this user from this device; also set as a cookie */
  device_token: string
  /** Time at which the session expires, or login_token; an idle session expires earlier */
  expires_at: string
  /** Token for POST /admin/login/totp or /admin/login/passkey, or for app users POST /api/login/totp, if the user has a second factor: the password was right, and the factor is required; empty otherwise */
  login_token: string
  /** With login_token: what completes the sign-in, the strongest first: passkey, otp or recovery. A recovery code is sent like a code */
  methods: string[]
  must_change_password: 0 | 1
  /** With login_token: PublicKeyCredentialRequestOptions as JSON, to ask a browser for a passkey; null without one */
  public_key: unknown
  /** Token of the session, to be sent in the header Authorization: Bearer <token>; empty if it is in a cookie, or if login_token is not empty */
  token: string
}

export type LoginLog = {
  /** ID of the app user; 0 otherwise */
  app_user_id: number
  /** Time of the attempt if the row was kept in memory while the disk was full and stored later; null otherwise */
  attempted_at: string | null
  browser: string
  /** Number of attempts that the row represents */
  count: number
  created_at: string
  /** Keyed hash of what was typed if it names no user; empty otherwise. Equal texts have equal fingerprints */
  fingerprint: string
  id: number
  ip: string
  /** Time until which the user can't sign in after failed sign-ins, as of now; null if that is not so */
  locked_until: string | null
  os: string
  /** Title of the sign-in provider that the person came from; empty otherwise */
  provider_name: string
  /** Realm: admin or app */
  realm: string
  /** Reason of a failure: unknown_user, wrong_password, wrong_code, disabled or pending; or rate_limited if the password was not compared, because there were too many attempts for the app user under other names */
  reason: string
  /** Result: success, failed or throttled */
  result: string
  /** ID of the new session; 0 if there is none */
  session_id: number
  updated_at: string
  /** ID of the user; 0 if the name is unknown or that of an app user */
  user_id: number
  /** Username as typed if a user has this name, or that of the app user whose e-mail address or mobile number was typed; empty otherwise */
  username: string
}

export type LoginLogOutPage = {
  /** Number of this page, from 1 */
  current: number
  /** IDs of records of this page that data lacks, because they, or records that they need, are damaged; the system's health names the damage; absent if none */
  damaged_ids?: number[]
  /** Records of this page */
  data: LoginLog[]
  /** Maximum number of records per page */
  pageSize: number
  /** Number of matching records, damaged ones included */
  total: number
}

export type Logout = {
  /** URL where the browser signs out at the provider with which the session was opened, and then comes back; empty for none */
  provider_url: string
}

export type Mail = {
  /** ID of the app user to whom it is sent; 0 for a user */
  app_user_id: number
  /** Number of attempts to send it */
  attempts: number
  created_at: string
  /** Address to which the next attempt is made; empty if the user has none */
  email: string
  id: number
  /** Language of the text: en or zh */
  language: string
  /** Time of the last attempt; null before the first */
  last_at: string | null
  /** Time of the next attempt; null unless it is queued */
  next_at: string | null
  /** Purpose: invitation, password_reset, email_verification, email_change, registration, sign_in_code, or the notices email_changed, factor_removed, sign_in_unknown, backup_unproven and backup_proven */
  purpose: "invitation" | "password_reset" | "email_verification" | "email_change" | "email_changed" | "factor_removed" | "sign_in_unknown" | "registration" | "sign_in_code" | "backup_unproven" | "backup_proven"
  /** What the mail server has said to the last attempt, or why it could not be reached */
  response: string
  /** Time at which the mail server has accepted it; null if it has not */
  sent_at: string | null
  /** Where the last attempt has failed: settings, connect, tls, auth, sender, recipient or data; restored if a backup was restored; empty otherwise */
  stage: "" | "settings" | "connect" | "tls" | "auth" | "sender" | "recipient" | "data" | "restored"
  /** State: queued; sent, if the mail server has accepted it; failed; or cancelled, if it is no longer needed */
  state: "" | "queued" | "sent" | "failed" | "cancelled"
  updated_at: string
  /** ID of the user to whom it is sent; 0 for an app user */
  user_id: number
  username: string
  /** grows with every change of the record */
  version: number
}

export type MailOutPage = {
  /** Number of this page, from 1 */
  current: number
  /** IDs of records of this page that data lacks, because they, or records that they need, are damaged; the system's health names the damage; absent if none */
  damaged_ids?: number[]
  /** Records of this page */
  data: Mail[]
  /** Maximum number of records per page */
  pageSize: number
  /** Number of matching records, damaged ones included */
  total: number
}

export type MailQueued = {
  /** Address to which the link is mailed */
  sent_to: string
}

export type MailTemplate = {
  /** HTML document without scripts and external resources */
  html: string
  /** Language: en or zh */
  language: string
  /** Name of the template, which is the purpose of its mails */
  name: string
  subject: string
  /** Plain text */
  text: string
}

export type MailTemplates = {
  data: MailTemplate[]
}

export type MailTest = {
  /** What the mail server has said, or why it could not be reached */
  response: string
  /** 1 if the mail server has accepted the mail, else 0 */
  sent: 0 | 1
  /** Where it has failed: settings, connect, tls, auth, sender, recipient or data; empty if it was sent */
  stage: "" | "settings" | "connect" | "tls" | "auth" | "sender" | "recipient" | "data" | "restored"
  /** Duration in milliseconds */
  took_ms: number
}

export type MakeViewDefault = {
  /** 1 to open the list with it, 0 to open the list without a view */
  default: 0 | 1
}

export type ManualAnswer = {
  /** Topics in reading order */
  data: ManualTopic[]
}

export type ManualTopic = {
  /** Text of the topic, without scripts, styles and pictures */
  html: string
  /** Name of the topic, as in reeve help */
  key: string
  /** Language of the title and the text, as in the attribute lang of HTML: en or zh-CN */
  lang: string
  /** Title of the topic */
  title: string
}

export type Mapping = {
  /** IDs of the app roles that such app users have */
  app_role_ids: number[]
  /** Name of a claim, such as groups; nested ones are separated by dots */
  claim: string
  /** ID of the department that such users are in; 0 for no change */
  dept_id: number
  /** IDs of the roles that such users have */
  role_ids: number[]
  /** Value that the claim has, or that is in its list */
  value: string
}

export type MemoryInfo = {
  /** Anonymous resident memory of the process (RssAnon) in bytes; 0 if unknown */
  anonymous_bytes: number
  goroutines: number
  heap_bytes: number
}

export type MoveContentsOfFiles = {
  /** s3 for the bucket, local for the data directory */
  to: "s3" | "local"
}

export type NewAppUser = {
  avatar_url: string
  created_at: string
  /** ID of the API key that created the user; 0 if none did. The key may have been deleted */
  created_by_key: number
  email: string
  /** 1 if the user has opened a link that was sent to the address, else 0 */
  email_verified: 0 | 1
  /** Values of custom fields by key, as far as you may read them; a field without a value is absent */
  fields: AppUserFields
  id: number
  /** The invitation; absent unless there is one */
  invitation?: OneTimeLink
  /** Why the user can't sign in now after failed sign-ins; null if that is not so */
  lockout: Lockout | null
  login_ip: string
  /** Time of the last sign-in; null before the first */
  login_time: string | null
  mobile: string
  nickname: string
  /** Number of passkeys of the user */
  passkeys: number
  /** Generated password, which no other response contains; absent unless one was generated */
  password?: string
  /** Whether the user can sign in with a password: on, off, or empty for what the roles and the settings say */
  password_sign_in: "" | "on" | "off"
  /** 1 if the user has registered and the address is not confirmed yet: the user can't sign in, and is deleted after 24 hours; else 0 */
  pending: 0 | 1
  /** Address that a pending user has to confirm; empty otherwise */
  pending_email: string
  /** IDs of the app roles */
  role_ids: number[]
  /** Names of the roles, in the order of role_ids */
  role_names: string[]
  /** 1 if a sign-in asks for a code besides the password, else 0 */
  second_factor: 0 | 1
  /** Status: 1 enabled, 0 disabled; a disabled user can't sign in */
  status: 0 | 1
  updated_at: string
  username: string
  /** grows with every change of the record */
  version: number
}

export type NewPasskey = {
  created_at: string
  id: number
  /** Time of the last use; null before the first */
  last_used: string | null
  name: string
  /** Recovery codes, each of which replaces the second factor once; they are shown once. Empty if there are some already */
  recovery_codes: string[]
  /** 1 if it can be on several devices of the user, 0 if it is on one */
  synced: 0 | 1
  updated_at: string
  /** 0 if it is for another host name than that of server.public_url */
  usable: 0 | 1
  /** grows with every change of the record */
  version: number
}

export type NewPasskeyOptions = {
  /** PublicKeyCredentialCreationOptions as JSON, for PublicKeyCredential.parseCreationOptionsFromJSON of a browser; null if passkeys can't be used here: they need server.public_url in the configuration */
  public_key: unknown
}

export type NewSecret = {
  /** Name of the object */
  key: string
  /** Kind of the object: API key or webhook */
  kind: string
  secret: string
}

export type NewUser = {
  /** ID of the avatar; 0 for none */
  avatar_id: number
  avatar_url: string
  created_at: string
  /** ID of the API key that created the user; 0 if none did. The key may have been deleted */
  created_by_key: number
  /** ID of the department; 0 for none */
  dept_id: number
  dept_name: string
  email: string
  /** 1 if the user has opened a link that was sent to the address, else 0 */
  email_verified: 0 | 1
  /** Values of custom fields by key, as far as you may read them; a field without a value is absent */
  fields: UserFields
  id: number
  /** The invitation; absent unless there is one */
  invitation?: OneTimeLink
  /** Why the user can't sign in now after failed sign-ins; null if that is not so */
  lockout: Lockout | null
  login_ip: string
  /** Time of the last sign-in; null before the first */
  login_time: string | null
  mobile: string
  must_change_password: 0 | 1
  nickname: string
  /** Generated password, which no other response contains; absent unless one was generated */
  password?: string
  /** Whether the user can sign in with a password: on, off, or empty for what the roles and the settings say */
  password_sign_in: "" | "on" | "off"
  role_ids: number[]
  /** Names of the roles, in the order of role_ids */
  role_names: string[]
  /** 1 if a sign-in asks for a code besides the password, else 0 */
  second_factor: 0 | 1
  /** Sex: 0 not given, 1 male, 2 female */
  sex: 0 | 1 | 2
  /** Status: 1 enabled, 0 disabled; a disabled user can't sign in */
  status: 0 | 1
  updated_at: string
  username: string
  /** grows with every change of the record */
  version: number
}

export type NodeState = {
  /** Number of the last entry that it has reported */
  applied: number
  /** Number of entries that it has not reported yet */
  behind: number
  /** 1 if it is in contact with etcd */
  contact: 0 | 1
  /** Size of its database files */
  data_bytes: number
  /** Configuration keys whose values must be the same at all nodes and differ from those of the node that answers */
  differs: string[]
  /** Free bytes on the disk of its data directory; -1 if unknown */
  disk_free_bytes: number
  /** 1 if it does what only one node does at a time */
  duties: 0 | 1
  name: string
  /** Time of its last report, by its clock; null if the report can't be read */
  reported_at: string | null
  /** Version of the schema of its data; 0 if unknown */
  schema: number
  /** 1 if it is the node that answers */
  self: 0 | 1
  /** Time of its start; null if unknown */
  started_at: string | null
  version: string
}

export type NodesState = {
  /** Time of the last question of this node that etcd has answered; null before the first */
  answered_at: string | null
  /** Number of the last entry that the node that answers has applied */
  applied: number
  /** Number of the last entry in the newest base copy */
  base: number
  /** Time of the newest base copy; null if unknown */
  base_at: string | null
  /** 1 if this server is one of several nodes; otherwise the other fields are empty */
  cluster: 0 | 1
  /** Name of the numbering of entries */
  epoch: string
  /** Why etcd does not answer; empty if it does */
  error: string
  /** Members of etcd */
  etcd: EtcdMember[]
  /** Name of the node that answers */
  node: string
  nodes: NodeState[]
  /** Number of the last entry in the log of commits */
  number: number
}

export type Notice = {
  at: string
  /** Browser of a sign-in; empty otherwise */
  browser: string
  /** Username of an administrator who acted as you; empty otherwise, and if the user was deleted */
  by: string
  /** ID of the device of a sign-in, see GET /admin/account/device; 0 otherwise */
  device_id: number
  /** 1 if PUT /admin/account/notice removes it; 0 for a sign-in, in a session and on a device that are newer than one of the sign-ins. It ends 30 days after the sign-in, too */
  dismissible: 0 | 1
  /** Address of a sign-in; empty otherwise */
  ip: string
  /** What has happened: factor_removed, if somebody else has removed the second factor; new_device or new_network, after a sign-in on a device, or from a network (/24, /48), on which you had not been before; acted_as, if an administrator acted as you */
  kind: "acted_as" | "factor_removed" | "new_device" | "new_network"
  /** Operating system of a sign-in; empty otherwise */
  os: string
  /** Title of the sign-in provider that the person came from; empty otherwise */
  provider_name: string
  /** Reason that the administrator gave; empty otherwise */
  reason: string
}

export type NpmClient = {
  /** Name of the package */
  package: string
  /** Path of the archive, for npm install */
  path: string
  /** SHA-256 of the archive, hexadecimal */
  sha256: string
  /** Size of the archive in bytes */
  size: number
}

export type OauthFailure = {
  /** Code of the error: invalid_request, invalid_client, invalid_token, insufficient_scope, temporarily_unavailable or server_error */
  error: string
  error_description: string
}

export type OfrepFailure = {
  /** Code of the error: PARSE_ERROR, INVALID_CONTEXT, TARGETING_KEY_MISSING, FLAG_NOT_FOUND or GENERAL */
  errorCode: string
  errorDetails: string
  /** Key of the flag; absent if the request is not about one */
  key?: string
}

export type OneTimeLink = {
  /** Address to which it is mailed; absent if it is not */
  email?: string
  /** Time at which it expires; null if it is mailed, since its time begins when it is sent */
  expires_at: string | null
  /** The link, which no other response contains; absent if it is mailed */
  url?: string
}

export type OpenDict = {
  /** Enabled items, ordered by sort, then ID */
  items: OpenItem[]
  name: string
  /** How an item is shown: default is the label alone; badge and tag use the status as colour */
  type: "default" | "badge" | "tag"
}

export type OpenForwarded = {
  /** Where to send the browser within a minute; it can be used once */
  url: string
}

export type OpenItem = {
  /** Text to show */
  label: string
  /** Colour: default, success, error, processing or warning */
  status: "default" | "success" | "error" | "processing" | "warning"
  /** Stored value, unique within the dictionary */
  value: string
}

export type OpenProxiedProgram = {
  /** Origin of the program, from the address of this page */
  origin: string
  /** Hash that binds the sign-in to the browser, from the address of this page */
  state: string
  /** Path to open there, from the address of this page */
  to?: string | null
}

export type Option = {
  /** Text to show */
  label: string
  /** Value to store */
  value: string
}

export type OwnAppUser = {
  /** Keys of the app permissions that the app user holds */
  access: string[]
  avatar_url: string
  created_at: string
  /** ID of the API key that created the user; 0 if none did. The key may have been deleted */
  created_by_key: number
  email: string
  /** 1 if the user has opened a link that was sent to the address, else 0 */
  email_verified: 0 | 1
  /** Values of custom fields by key, as far as you may read them; a field without a value is absent */
  fields: AppUserFields
  id: number
  /** Why the user can't sign in now after failed sign-ins; null if that is not so */
  lockout: Lockout | null
  login_ip: string
  /** Time of the last sign-in; null before the first */
  login_time: string | null
  mobile: string
  nickname: string
  /** Number of passkeys of the user */
  passkeys: number
  /** Whether the user can sign in with a password: on, off, or empty for what the roles and the settings say */
  password_sign_in: "" | "on" | "off"
  /** 1 if the user has registered and the address is not confirmed yet: the user can't sign in, and is deleted after 24 hours; else 0 */
  pending: 0 | 1
  /** Address that a pending user has to confirm; empty otherwise */
  pending_email: string
  /** IDs of the app roles */
  role_ids: number[]
  /** Names of the roles, in the order of role_ids */
  role_names: string[]
  /** 1 if a sign-in asks for a code besides the password, else 0 */
  second_factor: 0 | 1
  /** Status: 1 enabled, 0 disabled; a disabled user can't sign in */
  status: 0 | 1
  updated_at: string
  username: string
  /** grows with every change of the record */
  version: number
}

export type ParentNodeNode = {
  children?: ParentNodeNode[]
  id: number
  name: string
  /** ID of the parent; 0 for a root */
  parent_id: number
}

export type ParentNodeTree = {
  data: ParentNodeNode[]
}

export type Part = {
  /** Figures by name, which ends in the unit */
  figures: Record<string, number>
  /** Name of the component */
  name: string
  /** Code and parameters of text */
  reason: Reason
  /** Time since when the component has failed, if known */
  since: string | null
  /** State of the component: ok, checking, degraded or failed */
  state: string
  /** Description of the state, in the language of the request */
  text: string
}

export type Passkey = {
  created_at: string
  id: number
  /** Time of the last use; null before the first */
  last_used: string | null
  name: string
  /** 1 if it can be on several devices of the user, 0 if it is on one */
  synced: 0 | 1
  updated_at: string
  /** 0 if it is for another host name than that of server.public_url */
  usable: 0 | 1
  /** grows with every change of the record */
  version: number
}

export type PasskeyOptions = {
  /** PublicKeyCredentialRequestOptions as JSON, for PublicKeyCredential.parseRequestOptionsFromJSON of a browser; null if passkeys can't be used here: they need server.public_url in the configuration */
  public_key: unknown
}

export type PasskeyPage = {
  /** Number of this page, from 1 */
  current: number
  /** IDs of records of this page that data lacks, because they, or records that they need, are damaged; the system's health names the damage; absent if none */
  damaged_ids?: number[]
  /** Records of this page */
  data: Passkey[]
  /** Maximum number of records per page */
  pageSize: number
  /** Number of matching records, damaged ones included */
  total: number
}

export type Permission = {
  created_at: string
  icon: string
  id: number
  key: string
  local: string
  name: string
  /** How that link opens: link in the same tab, tab in a new one; empty without a URL */
  open: "" | "link" | "tab"
  parent_id: number
  path: string
  show: 0 | 1
  sort: number
  status: 0 | 1
  type: 0 | 1 | 2
  updated_at: string
  /** URL of a page of your own, which the menu of the console links to; empty for none */
  url: string
  /** grows with every change of the record */
  version: number
}

export type PermissionNode = {
  children?: PermissionNode[]
  created_at: string
  icon: string
  id: number
  key: string
  local: string
  name: string
  /** How that link opens: link in the same tab, tab in a new one; empty without a URL */
  open: "" | "link" | "tab"
  parent_id: number
  path: string
  show: 0 | 1
  sort: number
  status: 0 | 1
  type: 0 | 1 | 2
  updated_at: string
  /** URL of a page of your own, which the menu of the console links to; empty for none */
  url: string
  /** grows with every change of the record */
  version: number
}

export type PermissionTree = {
  data: PermissionNode[]
}

export type Person = {
  /** ID of the app user; 0 for a user */
  app_user_id: number
  created_at: string
  /** ID of the department that a mapping has set; 0 for none */
  dept_id: number
  /** Address at the provider, as of the last sign-in */
  email: string
  id: number
  /** Time of the last sign-in with the provider; null before the first */
  last_login: string | null
  provider_id: number
  /** Title of the provider */
  provider_name: string
  /** IDs of the roles that the account has only by a mapping */
  role_ids: number[]
  updated_at: string
  /** ID of the user; 0 for an app user */
  user_id: number
  username: string
}

export type PersonPage = {
  /** Number of this page, from 1 */
  current: number
  /** IDs of records of this page that data lacks, because they, or records that they need, are damaged; the system's health names the damage; absent if none */
  damaged_ids?: number[]
  /** Records of this page */
  data: Person[]
  /** Maximum number of records per page */
  pageSize: number
  /** Number of matching records, damaged ones included */
  total: number
}

export type Plan = {
  /** Changes, in the order in which they are made */
  changes: Change[]
}

export type PlanSetup = {
  files: {
  /** Name of the file, which owns the objects that it creates */
  name: string
  /** Text of the file, in TOML, of at most 512 KiB. New API keys and webhooks get a secret, which the response has. Other secrets can't be referred to */
  text?: string
  /** Content of the file; see GET /setup.schema.json. Either this or text is required */
  values?: Record<string, unknown>
}[]
  /** 1 to delete the objects that these files have created and no longer have */
  prune?: 0 | 1
}

export type Preset = {
  /** Data scope that is usual for it */
  data_scope: "all" | "dept_tree" | "dept" | "self" | "custom"
  /** Key of the preset, by which consoles name it */
  key: string
  /** Keys of its permissions, those of menus and pages included */
  permissions: string[]
}

export type Presets = {
  /** Presets, in the order in which they are offered */
  data: Preset[]
}

export type PreviewFlag = {
  /** Time to ask about; now by default */
  at?: string | null
  /** Key of the flag, group.key, by which percentages are drawn */
  key: string
  /** Username of the user, instead of user_id */
  user?: string | null
  /** ID of a user to ask about; 0 for all in your data scope */
  user_id?: number | null
  /** Value of the flag as JSON, which need not be saved; its rules have IDs or names */
  values?: string
}

export type PreviewUser = {
  id: number
  nickname: string
  /** Reason: STATIC, TARGETING_MATCH, SPLIT, DEFAULT or DISABLED */
  reason: string
  username: string
}

export type PreviewVariant = {
  /** Number of users that get it */
  count: number
  /** Up to 20 of these users, by ID */
  first: PreviewUser[]
  variant: string
}

export type Prop = {
  name: string
  value: string
}

export type Provider = {
  app_users: 0 | 1
  base_dn: string
  bind_dn: string
  /** URL to register at the provider for coming back; empty for a directory, and without server.public_url in the configuration */
  callback_url: string
  certificates: string
  client_id: string
  created_at: string
  creates: "never" | "invitation" | "always"
  domains: string[]
  email_attribute: string
  ends_session: 0 | 1
  factor_values: string[]
  group_base_dn: string
  group_filter: string
  /** 1 if there is a client secret, or a password of bind_dn */
  has_secret: 0 | 1
  id: number
  id_attribute: string
  issuer: string
  kind: "openid" | "google" | "microsoft" | "github" | "gitlab" | "keycloak" | "authentik" | "ldap" | "active_directory"
  /** URL to register at the provider for back-channel logout; empty as callback_url is */
  logout_url: string
  mappings: Mapping[]
  name: string
  name_attribute: string
  /** Number of users and app users who are linked to it */
  people: number
  plain: 0 | 1
  scopes: string[]
  servers: string[]
  sort: number
  status: 0 | 1
  title: string
  trusts_address: 0 | 1
  updated_at: string
  user_filter: string
  username_attribute: string
  users: 0 | 1
  /** grows with every change of the record */
  version: number
}

export type ProviderPage = {
  /** Number of this page, from 1 */
  current: number
  /** IDs of records of this page that data lacks, because they, or records that they need, are damaged; the system's health names the damage; absent if none */
  damaged_ids?: number[]
  /** Records of this page */
  data: Provider[]
  /** Maximum number of records per page */
  pageSize: number
  /** Number of matching records, damaged ones included */
  total: number
}

export type QueryEvent = {
  /** Bytes of the records that were read */
  bytes: number
  /** File and line of the caller in the source, as file:line */
  caller: string
  /** Time of the commit, including the disk; writes of one commit share it */
  commit_ms: number
  /** Database file */
  connection: string
  duration_ms: number
  /** Number of records and index entries that were read */
  examined: number
  /** Host name of the server */
  host_name: string
  /** ID of the event; later events have larger ones */
  id: number
  /** Mode: read or write */
  mode: string
  /** 1 if the request ran the statement five times or more, else 0 */
  n_plus_one: 0 | 1
  /** Access path: get, index or scan for a read; put or delete for a write */
  plan: string
  /** Time of the event, or of its start if it took time */
  recorded_at: string
  /** ID of the request that caused the event; empty for none */
  request_id: string
  returned: number
  route: string
  /** Number of similar events that this one represents; more than 1 if events are sampled under load */
  sampled: number
  slow: 0 | 1
  /** Statement, with ? for values, which are never recorded */
  statement: string
  /** User who was signed in; null for none */
  user: EventUser | null
  /** Time spent waiting for the writer */
  wait_ms: number
}

export type QueryEventMonitorPage = {
  /** Number of this page, from 1 */
  current: number
  /** IDs of records of this page that data lacks, because they, or records that they need, are damaged; the system's health names the damage; absent if none */
  damaged_ids?: number[]
  /** Records of this page */
  data: QueryEvent[]
  /** Name of the node that answers, whose events these are; empty for a server that is the only one */
  node: string
  /** Maximum number of records per page */
  pageSize: number
  /** Time of the oldest event that was searched if the search stopped early; total counts only events down to it. null if the search is complete */
  scanned_until: string | null
  /** Number of matching records, damaged ones included */
  total: number
}

export type Range = {
  /** Time of the copy with which it begins */
  from: string
  /** Time of its last commit */
  to: string
}

export type Reach = {
  /** Number of those whom the holders can't change */
  beyond: number
  /** 1 if the role has a permission to change users; else the rest is of no use */
  changes: 0 | 1
  /** Number of users in your data scope */
  people: number
  /** Roles of those users, by ID; without roles that none of them has */
  reasons: Unreached[]
}

export type Reason = {
  /** Stable name of the message */
  code: string
  /** What the message names; one that is a message itself is an object of code and params */
  params?: Record<string, unknown>
}

export type Reauth = {
  /** Field that POST requires: that of your strongest factor. sign_in: there is none, and only signing in again confirms it */
  method: "password" | "otp" | "passkey" | "provider" | "sign_in"
  /** For method provider: its name; empty otherwise */
  provider: string
  /** For method provider: its title; empty otherwise */
  provider_name: string
  /** For method passkey: PublicKeyCredentialRequestOptions as JSON, to ask a browser for it; null otherwise */
  public_key: unknown
  /** Time until which no confirmation is required; it may have passed */
  until: string
}

export type ReauthDone = {
  /** New token of the session; the present one is accepted for one more minute. Empty if it is in a cookie, or if the token has not changed, because the disk is full */
  token: string
  /** Time until which no confirmation is required */
  until: string
}

export type RecoveryCodes = {
  /** Recovery codes, each of which replaces the second factor once; they are shown once. Empty if there are some already */
  recovery_codes: string[]
}

export type RedisInfo = {
  connected_clients: number
  /** Keys evicted since the last poll */
  evicted_keys: number
  /** Keys expired since the last poll */
  expired_keys: number
  /** Share of keys read since the last poll that existed, 0 to 1; null if none was read */
  hit_rate: number | null
  /** Number of keys by database (db0, db1 …); empty databases are left out */
  keys: Record<string, number>
  /** Memory limit in bytes; 0 for no limit */
  maxmemory: number
  /** Commands per second, as measured by the server over a short interval */
  ops_per_second: number
  /** Replicas connected to this server */
  replicas: number
  /** Role of the server: master or slave, as Redis names them */
  role: string
  uptime_seconds: number
  /** Used memory in bytes */
  used_memory: number
  version: string
}

export type RedisRecord = {
  /** Executions since the last poll, of type command */
  calls?: number
  /** Address of the client, of type slowlog */
  client?: string
  /** Name of the command, in capitals, of types command and slowlog; with its subcommand for command. */
  command?: string
  /** Name of the target in the configuration */
  connection: string
  /** Duration in milliseconds, of type slowlog */
  duration_ms?: number
  /** Reason why the server is down, of type state; commands that the server rejected, of type info */
  error?: string
  /** Start of the execution by the Redis server's clock, to the second, of type slowlog */
  executed_at?: string
  /** Host name of the server */
  host_name: string
  /** ID of the event; later events have larger ones */
  id: number
  /** Statistics of the server, of type info */
  info?: RedisInfo
  /** First key of the command, truncated, of type slowlog; other arguments are never included */
  key?: string
  /** Time of the event, or of its start if it took time */
  recorded_at: string
  /** ID of the request that caused the event; empty for none */
  request_id: string
  /** Number of similar events that this one represents; more than 1 if events are sampled under load */
  sampled: number
  /** State of the server, of type state: up or down; down is repeated every minute */
  state?: string
  /** Type of the event. info: statistics of the whole server; command: cost of one command since the last poll; slowlog: one slow execution; state: the server went down or came up */
  type: string
  /** Total duration of the executions in microseconds, of type command */
  usec?: number
  /** Average duration of an execution in microseconds, of type command */
  usec_per_call?: number
  /** User who was signed in; null for none */
  user: EventUser | null
}

export type RedisRecordMonitorPage = {
  /** Number of this page, from 1 */
  current: number
  /** IDs of records of this page that data lacks, because they, or records that they need, are damaged; the system's health names the damage; absent if none */
  damaged_ids?: number[]
  /** Records of this page */
  data: RedisRecord[]
  /** Name of the node that answers, whose events these are; empty for a server that is the only one */
  node: string
  /** Maximum number of records per page */
  pageSize: number
  /** Time of the oldest event that was searched if the search stopped early; total counts only events down to it. null if the search is complete */
  scanned_until: string | null
  /** Number of matching records, damaged ones included */
  total: number
}

export type Refresh = {
  /** Number of settings in the cache */
  count: number
  /** Number of rebuilds of the cache since start */
  generation: number
  /** Names of the nodes that have rebuilt it; empty with one server */
  nodes: string[]
  took_ms: number
  /** Names of the nodes that have not, also those that have lost contact in the last hour: they do when they apply this commit, or start */
  waiting: string[]
}

export type RegisterAsAppUser = {
  /** Solution of a challenge from GET /api/challenge, as the widget of ALTCHA sends it: base64 of its JSON. Required if the setting app.registration_challenge is on; each can be used once */
  altcha?: string
  /** 1 to get the token as a cookie that scripts cannot read, instead of in the response */
  cookie?: 0 | 1
  /** E-mail address, unique unless empty */
  email?: string | null
  /** Values of custom fields by key; null removes a value, and fields that are not sent remain unchanged */
  fields?: AppUserFieldsInput
  mobile?: string | null
  nickname?: string | null
  /** Password; any characters are allowed */
  password: string
  /** Username: 3 to 32 letters, digits and . _ -; unique; texts that differ only in case, width, spaces or invisible characters are the same */
  username: string
}

export type RegisterOnPage = {
  /** Solution of a challenge from GET /api/challenge, as the widget of ALTCHA sends it: base64 of its JSON. Required if the setting app.registration_challenge is on; each can be used once */
  altcha?: string
  /** E-mail address, unique unless empty */
  email?: string
  mobile?: string
  nickname?: string
  /** Password; any characters are allowed */
  password: string
  /** The new password again */
  password_again: string
  /** Username: 3 to 32 letters, digits and . _ -; unique; texts that differ only in case, width, spaces or invisible characters are the same */
  username: string
}

export type Registration = {
  /** true if a link was mailed that confirms the address; the account can't sign in before, and the response has nothing else. Absent otherwise */
  confirmation_sent?: boolean
  /** Token to send with the next sign-in of this user from this device; also set as a cookie */
  device_token?: string
  /** Time at which the session expires, or login_token; an idle session expires earlier */
  expires_at?: string
  /** Token for POST /admin/login/totp or /admin/login/passkey, or for app users POST /api/login/totp, if the user has a second factor: the password was right, and the factor is required; empty otherwise */
  login_token?: string
  /** With login_token: what completes the sign-in, the strongest first: passkey, otp or recovery. A recovery code is sent like a code */
  methods?: string[]
  must_change_password?: 0 | 1
  /** With login_token: PublicKeyCredentialRequestOptions as JSON, to ask a browser for a passkey; null without one */
  public_key?: unknown
  /** Token of the session, to be sent in the header Authorization: Bearer <token>; empty if it is in a cookie, or if login_token is not empty */
  token?: string
}

export type RemoveAuthenticatorAppAsAppUser = {
  /** Code of the authenticator app, or a recovery code */
  otp: string
}

export type RemoveAuthenticatorAppOnPage = {
  /** Code of the authenticator app, or a recovery code */
  otp: string
}

export type RemovePasskeyAsAppUser = {
  /** ID of the passkey */
  id: number
  /** Current password. People who have none, or can't sign in with it, leave it out: they must have signed in within security.reauth_minutes (409 sign_in_first) */
  password?: string
}

export type RemovePasskeyOnPage = {
  /** ID of the passkey */
  id: string
  /** Current password. People who have none, or can't sign in with it, leave it out: they must have signed in within security.reauth_minutes (409 sign_in_first) */
  password?: string
}

export type RenameDevice = {
  /** Name by which you recognize it; empty for none */
  name?: string | null
  /** Time of the last change as it was read, in any precision; 409 stale if the record has changed since */
  updated_at?: string
  /** Version of the record as it was read; 409 stale if the record has changed since */
  version?: number
}

export type RenamePasskey = {
  name?: string
  /** Time of the last change as it was read, in any precision; 409 stale if the record has changed since */
  updated_at?: string
  /** Version of the record as it was read; 409 stale if the record has changed since */
  version?: number
}

export type RenamePasskeyAsAppUser = {
  name?: string
  /** Time of the last change as it was read, in any precision; 409 stale if the record has changed since */
  updated_at?: string
  /** Version of the record as it was read; 409 stale if the record has changed since */
  version?: number
}

export type ReplaceRecoveryCodesAsAppUser = {
  /** Code of the authenticator app, or a recovery code */
  otp: string
}

export type ReplaceRecoveryCodesOnPage = {
  /** Code of the authenticator app, or a recovery code */
  otp: string
}

export type ReplayEventsToWebhook = {
  /** Number of the first entry of the change log to send again */
  from: number
  /** Number of the last one; from if absent */
  until?: number | null
  /** Time of the last change as it was read, in any precision; 409 stale if the record has changed since */
  updated_at?: string
  /** Version of the record as it was read; 409 stale if the record has changed since */
  version?: number
}

export type RequestAppPasswordReset = {
  /** Username or e-mail address */
  username: string
}

export type RequestCodeToSignInAsAppUser = {
  /** device_token from an earlier sign-in on this device; the same is to be sent with the code */
  device_token?: string | null
  /** Username, verified e-mail address, or mobile number that no other app user has */
  username: string
}

export type RequestCodeToSignInForProgram = {
  /** Address of the client, IPv4 or IPv6 */
  address: string
  /** device_token from the response to an earlier sign-in of the client; the same is to be sent with the code */
  device_token?: string | null
  /** User agent of the client, whose browser and system are shown with the session; the first 512 bytes count */
  user_agent?: string | null
  /** Username, verified e-mail address, or mobile number that no other app user has */
  username: string
}

export type RequestCodeToSignInOnPage = {
  /** Username, verified e-mail address, or mobile number that no other app user has */
  username: string
}

export type RequestEvent = {
  /** Client address */
  address: string
  bytes_in: number
  bytes_out: number
  duration_ms: number
  /** Code of the error (errorCode); empty for none */
  error: string
  /** Number of other events of the request */
  events: number
  handler: string
  /** Time spent hashing the password of a sign-in; absent if there was none */
  hash_ms?: number
  /** Time spent waiting to hash the password of a sign-in; absent if there was none */
  hash_wait_ms?: number
  /** Request headers, without secret ones */
  headers: Record<string, string>
  /** Host name of the server */
  host_name: string
  /** ID of the event; later events have larger ones */
  id: number
  /** Time spent decoding and scaling an image for a thumbnail, including waiting; absent if there was none */
  image_ms?: number
  /** Message of the error, with secrets masked; empty for none */
  message: string
  method: string
  /** JSON body, up to 4 KiB, with secrets masked */
  payload: string
  /** Time of the event, or of its start if it took time */
  recorded_at: string
  /** ID of the request that caused the event; empty for none */
  request_id: string
  /** Path of the operation, like /admin/list/:id; empty if the URL is unknown */
  route: string
  /** Number of similar events that this one represents; more than 1 if events are sampled under load */
  sampled: number
  slow: 0 | 1
  /** HTTP status; 499 if the client closed the connection before the response was complete */
  status: number
  /** Time spent in the store, without waiting */
  store_ms: number
  /** Path and query as requested, with secrets masked */
  uri: string
  /** User who was signed in; null for none */
  user: EventUser | null
  user_agent: string
  /** Time spent waiting for the writer */
  wait_ms: number
}

export type RequestEventMonitorPage = {
  /** Number of this page, from 1 */
  current: number
  /** IDs of records of this page that data lacks, because they, or records that they need, are damaged; the system's health names the damage; absent if none */
  damaged_ids?: number[]
  /** Records of this page */
  data: RequestEvent[]
  /** Name of the node that answers, whose events these are; empty for a server that is the only one */
  node: string
  /** Maximum number of records per page */
  pageSize: number
  /** Time of the oldest event that was searched if the search stopped early; total counts only events down to it. null if the search is complete */
  scanned_until: string | null
  /** Number of matching records, damaged ones included */
  total: number
}

export type RequestPart = {
  /** any JSON value */
  event: unknown
  /** Kind of event: auth, query, cache or redis, as in the list of that name */
  kind: string
}

export type RequestPasswordReset = {
  /** Username or e-mail address */
  username: string
}

export type RequestPasswordResetOnPage = {
  /** Username or e-mail address */
  username: string
}

export type RequestStory = {
  /** Events of the request, oldest first; cache and Redis events only with the data scope all */
  events: RequestPart[]
  /** Name of the node that answers, which has served the request; empty for a server that is the only one */
  node: string
  request: RequestEvent
}

export type Reset = {
  /** Generated password, which no other response contains; absent unless one was generated */
  password?: string
}

export type ResetAppUserPassword = {
  /** New password. If absent, one is generated and returned once; the user must change it in either case */
  password?: string
  /** Time of the last change as it was read, in any precision; 409 stale if the record has changed since */
  updated_at?: string
  /** Version of the record as it was read; 409 stale if the record has changed since */
  version?: number
}

export type ResetUserPassword = {
  /** New password. If absent, one is generated and returned once; the user must change it in either case */
  password?: string
  /** Time of the last change as it was read, in any precision; 409 stale if the record has changed since */
  updated_at?: string
  /** Version of the record as it was read; 409 stale if the record has changed since */
  version?: number
}

export type ResumeWebhook = {
  /** 1 to leave out all events that wait, and continue with new ones; 0 to send them */
  latest?: 0 | 1
  /** Time of the last change as it was read, in any precision; 409 stale if the record has changed since */
  updated_at?: string
  /** Version of the record as it was read; 409 stale if the record has changed since */
  version?: number
}

export type Role = {
  created_at: string
  /** Data scope: all, dept_tree, dept, self or custom */
  data_scope: "all" | "dept_tree" | "dept" | "self" | "custom"
  /** IDs of the departments of the data scope custom */
  dept_ids: number[]
  description: string
  /** IDs of the roles that users with this role can assign without having them */
  grant_role_ids: number[]
  id: number
  name: string
  /** 1 if passwords are turned off for users with the role: they sign in with a provider or a passkey */
  password_off: 0 | 1
  /** 1 if users with the role must have a second factor */
  require_factor: 0 | 1
  /** IDs of the permissions that the role grants; the owner role grants all, whatever the list */
  rule_ids: number[]
  sort: number
  status: 0 | 1
  updated_at: string
  user_count: number
  /** grows with every change of the record */
  version: number
}

export type RoleID = {
  id: number
  name: string
}

export type RolePage = {
  /** Number of this page, from 1 */
  current: number
  /** IDs of records of this page that data lacks, because they, or records that they need, are damaged; the system's health names the damage; absent if none */
  damaged_ids?: number[]
  /** Records of this page */
  data: Role[]
  /** Maximum number of records per page */
  pageSize: number
  /** Number of matching records, damaged ones included */
  total: number
}

export type RotateAPIKey = {
  /** Hours for which the present key remains valid: 24 by default, 0 to end it at once */
  overlap_hours?: number
  /** Time of the last change as it was read, in any precision; 409 stale if the record has changed since */
  updated_at?: string
  /** Version of the record as it was read; 409 stale if the record has changed since */
  version?: number
}

export type RotateOwnAPIKey = {
  /** Hours for which the present key remains valid: 24 by default, 0 to end it at once */
  overlap_hours?: number
  /** Time of the last change as it was read, in any precision; 409 stale if the record has changed since */
  updated_at?: string
  /** Version of the record as it was read; 409 stale if the record has changed since */
  version?: number
}

export type RotateWebhookSecret = {
  /** New signing secret: whsec_ and the base64 of 24 to 64 bytes; one is generated if absent */
  secret?: string
  /** Time of the last change as it was read, in any precision; 409 stale if the record has changed since */
  updated_at?: string
  /** Version of the record as it was read; 409 stale if the record has changed since */
  version?: number
}

export type SaveSettingValues = {
  /** Time of the last change as it was read, in any precision; 409 stale if the record has changed since */
  updated_at?: string
  /** Values by group.key: a text, or a JSON value of the setting's type. Rules of a flag have IDs or names of roles, departments and users. A security setting also requires the permission system.security.save */
  values: Record<string, unknown>
}

export type SaveView = {
  /** Keys of the console's columns, in the chosen order; empty for the usual one */
  columns?: string[] | null
  /** 1 for low rows, else 0 */
  compact?: 0 | 1
  /** Keys of the columns to hide */
  hidden?: string[] | null
  /** Path of the list, such as /admin/list */
  list: string
  name: string
  /** Records per page; 0 for the size that a person has chosen */
  page_size?: number
  /** Parameters of the list, as in a URL; those for the page and its size are left out, see page_size */
  query?: string | null
  /** Keys of the columns to show although they are usually hidden */
  shown?: string[] | null
}

export type SecondFactor = {
  /** Time at which the authenticator app was set up; null without one */
  created_at: string | null
  /** 1 if a sign-in asks for a code */
  enabled: 0 | 1
  /** Time at which a code was last used; null without one */
  last_used: string | null
  /** Number of recovery codes that are left */
  recovery_codes: number
}

export type SendTestMail = {
  /** Address to which the test mail is sent */
  email: string
}

export type Session = {
  /** ID of the app user; 0 for a session of a user */
  app_user_id: number
  browser: string
  created_at: string
  /** 1 for the session of this request, else 0 */
  current: 0 | 1
  /** ID of the device on which it was opened; 0 if unknown */
  device_id: number
  /** Time at which the session expires; an idle session expires earlier */
  expires_at: string
  id: number
  ip: string
  /** Time of the last request, accurate to a minute */
  last_used: string
  os: string
  /** Title of the sign-in provider that the person came from; empty otherwise */
  provider_name: string
  updated_at: string
  /** ID of the user; 0 for a session of an app user */
  user_id: number
  username: string
}

export type SessionPage = {
  /** Number of this page, from 1 */
  current: number
  /** IDs of records of this page that data lacks, because they, or records that they need, are damaged; the system's health names the damage; absent if none */
  damaged_ids?: number[]
  /** Records of this page */
  data: Session[]
  /** Maximum number of records per page */
  pageSize: number
  /** Number of matching records, damaged ones included */
  total: number
}

export type SetAppPasswordWithLink = {
  /** New password; any characters are allowed */
  password: string
  /** Token of the link: what follows /link/ in its URL */
  token: string
}

export type SetAppRolePermissions = {
  /** Keys of the app permissions, instead of rule_ids */
  permissions?: string[]
  /** IDs of all app permissions of the role, which replace the current ones; a permission includes neither its parent nor its children */
  rule_ids?: number[]
  /** Time of the last change as it was read, in any precision; 409 stale if the record has changed since */
  updated_at?: string
  /** Version of the record as it was read; 409 stale if the record has changed since */
  version?: number
}

export type SetAppUserRoles = {
  /** IDs of all app roles of the app user, which replace the current ones */
  role_ids?: number[]
  /** Names of the app roles, instead of role_ids */
  roles?: string[]
  /** Time of the last change as it was read, in any precision; 409 stale if the record has changed since */
  updated_at?: string
  /** Version of the record as it was read; 409 stale if the record has changed since */
  version?: number
}

export type SetOwnPicture = {
  file: string
}

export type SetPasswordWithLink = {
  /** New password; any characters are allowed */
  password: string
  /** Token of the link: what follows /link/ in its URL */
  token: string
}

export type SetRolePermissions = {
  /** Keys of the permissions, instead of rule_ids */
  permissions?: string[]
  /** IDs of all permissions of the role, which replace the current ones; a permission includes neither its parent nor its children */
  rule_ids?: number[]
  /** Time of the last change as it was read, in any precision; 409 stale if the record has changed since */
  updated_at?: string
  /** Version of the record as it was read; 409 stale if the record has changed since */
  version?: number
}

export type SetUpAuthenticatorAppAsAppUser = {
  /** Current password. People who have none, or can't sign in with it, leave it out: they must have signed in within security.reauth_minutes (409 sign_in_first) */
  password?: string
}

export type SetUpAuthenticatorAppOnPage = {
  /** Current password. People who have none, or can't sign in with it, leave it out: they must have signed in within security.reauth_minutes (409 sign_in_first) */
  password?: string
}

export type Setting = {
  created_at: string
  describe: string
  group_id: number
  id: number
  key: string
  options: Option[]
  props: Prop[]
  sort: number
  title: string
  type: "checkbox" | "color" | "date" | "flag" | "image" | "input" | "json" | "number" | "radio" | "secret" | "select" | "switch" | "textarea" | "time"
  updated_at: string
  values: string
}

export type SettingGroup = {
  created_at: string
  id: number
  key: string
  public: 0 | 1
  remark: string
  title: string
  updated_at: string
  /** grows with every change of the record */
  version: number
}

export type SettingGroupPage = {
  /** Number of this page, from 1 */
  current: number
  /** IDs of records of this page that data lacks, because they, or records that they need, are damaged; the system's health names the damage; absent if none */
  damaged_ids?: number[]
  /** Records of this page */
  data: SettingGroup[]
  /** Maximum number of records per page */
  pageSize: number
  /** Number of matching records, damaged ones included */
  total: number
}

export type SettingPage = {
  /** Number of this page, from 1 */
  current: number
  /** IDs of records of this page that data lacks, because they, or records that they need, are damaged; the system's health names the damage; absent if none */
  damaged_ids?: number[]
  /** Records of this page */
  data: Setting[]
  /** Maximum number of records per page */
  pageSize: number
  /** Number of matching records, damaged ones included */
  total: number
}

export type ShareView = {
  /** 1 to share it with everybody who may read the list, 0 to end that */
  shared: 0 | 1
  /** Time of the last change as it was read, in any precision; 409 stale if the record has changed since */
  updated_at?: string
  /** Version of the record as it was read; 409 stale if the record has changed since */
  version?: number
}

export type ShowOrHidePermission = {
  show: 0 | 1
  /** Time of the last change as it was read, in any precision; 409 stale if the record has changed since */
  updated_at?: string
  /** Version of the record as it was read; 409 stale if the record has changed since */
  version?: number
}

export type SignIn = {
  /** 1 to get the token as a cookie that scripts cannot read, instead of in the response */
  cookie?: 0 | 1
  /** device_token from the response to an earlier sign-in; browsers send it as a cookie. It keeps a known device out of the rate limit for unknown devices; it is not a credential */
  device_token?: string | null
  password: string
  username: string
}

export type SignInAppUserForProgram = {
  /** Address of the client, IPv4 or IPv6 */
  address: string
  /** device_token from the response to an earlier sign-in of the client */
  device_token?: string | null
  password: string
  /** User agent of the client, whose browser and system are shown with the session; the first 512 bytes count */
  user_agent?: string | null
  /** Username, verified e-mail address, or mobile number that no other app user has */
  username: string
}

export type SignInAsAppUser = {
  /** 1 to get the token as a cookie that scripts cannot read, instead of in the response */
  cookie?: 0 | 1
  /** device_token from the response to an earlier sign-in; browsers send it as a cookie. It keeps a known device out of the rate limit for unknown devices; it is not a credential */
  device_token?: string | null
  password: string
  /** Username, verified e-mail address, or mobile number that no other app user has */
  username: string
}

export type SignInOnPage = {
  /** device_token from the response to an earlier sign-in; browsers send it as a cookie. It keeps a known device out of the rate limit for unknown devices; it is not a credential */
  device_token?: string
  password: string
  /** Username, verified e-mail address, or mobile number that no other app user has */
  username: string
}

export type SignInState = {
  /** 1 if the person has set up an authenticator app, else 0 */
  authenticator_app: 0 | 1
  /** Number of failed sign-ins in the last hour, since the last one that succeeded */
  failed: number
  /** Time of the last of them; null if there is none */
  failed_at: string | null
  /** Reason of the last of them, as in the sign-in log; empty for a rate limit */
  failed_reason: string
  /** Why the person can't sign in now after failed sign-ins; null if that is not so at this node */
  lockout: Lockout | null
  /** 1 if there are other nodes, whose lock-outs are not known here; failed counts their sign-ins too */
  other_nodes: 0 | 1
  /** Number of passkeys of the person */
  passkeys: number
  /** Why the person can't sign in: disabled; unconfirmed, until an app user has confirmed the address; password_off, if passwords are turned off; invited, until a password is chosen; or no_password; the last three without a passkey and a connected provider. Empty if there is none of these reasons */
  refused: string[]
}

export type SignInWithCodeByEmailAsAppUser = {
  /** 1 to get the token as a cookie that scripts cannot read, instead of in the response */
  cookie?: 0 | 1
  /** The same device_token as in the request, if one was sent there */
  device_token?: string | null
  /** login_token from the response to the request; it is accepted only from the same address and device */
  login_token: string
  /** Code from the mail; it works once */
  otp: string
}

export type SignInWithCodeByEmailForProgram = {
  /** Address of the client, IPv4 or IPv6 */
  address: string
  /** device_token of the previous step */
  device_token?: string | null
  /** login_token from the response to the previous step */
  login_token: string
  /** Code from the mail; it works once */
  otp: string
  /** User agent of the client, whose browser and system are shown with the session; the first 512 bytes count */
  user_agent?: string | null
}

export type SignInWithCodeByEmailOnPage = {
  /** Code from the mail */
  otp: string
}

export type SignInWithDirectory = {
  password: string
  state?: string
  username: string
}

export type SignInWithPasskey = {
  /** 1 to get the token as a cookie that scripts cannot read, instead of in the response */
  cookie?: 0 | 1
  /** Response of the passkey: a PublicKeyCredential as toJSON() of a browser returns it */
  credential: Record<string, unknown>
  /** Token of an earlier sign-in from this device; of the first step, the same */
  device_token?: string | null
  /** login_token from the response to the first step, to complete a sign-in with a password; empty to sign in with the passkey alone */
  login_token?: string | null
}

export type SignInWithPasskeyAsAppUser = {
  /** 1 to get the token as a cookie that scripts cannot read, instead of in the response */
  cookie?: 0 | 1
  /** Response of the passkey: a PublicKeyCredential as toJSON() of a browser returns it */
  credential: Record<string, unknown>
  /** Token of an earlier sign-in from this device; of the first step, the same */
  device_token?: string | null
  /** login_token from the response to the first step, to complete a sign-in with a password; empty to sign in with the passkey alone */
  login_token?: string | null
}

export type SignInWithPasskeyOnPage = {
  /** Response of the passkey: a PublicKeyCredential as JSON */
  credential: string
}

export type SignOutOfProxiedPrograms = {

}

export type SignOutOnPage = {

}

export type Signed = {
  /** Number of people whose sessions were ended, or in a dry run would be; those without a session do not count */
  count: number
}

export type Skipped = {
  /** Code of the reason, such as has_password, no_email or user_disabled */
  code: string
  /** Why, in the language of the request */
  reason: string
  user_id: number
  /** Username; empty if you may not see the user */
  username: string
}

export type StartTrace = {
  /** Client address of the requests that are traced; empty or absent for any */
  ip?: string | null
  /** Duration in minutes; 5 by default */
  minutes?: number
  /** Route of the requests that are traced, like /admin/list or PUT /admin/list/:id; empty or absent for any */
  route?: string | null
  /** Username of the user, instead of user_id */
  user?: string | null
  /** ID of the user whose requests are traced; 0 or absent for any */
  user_id?: number | null
}

export type Stats = {
  /** Number of requests since start whose events were dropped */
  dropped: number
  from: string
  /** 1 if your data scope is limited: users has only users in it, and series, total, routes and dropped, which include other users, are left out */
  limited: 0 | 1
  /** Name of the node that answers, whose requests are counted; empty for a server that is the only one */
  node: string
  /** The 20 routes with the largest total duration */
  routes: StatsRoute[]
  /** Points in order of time, without those that have no requests */
  series: StatsPoint[]
  /** Interval between two points in seconds */
  step: number
  to: string
  total?: StatsPoint
  /** The 20 users with the most requests, approximately */
  users: StatsUser[]
}

export type StatsPoint = {
  /** Number of responses with 5xx, or aborted */
  failed: number
  /** Number of responses with 2xx or 3xx */
  ok: number
  p50_ms: number
  p95_ms: number
  p99_ms: number
  /** Number of responses with 4xx */
  refused: number
  requests: number
  /** Start of the step */
  time: string
}

export type StatsRoute = {
  /** Number of responses with 4xx or 5xx, or aborted */
  failed: number
  mean_ms: number
  requests: number
  route: string
  slowest_ms: number
}

export type StatsUser = {
  realm: string
  requests: number
  username: string
}

export type Step = {
  id: number
  key: string
  name: string
  status: 0 | 1
}

export type StoredFile = {
  /** Free, reusable bytes in the file */
  free_bytes: number
  name: string
  size_bytes: number
}

export type SystemHealth = {
  /** Components of the system */
  parts: Part[]
  /** Worst state of all components */
  state: string
}

export type SystemInfo = {
  build: BuildInfo
  caches: CacheInfo[]
  /** Newest entry of the change log */
  change_log: ChangeLogInfo
  collections: CollectionInfo[]
  /** Effective configuration */
  config: ConfigValue[]
  /** Database files */
  files: StoredFile[]
  /** Copies of the database from before migrations; delete them once the new version works */
  kept: KeptCopy[]
  /** Time of the last complete download of a backup; null before the first */
  last_backup_at: string | null
  memory: MemoryInfo
  /** Name of the oldest copy; empty if there is none */
  oldest_kept: string
  started_at: string
  uptime_seconds: number
  version: string
}

export type Test = {
  /** 1 if the domains of the provider allow the person */
  accepted: 0 | 1
  /** 1 if the provider says when the person signed in there */
  auth_time: 0 | 1
  /** Everything that the provider has said */
  claims: Record<string, unknown>
  /** ID of the department that the mappings would set; 0 for none */
  dept_id: number
  email: string
  /** 1 if the address counts as that of the person */
  email_verified: 0 | 1
  /** 1 if the claims amr or acr stand for a second factor */
  factor: 0 | 1
  /** Why the provider has not said who the person is, in the language of the request; empty otherwise */
  fault: string
  /** Code of fault, as errorCode of a sign-in has it; empty otherwise */
  fault_code: string
  issuer: string
  /** ID of the provider; 0 after a fault */
  provider_id: number
  /** Title of the provider */
  provider_name: string
  /** 1 if the provider is enabled */
  provider_status: 0 | 1
  /** IDs of the roles that the mappings would give */
  role_ids: number[]
  subject: string
}

export type Trace = {
  /** Username; with that of another user as whom the user acted, like ada as bob */
  created_by: string
  /** Time at which the trace ended; null while it is running */
  ended_at: string | null
  /** Time at which the trace ends unless it is stopped earlier */
  ends_at: string
  id: number
  /** Traced client address; empty for any */
  ip: string
  /** Number of matching requests so far */
  matched: number
  /** Traced route; empty for any */
  route: string
  started_at: string
  /** ID of the traced user; 0 for any */
  user_id: number
  /** Name of the traced user; empty for any, and for a user who was deleted or is outside your data scope */
  username: string
}

export type TraceList = {
  data: Trace[]
  /** Name of the node that answers, which records the requests; empty for a server that is the only one */
  node: string
}

export type TrashedFile = {
  created_at: string
  /** Extension of the name, in lower case, without the dot */
  ext: string
  /** ID of the file group; 0 for none */
  group_id: number
  id: number
  /** 1 if its public URL sends the content unchanged, with metadata that it may contain, such as the place in videos, SVG files and documents; 0 for pictures, which are sent without */
  keeps_metadata: 0 | 1
  /** Kind of file, detected from the content: image, audio, video, archive, document or other */
  kind: "image" | "audio" | "video" | "archive" | "document" | "other"
  /** Media type, detected from the content */
  mime: string
  name: string
  public: 0 | 1
  sha256: string
  /** Size in bytes */
  size: number
  /** Time at which the content was uploaded; later than created_at for a new version */
  stored_at: string
  trashed_at: string
  updated_at: string
  uploader_id: number
  /** Username of the uploader at the time of the upload */
  uploader_name: string
  /** URL of the content; it requires a token unless the file is public */
  url: string
  /** grows with every change of the record */
  version: number
}

export type TrashedFilePage = {
  /** Number of this page, from 1 */
  current: number
  /** IDs of records of this page that data lacks, because they, or records that they need, are damaged; the system's health names the damage; absent if none */
  damaged_ids?: number[]
  /** Records of this page */
  data: TrashedFile[]
  /** Number of records of the whole list, whatever the parameters, outside your data scope; absent if none */
  hidden?: number
  /** Maximum number of records per page */
  pageSize: number
  /** Number of matching records, damaged ones included */
  total: number
}

export type UndoDifference = {
  collection: string
  /** Present value; absent if the record was deleted */
  current?: unknown
  /** Value after the change */
  expected?: unknown
  /** Name of the field; absent if the record was deleted, or exists again */
  field?: string
  id: number
}

export type UndoInfo = {
  /** Fields that have changed since, so that nothing can be undone; at most 100 */
  conflicts: UndoDifference[]
  /** What can't come back */
  lost: UndoLost[]
  /** 1 if you can undo it now, else 0 */
  possible: 0 | 1
  /** Why not; absent if it is possible */
  reason?: string
  /** Number of records that would change; of a large operation, of all its entries. 0 if you may not undo it */
  records: number
}

export type UndoLost = {
  /** Collection of the record that it belongs to */
  collection: string
  /** ID of that record */
  id: number
  /** What can't come back: password, session, avatar, secret, public_url, file_content or erased */
  what: "password" | "session" | "second_factor" | "avatar" | "secret" | "public_url" | "file_content" | "erased"
}

export type UndoWhatActorDid = {
  /** Actor whose changes are undone: a kind and an ID, such as user:7 or key:3 */
  by: string
  /** 1 to leave records as they are that have been changed since, or that cannot be as before: one that is in use now, say. An undo by a job leaves only those that have been changed since, and otherwise undoes nothing */
  leave_changed?: 0 | 1
  /** Time of the first change that is undone */
  since: string
  /** Time of the last one; now by default */
  until?: string
}

export type Undone = {
  /** Job of an undo with many records; it is still running if it takes longer than 30 seconds */
  job?: Job
  /** What did not come back */
  lost: UndoLost[]
  /** Number of records that changed */
  records: number
}

export type UndoneAll = {
  /** Fields that have been changed since, or in between by others, at most 100: without leave_changed nothing is undone */
  conflicts: UndoDifference[]
  /** Job of an undo with many records; it is still running if it takes longer than 30 seconds */
  job?: Job
  /** Number of records that stay as they are */
  left: number
  /** What did not come back */
  lost: UndoLost[]
  /** Number of records that changed */
  records: number
}

export type Unreached = {
  id: number
  /** Keys of the permissions that the role in the input lacks, sorted */
  missing: string[]
  name: string
  /** 1 if you can let the holders assign this role, so that they can change its users */
  remedy: 0 | 1
  /** Number of users in your data scope who have the role */
  users: number
  /** 1 if the data scope of the role is wider */
  wider: 0 | 1
}

export type UpdateAPIKey = {
  /** Data scope that narrows that of the roles, relative to the owner; empty for no narrowing */
  data_scope?: "" | "all" | "dept_tree" | "dept" | "self" | "custom" | null
  /** Paths of the departments, instead of dept_ids; such as Sales/EU, where \/ is a slash in a name; or # and the code, such as #sales-eu */
  departments?: string[] | null
  /** IDs of the departments of the data scope custom */
  dept_ids?: number[] | null
  /** Time at which the key expires; 90 days after its creation by default, and at most as many days ahead as the setting security.key_max_days says */
  expires_at?: string
  /** Name of the program that uses the key */
  name?: string
  /** IP addresses and networks that it may be used from, such as 192.0.2.7 or 10.0.0.0/8; empty for all */
  networks?: string[] | null
  /** Requests per minute; 0 for the setting security.key_rate_limit */
  rate_limit?: number
  /** IDs of the roles, which must be within what you can grant; not the owner role */
  role_ids?: number[]
  /** Names of the roles, instead of role_ids */
  roles?: string[]
  /** Status: 1 enabled, the default of a new key; 0 disabled */
  status?: 0 | 1
  /** Time of the last change as it was read, in any precision; 409 stale if the record has changed since */
  updated_at?: string
  /** Version of the record as it was read; 409 stale if the record has changed since */
  version?: number
}

export type UpdateAppPermission = {
  /** Unique key, which begins with app. and by which programs check the permission */
  key?: string
  name?: string
  /** Key of the app permission, instead of parent_id */
  parent?: string | null
  /** ID of the parent; 0 for a root */
  parent_id?: number | null
  sort?: number
  /** Status: 1 enabled, the default of a new permission; 0 disabled */
  status?: 0 | 1
  /** Time of the last change as it was read, in any precision; 409 stale if the record has changed since */
  updated_at?: string
  /** Version of the record as it was read; 409 stale if the record has changed since */
  version?: number
}

export type UpdateAppRole = {
  /** 1 to give the role to app users who register; 0, the default, not to. At most 20 roles */
  default?: 0 | 1
  description?: string | null
  /** Name of the role; unique among app roles; texts that differ only in case, width, spaces or invisible characters are the same */
  name?: string
  /** 1 to turn passwords off for app users with the role. To change it requires a confirmation, and 1 a sign-in provider */
  password_off?: 0 | 1
  sort?: number
  /** Status: 1 enabled, the default of a new role; 0 disabled */
  status?: 0 | 1
  /** Time of the last change as it was read, in any precision; 409 stale if the record has changed since */
  updated_at?: string
  /** Version of the record as it was read; 409 stale if the record has changed since */
  version?: number
}

export type UpdateAppUser = {
  /** E-mail address, unique unless empty */
  email?: string | null
  /** Values of custom fields by key; null removes a value, and fields that are not sent remain unchanged */
  fields?: AppUserFieldsInput
  mobile?: string | null
  nickname?: string | null
  /** on to let the user sign in with a password also where a role or the setting turns passwords off, off to refuse passwords; empty, the default, to follow the roles and the setting. To change it requires a confirmation */
  password_sign_in?: "" | "on" | "off" | null
  /** 0 to accept a pending registration: the user can sign in at once, with the address of the registration unless somebody has it, which remains unverified */
  pending?: 0 | 1
  /** IDs of the app roles; to change them requires the permission user.list.role, too */
  role_ids?: number[] | null
  /** Names of the app roles, instead of role_ids */
  roles?: string[] | null
  /** Status: 1 enabled, the default of a new user; 0 disabled, which ends the sessions */
  status?: 0 | 1
  /** Time of the last change as it was read, in any precision; 409 stale if the record has changed since */
  updated_at?: string
  /** Username: 3 to 32 letters, digits and . _ -; unique; texts that differ only in case, width, spaces or invisible characters are the same */
  username?: string
  /** Version of the record as it was read; 409 stale if the record has changed since */
  version?: number
}

export type UpdateCustomField = {
  /** Access of users of the administration who may read or change the user; write by default */
  backend_access?: "none" | "read" | "write"
  /** Help text of the input */
  describe?: string | null
  /** 1 if lists can be filtered by the value, with fields.KEY; not for the types textarea, image and json */
  filterable?: 0 | 1
  /** 1 if lists in the console have a column */
  listed?: 0 | 1
  /** Options; required for the types radio, select and checkbox. Values that are no option any more remain until they are changed */
  options?: {
  /** Text to show */
  label: string
  /** Value to store */
  value: string
}[] | null
  /** Access of API keys that may read or change the user, and whether introspection, checks and flags have the value; read by default */
  program_access?: "none" | "read" | "write"
  /** Properties: min, max, step and maxlength are enforced for values that change; others are hints for the console */
  props?: ({
  name: string
  value?: string | null
})[] | null
  /** 1: a new user needs a value, from everybody who can set it, and it can't be removed; 0 by default */
  required?: 0 | 1
  /** 1 if keywordSearch finds the value; for the types input, textarea and number */
  searchable?: 0 | 1
  /** Access of users to their own value; none by default */
  self_access?: "none" | "read" | "write"
  sort?: number
  title?: string
  /** 1 if two users can't have the same value; texts that differ only in case, width, spaces or invisible characters are the same; for the types input and number */
  unique?: 0 | 1
  /** Time of the last change as it was read, in any precision; 409 stale if the record has changed since */
  updated_at?: string
  /** Version of the record as it was read; 409 stale if the record has changed since */
  version?: number
}

export type UpdateDept = {
  /** Unique key, by which requests can refer to the department as #code; empty for none */
  code?: string | null
  email?: string | null
  leader?: string | null
  name?: string
  /** Path of the department, instead of parent_id; such as Sales/EU, where \/ is a slash in a name; or # and the code, such as #sales-eu */
  parent?: string | null
  /** ID of the parent department; 0 for a root */
  parent_id?: number | null
  phone?: string | null
  sort?: number
  /** Status: 1 enabled, the default of a new department; 0 disabled: no more users can be put into it, and those who are in it stay */
  status?: 0 | 1
  /** Time of the last change as it was read, in any precision; 409 stale if the record has changed since */
  updated_at?: string
  /** Version of the record as it was read; 409 stale if the record has changed since */
  version?: number
}

export type UpdateDict = {
  /** Unique name of the dictionary for programs */
  code?: string
  describe?: string | null
  name?: string
  /** Visibility: 1 makes it readable without signing in, with GET /api/dict; 0, the default, does not */
  public?: 0 | 1
  /** Status: 1 enabled, the default of a new dictionary; 0 hides it from GET /admin/dict */
  status?: 0 | 1
  /** Way in which items are shown; default for a new dictionary */
  type?: "default" | "badge" | "tag"
  /** Time of the last change as it was read, in any precision; 409 stale if the record has changed since */
  updated_at?: string
  /** Version of the record as it was read; 409 stale if the record has changed since */
  version?: number
}

export type UpdateDictItem = {
  /** Text that is shown */
  label?: string
  sort?: number
  /** Color; default for a new item */
  status?: "default" | "success" | "error" | "processing" | "warning"
  /** Status: 1 enabled, the default of a new item; 0 hides it from GET /admin/dict */
  switch?: 0 | 1
  /** Time of the last change as it was read, in any precision; 409 stale if the record has changed since */
  updated_at?: string
  /** Value that programs store, unique in its dictionary */
  value?: string
  /** Version of the record as it was read; 409 stale if the record has changed since */
  version?: number
}

export type UpdateFileGroup = {
  describe?: string | null
  /** Name of the group; unique; texts that differ only in case, width, spaces or invisible characters are the same */
  name?: string
  sort?: number
  /** Time of the last change as it was read, in any precision; 409 stale if the record has changed since */
  updated_at?: string
  /** Version of the record as it was read; 409 stale if the record has changed since */
  version?: number
}

export type UpdateFileRecord = {
  /** Name of the folder, instead of group_id */
  group?: string | null
  /** ID of the file group; 0 for none */
  group_id?: number | null
  name?: string
  /** Visibility: 1 gives the file a public URL, a new one each time it is made public; 0 removes it */
  public?: 0 | 1
  /** Time of the last change as it was read, in any precision; 409 stale if the record has changed since */
  updated_at?: string
  /** Version of the record as it was read; 409 stale if the record has changed since */
  version?: number
}

export type UpdateFileRecords = {
  /** Name of the folder, instead of group_id */
  group?: string | null
  /** ID of the file group; 0 for none */
  group_id?: number | null
  /** Visibility: 1 gives the file a public URL, a new one each time it is made public; 0 removes it */
  public?: 0 | 1
}

export type UpdateOwnAPIKey = {
  /** Data scope that narrows that of the roles, relative to the owner; empty for no narrowing */
  data_scope?: "" | "all" | "dept_tree" | "dept" | "self" | "custom" | null
  /** Paths of the departments, instead of dept_ids; such as Sales/EU, where \/ is a slash in a name; or # and the code, such as #sales-eu */
  departments?: string[] | null
  /** IDs of the departments of the data scope custom */
  dept_ids?: number[] | null
  /** Time at which the key expires; 90 days after its creation by default, and at most as many days ahead as the setting security.key_max_days says */
  expires_at?: string
  /** Name of the program that uses the key */
  name?: string
  /** IP addresses and networks that it may be used from, such as 192.0.2.7 or 10.0.0.0/8; empty for all */
  networks?: string[] | null
  /** Requests per minute; 0 for the setting security.key_rate_limit */
  rate_limit?: number
  /** IDs of those of your roles that the key has; empty for all */
  role_ids?: number[] | null
  /** Names of the roles, instead of role_ids */
  roles?: string[] | null
  /** Status: 1 enabled, the default of a new key; 0 disabled */
  status?: 0 | 1
  /** Time of the last change as it was read, in any precision; 409 stale if the record has changed since */
  updated_at?: string
  /** Version of the record as it was read; 409 stale if the record has changed since */
  version?: number
}

export type UpdateOwnAccount = {
  /** E-mail address, unique unless empty */
  email?: string | null
  /** Values of custom fields by key; null removes a value, and fields that are not sent remain unchanged */
  fields?: UserFieldsInput
  mobile?: string | null
  nickname?: string | null
  /** Sex: 0 not given, 1 male, 2 female */
  sex?: 0 | 1 | 2
  /** Time of the last change as it was read, in any precision; 409 stale if the record has changed since */
  updated_at?: string
  /** Version of the record as it was read; 409 stale if the record has changed since */
  version?: number
}

export type UpdateOwnAppPassword = {
  /** New password; any characters are allowed */
  new_password: string
  old_password: string
}

export type UpdateOwnAppUser = {
  /** E-mail address, unique unless empty */
  email?: string | null
  /** Values of custom fields by key; null removes a value, and fields that are not sent remain unchanged */
  fields?: AppUserFieldsInput
  mobile?: string | null
  nickname?: string | null
  /** Current password, to change email. People who have none, or can't sign in with it, leave it out: they must have signed in within security.reauth_minutes (409 sign_in_first) */
  password?: string
  /** Time of the last change as it was read, in any precision; 409 stale if the record has changed since */
  updated_at?: string
  /** Version of the record as it was read; 409 stale if the record has changed since */
  version?: number
}

export type UpdateOwnPassword = {
  /** New password; any characters are allowed */
  new_password: string
  old_password: string
}

export type UpdatePasswordOnPage = {
  /** New password; any characters are allowed */
  new_password: string
  old_password: string
  /** The new password again */
  password_again: string
}

export type UpdatePermission = {
  icon?: string | null
  /** Unique key, by which routes and buttons check the permission */
  key?: string
  /** Key of the translated name in the console */
  local?: string | null
  name?: string
  /** How the menu opens url: link (default) in the same tab, tab in a new one */
  open?: "" | "link" | "tab" | null
  /** Key of the permission, instead of parent_id */
  parent?: string | null
  /** ID of the parent, a menu or a page; 0 for a root */
  parent_id?: number | null
  /** Path of the page in the console */
  path?: string | null
  /** Visibility in the menu: 1 shown, the default of a new permission; 0 hidden */
  show?: 0 | 1
  sort?: number
  /** Status: 1 enabled, the default of a new permission; 0 disabled */
  status?: 0 | 1
  /** Type: 0 menu, 1 page, 2 action */
  type?: 0 | 1 | 2
  /** Time of the last change as it was read, in any precision; 409 stale if the record has changed since */
  updated_at?: string
  /** URL of a page of your own, for the console's menu: http(s), or a path on this server. Only for a page (type 1) */
  url?: string | null
  /** Version of the record as it was read; 409 stale if the record has changed since */
  version?: number
}

export type UpdateProfileOnPage = {
  /** E-mail address, unique unless empty */
  email?: string
  mobile?: string
  nickname?: string
  /** Current password, to change email. People who have none, or can't sign in with it, leave it out: they must have signed in within security.reauth_minutes (409 sign_in_first) */
  password?: string
  /** Version of the account as the page showed it; 409 if it has changed since */
  version?: string
}

export type UpdateRole = {
  /** Data scope; self for a new role */
  data_scope?: "all" | "dept_tree" | "dept" | "self" | "custom"
  /** Paths of the departments, instead of dept_ids; such as Sales/EU, where \/ is a slash in a name; or # and the code, such as #sales-eu */
  departments?: string[] | null
  /** IDs of the departments of the data scope custom */
  dept_ids?: number[] | null
  description?: string | null
  /** IDs of the roles that users with this role can assign without having them. To add a role, you must have all its permissions */
  grant_role_ids?: number[] | null
  /** Names of the roles, instead of grant_role_ids */
  grant_roles?: string[] | null
  /** Name of the role; unique; texts that differ only in case, width, spaces or invisible characters are the same */
  name?: string
  /** 1 to turn passwords off for users with the role, who then sign in with a provider or a passkey. To change it requires a confirmation, and 1 another way to sign in for you */
  password_off?: 0 | 1
  /** 1 if users with the role must have a second factor: after security.factor_grace_days from their next sign-in, they can do nothing before they have set one up. Requires that you have one */
  require_factor?: 0 | 1
  sort?: number
  /** Status: 1 enabled, the default of a new role; 0 disabled */
  status?: 0 | 1
  /** Time of the last change as it was read, in any precision; 409 stale if the record has changed since */
  updated_at?: string
  /** Version of the record as it was read; 409 stale if the record has changed since */
  version?: number
}

export type UpdateSavedView = {
  /** Keys of the console's columns, in the chosen order; empty for the usual one */
  columns?: string[] | null
  /** 1 for low rows, else 0 */
  compact?: 0 | 1
  /** Keys of the columns to hide */
  hidden?: string[] | null
  name?: string
  /** Records per page; 0 for the size that a person has chosen */
  page_size?: number
  /** Parameters of the list, as in a URL; those for the page and its size are left out, see page_size */
  query?: string | null
  /** Keys of the columns to show although they are usually hidden */
  shown?: string[] | null
  /** Time of the last change as it was read, in any precision; 409 stale if the record has changed since */
  updated_at?: string
  /** Version of the record as it was read; 409 stale if the record has changed since */
  version?: number
}

export type UpdateSetting = {
  describe?: string | null
  /** Key of the setting group, instead of group_id */
  group?: string
  /** ID of the setting group */
  group_id?: number
  /** Key matching [a-z][a-z0-9_]*, unique in its group */
  key?: string
  /** Options; required for the types radio, select and checkbox */
  options?: {
  /** Text to show */
  label: string
  /** Value to store */
  value: string
}[] | null
  /** Properties: min, max, step and maxlength are enforced; others are hints for the console */
  props?: ({
  name: string
  value?: string | null
})[] | null
  sort?: number
  title?: string
  type?: "checkbox" | "color" | "date" | "flag" | "image" | "input" | "json" | "number" | "radio" | "secret" | "select" | "switch" | "textarea" | "time"
  /** Time of the last change as it was read, in any precision; 409 stale if the record has changed since */
  updated_at?: string
  /** Value: the text that is stored, or a JSON value of the type; it must be valid for type, options and props. Responses have the text, and mask that of a secret as ******; sending ****** leaves it unchanged. Rules of a flag have IDs or names of roles, departments and users, and responses the IDs */
  values?: unknown
}

export type UpdateSettingGroup = {
  /** Unique key matching [a-z][a-z0-9_]* */
  key?: string
  /** Visibility: 1 makes the values readable without signing in; 0 does not */
  public?: 0 | 1
  remark?: string | null
  title?: string
  /** Time of the last change as it was read, in any precision; 409 stale if the record has changed since */
  updated_at?: string
  /** Version of the record as it was read; 409 stale if the record has changed since */
  version?: number
}

export type UpdateSignInProvider = {
  /** 1 if app users can sign in with it */
  app_users?: 0 | 1
  /** For a directory: DN of the entry below which people are. Required */
  base_dn?: string | null
  /** For a directory: DN of the account that searches, with its password in client_secret; empty to search without an account */
  bind_dn?: string | null
  /** For a directory: certificates in PEM of authorities that are trusted besides those of the system */
  certificates?: string
  /** ID of Reeve at the provider. Required, but for a directory */
  client_id?: string | null
  /** Client secret, or password of bind_dn; never returned. Absent to keep it, empty for a public client */
  client_secret?: string
  /** Who without an account gets one: never, invitation for those whose address was invited, or always */
  creates?: "never" | "invitation" | "always"
  /** Domains in which people must have a verified address; empty for any address. The sign-in page proposes the provider to addresses in them */
  domains?: string[] | null
  /** For a directory: attribute with the address. It counts as that of the person only with trusts_address */
  email_attribute?: string | null
  /** 1 if signing out here signs out at the provider */
  ends_session?: 0 | 1
  /** Values of the claims amr and acr that stand for a second factor, such as mfa; empty to ask for the factor here */
  factor_values?: string[] | null
  /** For a directory: DN of the entry below which groups are searched; empty to use only the groups that the attribute memberOf names */
  group_base_dn?: string | null
  /** For a directory: filter that finds the groups of a person, with {dn} in place of the DN, or {username} */
  group_filter?: string | null
  /** For a directory: attribute by which people are told apart, which never changes and is never used again */
  id_attribute?: string | null
  /** URL by which the provider calls itself; for GitHub https://github.com, or that of your server. Required, but for a directory */
  issuer?: string | null
  /** Kind of provider; openid by default */
  kind?: "openid" | "google" | "microsoft" | "github" | "gitlab" | "keycloak" | "authentik" | "ldap" | "active_directory"
  /** Which claims give which roles and department, at each sign-in. What a claim has given is taken away when it is gone */
  mappings?: ({
  /** IDs of the app roles that such app users have */
  app_role_ids?: number[] | null
  /** Names of the app roles, instead of app_role_ids */
  app_roles?: string[] | null
  /** Name of a claim, such as groups; nested ones are separated by dots */
  claim: string
  /** Path of the department, instead of dept_id; such as Sales/EU, where \/ is a slash in a name; or # and the code, such as #sales-eu */
  department?: string | null
  /** ID of the department that such users are in; 0 for no change */
  dept_id?: number | null
  /** IDs of the roles that such users have */
  role_ids?: number[] | null
  /** Names of the roles, instead of role_ids */
  roles?: string[] | null
  /** Value that the claim has, or that is in its list */
  value: string
})[] | null
  /** Name in URLs: lower-case letters, digits and hyphens; it is part of the address that is registered at the provider */
  name?: string
  /** For a directory: attribute with the name */
  name_attribute?: string | null
  /** For a directory: 1 to use ldap:// without StartTLS, so that passwords are sent without encryption; only to hosts in providers.allow of the configuration */
  plain?: 0 | 1
  /** Scopes to ask for besides openid */
  scopes?: string[] | null
  /** For a directory: URLs of its servers, ldaps://host or ldap://host, with :port if it is not the usual one. They are tried in this order */
  servers?: string[] | null
  /** Position on the sign-in page, ascending */
  sort?: number
  /** Status: 1 enabled; 0 disabled, the default of a new provider */
  status?: 0 | 1
  /** Title on the sign-in page */
  title?: string
  /** 1 if addresses are those of the person even if the provider does not say that it has verified them */
  trusts_address?: 0 | 1
  /** Time of the last change as it was read, in any precision; 409 stale if the record has changed since */
  updated_at?: string
  /** For a directory: filter that finds a person, with {username} in place of the username; what is usual for the kind by default, as are the other fields */
  user_filter?: string | null
  /** For a directory: attribute with the username */
  username_attribute?: string | null
  /** 1 if users of the console can sign in with it */
  users?: 0 | 1
  /** Version of the record as it was read; 409 stale if the record has changed since */
  version?: number
}

export type UpdateUser = {
  /** Path of the department, instead of dept_id; such as Sales/EU, where \/ is a slash in a name; or # and the code, such as #sales-eu */
  department?: string | null
  /** ID of the department; 0 for none */
  dept_id?: number | null
  /** E-mail address, unique unless empty */
  email?: string | null
  /** Values of custom fields by key; null removes a value, and fields that are not sent remain unchanged */
  fields?: UserFieldsInput
  mobile?: string | null
  nickname?: string | null
  /** on to let the user sign in with a password also where a role or the setting turns passwords off, off to refuse passwords; empty, the default, to follow the roles and the setting. To change it requires a confirmation, and off a provider or a passkey of your own */
  password_sign_in?: "" | "on" | "off" | null
  /** IDs of the roles */
  role_ids?: number[] | null
  /** Names of the roles, instead of role_ids */
  roles?: string[] | null
  /** Sex: 0 not given, 1 male, 2 female */
  sex?: 0 | 1 | 2
  /** Status: 1 enabled, the default of a new user; 0 disabled, which ends the sessions */
  status?: 0 | 1
  /** Time of the last change as it was read, in any precision; 409 stale if the record has changed since */
  updated_at?: string
  /** Username: 3 to 32 letters, digits and . _ -; unique; texts that differ only in case, width, spaces or invisible characters are the same */
  username?: string
  /** Version of the record as it was read; 409 stale if the record has changed since */
  version?: number
}

export type UpdateUsers = {
  /** Path of the department, instead of dept_id; such as Sales/EU, where \/ is a slash in a name; or # and the code, such as #sales-eu */
  department?: string | null
  /** ID of the department; 0 for none. Requires the permission admin.list.update */
  dept_id?: number | null
  /** IDs of the roles, which replace those of each user. Requires the permission admin.list.update */
  role_ids?: number[] | null
  /** Names of the roles, instead of role_ids */
  roles?: string[] | null
  /** Status: 1 enabled; 0 disabled, which ends the sessions. Requires the permission admin.list.status */
  status?: 0 | 1
}

export type UpdateWebhook = {
  description?: string | null
  /** Username of the user, instead of owner_id */
  owner?: string
  /** Your own ID, to become the owner */
  owner_id?: number
  /** Status: 1 enabled, the default of a new webhook; 0 disabled */
  status?: 0 | 1
  /** Types of events to send, such as user.created, role.* or *; see GET /system/event-type */
  types?: string[]
  /** Time of the last change as it was read, in any precision; 409 stale if the record has changed since */
  updated_at?: string
  /** Address to which events are sent with POST: https, or http if webhooks.allow in the configuration names the host */
  url?: string
  /** Version of the record as it was read; 409 stale if the record has changed since */
  version?: number
}

export type UploadFiles = {
  file: string[]
  /** Name of the folder, instead of group_id */
  group?: string
  /** ID of the file group; absent or 0 for none */
  group_id?: number
  /** Visibility: 1 lets everybody who knows the URL read the files; 0, the default, does not */
  public?: 0 | 1
}

export type UploadNewVersionOfFile = {
  file: string
}

export type UseOneTimeLink = {
  /** New password; required for an invitation and a password reset */
  password?: string
  /** The same password again */
  password_again?: string
}

export type User = {
  /** ID of the avatar; 0 for none */
  avatar_id: number
  avatar_url: string
  created_at: string
  /** ID of the API key that created the user; 0 if none did. The key may have been deleted */
  created_by_key: number
  /** ID of the department; 0 for none */
  dept_id: number
  dept_name: string
  email: string
  /** 1 if the user has opened a link that was sent to the address, else 0 */
  email_verified: 0 | 1
  /** Values of custom fields by key, as far as you may read them; a field without a value is absent */
  fields: UserFields
  id: number
  /** Why the user can't sign in now after failed sign-ins; null if that is not so */
  lockout: Lockout | null
  login_ip: string
  /** Time of the last sign-in; null before the first */
  login_time: string | null
  mobile: string
  must_change_password: 0 | 1
  nickname: string
  /** Whether the user can sign in with a password: on, off, or empty for what the roles and the settings say */
  password_sign_in: "" | "on" | "off"
  role_ids: number[]
  /** Names of the roles, in the order of role_ids */
  role_names: string[]
  /** 1 if a sign-in asks for a code besides the password, else 0 */
  second_factor: 0 | 1
  /** Sex: 0 not given, 1 male, 2 female */
  sex: 0 | 1 | 2
  /** Status: 1 enabled, 0 disabled; a disabled user can't sign in */
  status: 0 | 1
  updated_at: string
  username: string
  /** grows with every change of the record */
  version: number
}

export type UserFields = Record<string, unknown>

export type UserFieldsInput = Record<string, unknown>

export type UserPage = {
  /** Number of this page, from 1 */
  current: number
  /** IDs of records of this page that data lacks, because they, or records that they need, are damaged; the system's health names the damage; absent if none */
  damaged_ids?: number[]
  /** Records of this page */
  data: User[]
  /** Maximum number of records per page */
  pageSize: number
  /** Number of matching records, damaged ones included */
  total: number
}

export type UsersChanged = {
  /** Number of users changed, or in a dry run that would be changed; users who already have the values do not count */
  count: number
  /** Job of a change of more than 100 users or with many sessions to end; it is still running if it takes longer than 30 seconds */
  job?: Job
}

export type Verdict = {
  /** Codes and parameters of errors, by column */
  details?: Record<string, Reason>
  /** Messages about invalid cells, by column, in the language of the request */
  errors?: Record<string, string>
  /** Line number in the file; the header is line 1 */
  line: number
  ok: boolean
  username: string
}

export type VerifyAddressOnPage = {

}

export type VerifyOwnAppEmail = {
  /** New address, which replaces the present one once it is confirmed; absent to confirm the present one */
  email?: string | null
  /** Current password, to change email. People who have none, or can't sign in with it, leave it out: they must have signed in within security.reauth_minutes (409 sign_in_first) */
  password?: string
}

export type VerifyOwnEmailAddress = {
  /** New address, which replaces the present one once it is confirmed; absent to confirm the present one */
  email?: string | null
}

export type Version = {
  /** ID of the user who uploaded it */
  author_id: number
  /** Username of that user; empty if the user was deleted */
  author_name: string
  id: number
  kind: "image" | "audio" | "video" | "archive" | "document" | "other"
  /** Media type, detected from the content */
  mime: string
  /** Time at which another content replaced it */
  replaced_at: string
  sha256: string
  /** Size in bytes */
  size: number
  /** Time at which it was uploaded */
  stored_at: string
}

export type VersionPage = {
  /** Number of this page, from 1 */
  current: number
  /** IDs of records of this page that data lacks, because they, or records that they need, are damaged; the system's health names the damage; absent if none */
  damaged_ids?: number[]
  /** Records of this page */
  data: Version[]
  /** Maximum number of records per page */
  pageSize: number
  /** Number of matching records, damaged ones included */
  total: number
}

export type View = {
  /** Keys of the console's columns, in the chosen order; empty for the usual one */
  columns: string[]
  /** 1 for low rows, else 0 */
  compact: 0 | 1
  created_at: string
  /** 1 if the list opens with it for you, else 0 */
  default: 0 | 1
  /** Keys of the columns that it hides */
  hidden: string[]
  id: number
  /** Path of the list */
  list: string
  name: string
  /** Records per page; 0 for the size that a person has chosen */
  page_size: number
  /** Parameters of the list, as in a URL */
  query: string
  /** 1 if everybody who may read the list sees it, else 0 */
  shared: 0 | 1
  /** Keys of the columns that it shows although they are usually hidden */
  shown: string[]
  updated_at: string
  /** ID of the user who saved it */
  user_id: number
  /** Username of the user who saved it; empty if the user was deleted */
  username: string
  /** grows with every change of the record */
  version: number
  /** 1 if you may change it, else 0 */
  writable: 0 | 1
}

export type ViewPage = {
  /** Number of this page, from 1 */
  current: number
  /** IDs of records of this page that data lacks, because they, or records that they need, are damaged; the system's health names the damage; absent if none */
  damaged_ids?: number[]
  /** Records of this page */
  data: View[]
  /** Maximum number of records per page */
  pageSize: number
  /** Number of matching records, damaged ones included */
  total: number
}

export type Webhook = {
  /** Number of failed attempts to send it */
  attempts: number
  /** Number of entries of the change log after it */
  behind: number
  /** ID of the message that is being retried; empty for none */
  blocked: string
  created_at: string
  description: string
  /** Time of the first one; null for none */
  failing_since: string | null
  id: number
  /** Time of the last attempt to send anything; null before the first */
  last_at: string | null
  /** Its HTTP status; 0 without a response */
  last_status: number
  /** Time of the next attempt; null if none is waiting */
  next_at: string | null
  /** ID of the user whose permissions and data scope limit what is sent */
  owner_id: number
  /** Username of the owner; empty if the owner was deleted */
  owner_name: string
  /** Why nothing is sent until the webhook is resumed: failing for 3 days, gone after 410, restored after a restore; empty otherwise */
  paused: "" | "failing" | "gone" | "restored"
  /** Time until which messages are signed with the previous secret too; null if there is none */
  previous_until: string | null
  /** Number of entries that are still to be replayed */
  replaying: number
  /** Number of the newest entry of the change log that was handled */
  seq: number
  /** State: active, retrying, paused, disabled, no_owner if the owner is disabled, deleted or may not have a webhook, or no_secret if its secret can't be decrypted and must be rotated */
  state: "active" | "retrying" | "paused" | "disabled" | "no_owner" | "no_secret"
  /** Status: 1 enabled; 0 disabled: nothing is sent, and events wait */
  status: 0 | 1
  /** Types of events that are sent, such as user.created, role.* or * */
  types: string[]
  updated_at: string
  /** Address to which events are sent; with ****** in place of path and query for callers who may not change the webhook */
  url: string
  /** grows with every change of the record */
  version: number
}

export type WebhookOutPage = {
  /** Number of this page, from 1 */
  current: number
  /** IDs of records of this page that data lacks, because they, or records that they need, are damaged; the system's health names the damage; absent if none */
  damaged_ids?: number[]
  /** Records of this page */
  data: Webhook[]
  /** Maximum number of records per page */
  pageSize: number
  /** Number of matching records, damaged ones included */
  total: number
}

export type WebhookWithSecret = {
  /** Number of failed attempts to send it */
  attempts: number
  /** Number of entries of the change log after it */
  behind: number
  /** ID of the message that is being retried; empty for none */
  blocked: string
  created_at: string
  description: string
  /** Time of the first one; null for none */
  failing_since: string | null
  id: number
  /** Time of the last attempt to send anything; null before the first */
  last_at: string | null
  /** Its HTTP status; 0 without a response */
  last_status: number
  /** Time of the next attempt; null if none is waiting */
  next_at: string | null
  /** ID of the user whose permissions and data scope limit what is sent */
  owner_id: number
  /** Username of the owner; empty if the owner was deleted */
  owner_name: string
  /** Why nothing is sent until the webhook is resumed: failing for 3 days, gone after 410, restored after a restore; empty otherwise */
  paused: "" | "failing" | "gone" | "restored"
  /** Time until which messages are signed with the previous secret too; null if there is none */
  previous_until: string | null
  /** Number of entries that are still to be replayed */
  replaying: number
  /** New signing secret, which no other response contains; absent unless it is new */
  secret?: string
  /** Number of the newest entry of the change log that was handled */
  seq: number
  /** State: active, retrying, paused, disabled, no_owner if the owner is disabled, deleted or may not have a webhook, or no_secret if its secret can't be decrypted and must be rotated */
  state: "active" | "retrying" | "paused" | "disabled" | "no_owner" | "no_secret"
  /** Status: 1 enabled; 0 disabled: nothing is sent, and events wait */
  status: 0 | 1
  /** Types of events that are sent, such as user.created, role.* or * */
  types: string[]
  updated_at: string
  /** Address to which events are sent; with ****** in place of path and query for callers who may not change the webhook */
  url: string
  /** grows with every change of the record */
  version: number
}

/** The permissions that operations ask for. */
export type Access =
  | 'admin.dept.create'
  | 'admin.dept.delete'
  | 'admin.dept.query'
  | 'admin.dept.update'
  | 'admin.invite.create'
  | 'admin.invite.delete'
  | 'admin.invite.query'
  | 'admin.key.create'
  | 'admin.key.delete'
  | 'admin.key.query'
  | 'admin.key.rotate'
  | 'admin.key.update'
  | 'admin.list.act_as'
  | 'admin.list.create'
  | 'admin.list.data'
  | 'admin.list.delete'
  | 'admin.list.erase'
  | 'admin.list.export'
  | 'admin.list.factor'
  | 'admin.list.import'
  | 'admin.list.password'
  | 'admin.list.query'
  | 'admin.list.status'
  | 'admin.list.unlock'
  | 'admin.list.update'
  | 'admin.role.create'
  | 'admin.role.delete'
  | 'admin.role.query'
  | 'admin.role.rule'
  | 'admin.role.update'
  | 'admin.rule.create'
  | 'admin.rule.delete'
  | 'admin.rule.query'
  | 'admin.rule.update'
  | 'admin.view.share'
  | 'auth.check'
  | 'auth.introspect'
  | 'auth.login'
  | 'file.group.create'
  | 'file.group.delete'
  | 'file.group.query'
  | 'file.group.update'
  | 'file.list.create'
  | 'file.list.delete'
  | 'file.list.download'
  | 'file.list.query'
  | 'file.list.update'
  | 'file.trash.delete'
  | 'file.trash.query'
  | 'file.trash.restore'
  | 'system.audit.export'
  | 'system.audit.query'
  | 'system.audit.undo'
  | 'system.backup'
  | 'system.compact'
  | 'system.copy.create'
  | 'system.copy.query'
  | 'system.dict.create'
  | 'system.dict.delete'
  | 'system.dict.item.create'
  | 'system.dict.item.delete'
  | 'system.dict.item.query'
  | 'system.dict.item.update'
  | 'system.dict.query'
  | 'system.dict.update'
  | 'system.field.create'
  | 'system.field.delete'
  | 'system.field.query'
  | 'system.field.update'
  | 'system.file.move'
  | 'system.info'
  | 'system.info.acknowledge'
  | 'system.job.query'
  | 'system.loginlog.query'
  | 'system.mail.delete'
  | 'system.mail.query'
  | 'system.mail.retry'
  | 'system.mail.test'
  | 'system.monitor.auth'
  | 'system.monitor.cache'
  | 'system.monitor.query'
  | 'system.monitor.redis'
  | 'system.monitor.request'
  | 'system.monitor.stats'
  | 'system.monitor.trace'
  | 'system.node.query'
  | 'system.provider.create'
  | 'system.provider.delete'
  | 'system.provider.query'
  | 'system.provider.update'
  | 'system.session.delete'
  | 'system.session.query'
  | 'system.setting.create'
  | 'system.setting.delete'
  | 'system.setting.group.create'
  | 'system.setting.group.delete'
  | 'system.setting.group.query'
  | 'system.setting.group.update'
  | 'system.setting.query'
  | 'system.setting.refresh'
  | 'system.setting.save'
  | 'system.setting.update'
  | 'system.setup.apply'
  | 'system.setup.query'
  | 'system.webhook.create'
  | 'system.webhook.delete'
  | 'system.webhook.query'
  | 'system.webhook.secret'
  | 'system.webhook.send'
  | 'system.webhook.update'
  | 'user.invite.create'
  | 'user.invite.delete'
  | 'user.invite.query'
  | 'user.list.create'
  | 'user.list.data'
  | 'user.list.delete'
  | 'user.list.erase'
  | 'user.list.export'
  | 'user.list.factor'
  | 'user.list.import'
  | 'user.list.password'
  | 'user.list.query'
  | 'user.list.role'
  | 'user.list.status'
  | 'user.list.unlock'
  | 'user.list.update'
  | 'user.role.create'
  | 'user.role.delete'
  | 'user.role.query'
  | 'user.role.rule'
  | 'user.role.update'
  | 'user.rule.create'
  | 'user.rule.delete'
  | 'user.rule.query'
  | 'user.rule.update'

/** The operations, by method and path. */
export type Api = {
  GET: {
    '/.reeve/callback': { body: undefined; answer: unknown }
    '/.reeve/sign-out': { body: undefined; answer: unknown }
    '/.well-known/authzen-configuration': { body: undefined; answer: unknown }
    '/admin/account/activity': { body: undefined; answer: ActivityPage }
    '/admin/account/device': { body: undefined; answer: DevicePage }
    [path: `/admin/account/device/${number}`]: { body: undefined; answer: Device }
    '/admin/account/key': { body: undefined; answer: ApiKeyPage }
    [path: `/admin/account/key/${number}`]: { body: undefined; answer: ApiKey }
    '/admin/account/passkey': { body: undefined; answer: PasskeyPage }
    '/admin/account/passkey-options': { body: undefined; answer: NewPasskeyOptions }
    [path: `/admin/account/passkey/${number}`]: { body: undefined; answer: Passkey }
    '/admin/account/provider': { body: undefined; answer: PersonPage }
    '/admin/account/totp': { body: undefined; answer: SecondFactor }
    '/admin/choice': { body: undefined; answer: ChoiceTree }
    '/admin/dept': { body: undefined; answer: DeptTree }
    [path: `/admin/dept/${number}`]: { body: undefined; answer: Dept }
    '/admin/dict': { body: undefined; answer: Record<string, OpenDict> }
    '/admin/info': { body: undefined; answer: Info }
    '/admin/invite': { body: undefined; answer: InvitationPage }
    '/admin/job': { body: undefined; answer: JobPage }
    [path: `/admin/job/${number}`]: { body: undefined; answer: Job }
    '/admin/key': { body: undefined; answer: ApiKeyPage }
    [path: `/admin/key/${number}`]: { body: undefined; answer: ApiKey }
    '/admin/list': { body: undefined; answer: UserPage }
    '/admin/list-export': { body: undefined; answer: unknown }
    [path: `/admin/list/${number}`]: { body: undefined; answer: User }
    [path: `/admin/list/${number}/data`]: { body: undefined; answer: unknown }
    [path: `/admin/list/${number}/sign-in`]: { body: undefined; answer: SignInState }
    '/admin/login/passkey': { body: undefined; answer: PasskeyOptions }
    '/admin/loginlog': { body: undefined; answer: LoginLogOutPage }
    '/admin/permission/effective': { body: undefined; answer: Effective }
    '/admin/permission/explain': { body: undefined; answer: Explanation }
    '/admin/reauth': { body: undefined; answer: Reauth }
    '/admin/role': { body: undefined; answer: RolePage }
    '/admin/role-preset': { body: undefined; answer: Presets }
    [path: `/admin/role/${number}`]: { body: undefined; answer: Role }
    '/admin/rule': { body: undefined; answer: PermissionTree }
    [path: `/admin/rule-node/${number}`]: { body: undefined; answer: Permission }
    '/admin/rule/parent': { body: undefined; answer: ParentNodeTree }
    '/admin/session': { body: undefined; answer: SessionPage }
    '/admin/view': { body: undefined; answer: ViewPage }
    [path: `/admin/view/${number}`]: { body: undefined; answer: View }
    '/api/challenge': { body: undefined; answer: unknown }
    '/api/dict': { body: undefined; answer: Record<string, OpenDict> }
    '/api/event': { body: undefined; answer: unknown }
    '/api/field': { body: undefined; answer: AppFields }
    '/api/home': { body: undefined; answer: Home }
    '/api/login/passkey': { body: undefined; answer: PasskeyOptions }
    '/api/session': { body: undefined; answer: SessionPage }
    '/api/user': { body: undefined; answer: OwnAppUser }
    '/api/user/passkey': { body: undefined; answer: PasskeyPage }
    '/api/user/passkey-options': { body: undefined; answer: NewPasskeyOptions }
    [path: `/api/user/passkey/${number}`]: { body: undefined; answer: Passkey }
    '/api/user/totp': { body: undefined; answer: AppFactor }
    '/app/account': { body: undefined; answer: unknown }
    '/app/account/authenticator': { body: undefined; answer: unknown }
    '/app/account/authenticator/confirm': { body: undefined; answer: unknown }
    '/app/account/authenticator/recovery': { body: undefined; answer: unknown }
    '/app/account/authenticator/remove': { body: undefined; answer: unknown }
    '/app/account/delete': { body: undefined; answer: unknown }
    '/app/account/passkeys': { body: undefined; answer: unknown }
    '/app/account/passkeys/add': { body: undefined; answer: unknown }
    '/app/account/passkeys/remove': { body: undefined; answer: unknown }
    '/app/account/password': { body: undefined; answer: unknown }
    '/app/account/profile': { body: undefined; answer: unknown }
    '/app/account/sessions': { body: undefined; answer: unknown }
    '/app/forgot': { body: undefined; answer: unknown }
    '/app/register': { body: undefined; answer: unknown }
    '/app/sign-in': { body: undefined; answer: unknown }
    '/app/sign-in/code': { body: undefined; answer: unknown }
    '/app/sign-in/email': { body: undefined; answer: unknown }
    '/app/sign-in/email/code': { body: undefined; answer: unknown }
    '/app/sign-in/passkey': { body: undefined; answer: unknown }
    '/app/sign-in/provider': { body: undefined; answer: unknown }
    '/app/sign-out': { body: undefined; answer: unknown }
    '/auth/provider': { body: undefined; answer: Choices }
    [path: `/auth/provider/${string}/callback`]: { body: undefined; answer: unknown }
    [path: `/auth/provider/${string}/sign-in`]: { body: undefined; answer: unknown }
    [path: `/auth/provider/${string}/start`]: { body: undefined; answer: unknown }
    '/auth/verify': { body: undefined; answer: unknown }
    '/config': { body: undefined; answer: Config }
    '/file/group': { body: undefined; answer: FileGroupPage }
    [path: `/file/group/${number}`]: { body: undefined; answer: FileGroup }
    '/file/list': { body: undefined; answer: FilePage }
    '/file/list-zip': { body: undefined; answer: unknown }
    [path: `/file/list/${number}`]: { body: undefined; answer: File }
    [path: `/file/list/${number}/content`]: { body: undefined; answer: unknown }
    [path: `/file/list/${number}/version`]: { body: undefined; answer: VersionPage }
    [path: `/file/signed/${number}`]: { body: undefined; answer: unknown }
    '/file/trash': { body: undefined; answer: TrashedFilePage }
    '/health': { body: undefined; answer: Health }
    '/health/live': { body: undefined; answer: Health }
    '/health/ready': { body: undefined; answer: Health }
    [path: `/link/${string}`]: { body: undefined; answer: unknown }
    [path: `/media/${string}`]: { body: undefined; answer: unknown }
    '/metrics': { body: undefined; answer: unknown }
    '/ofrep/v1/events': { body: undefined; answer: unknown }
    '/openapi.json': { body: undefined; answer: unknown }
    '/sdk': { body: undefined; answer: Clients }
    '/setup.schema.json': { body: undefined; answer: unknown }
    '/system/audit': { body: undefined; answer: LogPage }
    '/system/audit-export': { body: undefined; answer: unknown }
    [path: `/system/audit/${number}`]: { body: undefined; answer: LogDetail }
    '/system/backup': { body: undefined; answer: unknown }
    '/system/backup-file': { body: undefined; answer: BackupCopies }
    '/system/backup-target': { body: undefined; answer: BackupTargets }
    '/system/compact': { body: undefined; answer: CompactionState }
    '/system/dict': { body: undefined; answer: DictPage }
    [path: `/system/dict/${number}`]: { body: undefined; answer: Dict }
    [path: `/system/dict/${number}/item`]: { body: undefined; answer: DictItemPage }
    '/system/event': { body: undefined; answer: unknown }
    '/system/event-type': { body: undefined; answer: EventTypeList }
    '/system/field': { body: undefined; answer: CustomFieldPage }
    '/system/field-form': { body: undefined; answer: CustomFieldForms }
    [path: `/system/field/${number}`]: { body: undefined; answer: CustomField }
    '/system/health': { body: undefined; answer: SystemHealth }
    [path: `/system/history/${string}/${number}`]: { body: undefined; answer: LogPage }
    '/system/info': { body: undefined; answer: SystemInfo }
    '/system/job': { body: undefined; answer: JobPage }
    [path: `/system/job/${number}`]: { body: undefined; answer: Job }
    '/system/loginlog': { body: undefined; answer: LoginLogOutPage }
    '/system/mail': { body: undefined; answer: MailOutPage }
    '/system/mail-template': { body: undefined; answer: MailTemplates }
    [path: `/system/mail/${number}`]: { body: undefined; answer: Mail }
    '/system/manual': { body: undefined; answer: ManualAnswer }
    '/system/monitor/auth': { body: undefined; answer: AuthEventMonitorPage }
    '/system/monitor/cache': { body: undefined; answer: CacheEventMonitorPage }
    '/system/monitor/query': { body: undefined; answer: QueryEventMonitorPage }
    '/system/monitor/redis': { body: undefined; answer: RedisRecordMonitorPage }
    '/system/monitor/request': { body: undefined; answer: RequestEventMonitorPage }
    [path: `/system/monitor/request/${string}`]: { body: undefined; answer: RequestStory }
    '/system/monitor/stats': { body: undefined; answer: Stats }
    '/system/monitor/trace': { body: undefined; answer: TraceList }
    '/system/node': { body: undefined; answer: NodesState }
    '/system/provider': { body: undefined; answer: ProviderPage }
    '/system/provider-person': { body: undefined; answer: PersonPage }
    '/system/provider-test': { body: undefined; answer: Test }
    [path: `/system/provider/${number}`]: { body: undefined; answer: Provider }
    '/system/session': { body: undefined; answer: SessionPage }
    '/system/setting': { body: undefined; answer: SettingPage }
    '/system/setting-builtin': { body: undefined; answer: Record<string, string[]> }
    '/system/setting-group': { body: undefined; answer: SettingGroupPage }
    [path: `/system/setting-group/${number}`]: { body: undefined; answer: SettingGroup }
    '/system/setting-value': { body: undefined; answer: Record<string, Record<string, unknown>> }
    [path: `/system/setting/${number}`]: { body: undefined; answer: Setting }
    '/system/setup': { body: undefined; answer: Exported }
    '/system/setup-export': { body: undefined; answer: unknown }
    '/system/webhook': { body: undefined; answer: WebhookOutPage }
    [path: `/system/webhook/${number}`]: { body: undefined; answer: Webhook }
    [path: `/system/webhook/${number}/delivery`]: { body: undefined; answer: DeliveryPage }
    [path: `/system/webhook/${number}/delivery/${number}`]: { body: undefined; answer: DeliveryDetail }
    '/user/invite': { body: undefined; answer: InvitationPage }
    '/user/list': { body: undefined; answer: AppUserPage }
    '/user/list-export': { body: undefined; answer: unknown }
    [path: `/user/list/${number}`]: { body: undefined; answer: AppUser }
    [path: `/user/list/${number}/data`]: { body: undefined; answer: unknown }
    [path: `/user/list/${number}/sign-in`]: { body: undefined; answer: SignInState }
    '/user/permission/explain': { body: undefined; answer: Explanation }
    '/user/role': { body: undefined; answer: AppRolePage }
    [path: `/user/role/${number}`]: { body: undefined; answer: AppRole }
    '/user/rule': { body: undefined; answer: AppPermissionTree }
    [path: `/user/rule/${number}`]: { body: undefined; answer: AppPermission }
  }
  POST: {
    '/.reeve/sign-out': { body: undefined; answer: unknown }
    '/access/v1/evaluation': { body: EvaluateAccessRequest; answer: unknown }
    '/access/v1/evaluations': { body: EvaluateAccessRequests; answer: unknown }
    '/admin/account/key': { body: CreateOwnAPIKey; answer: KeyWithToken }
    [path: `/admin/account/key/${number}/rotate`]: { body: RotateOwnAPIKey; answer: KeyWithToken }
    '/admin/account/passkey': { body: AddPasskey; answer: NewPasskey }
    '/admin/account/provider': { body: undefined; answer: Person }
    [path: `/admin/account/provider/${string}`]: { body: undefined; answer: LinkURL }
    '/admin/account/recovery': { body: undefined; answer: RecoveryCodes }
    '/admin/account/totp': { body: undefined; answer: AuthenticatorApp }
    '/admin/avatar': { body: undefined; answer: Avatar }
    '/admin/dept': { body: CreateDept; answer: Dept }
    '/admin/email': { body: VerifyOwnEmailAddress; answer: MailQueued }
    '/admin/invite': { body: InviteUsers; answer: InvitedMany }
    '/admin/key': { body: CreateAPIKey; answer: KeyWithToken }
    [path: `/admin/key/${number}/adopt`]: { body: undefined; answer: ApiKey }
    [path: `/admin/key/${number}/resume`]: { body: undefined; answer: ApiKey }
    [path: `/admin/key/${number}/rotate`]: { body: RotateAPIKey; answer: KeyWithToken }
    '/admin/list': { body: CreateUser; answer: NewUser }
    '/admin/list-import': { body: undefined; answer: Import }
    [path: `/admin/list/${number}/act-as`]: { body: ActAsUser; answer: ActAs }
    [path: `/admin/list/${number}/erase`]: { body: EraseUser; answer: Erasure }
    [path: `/admin/list/${number}/invite`]: { body: InviteUser; answer: OneTimeLink }
    [path: `/admin/list/${number}/reset-link`]: { body: CreatePasswordResetLink; answer: OneTimeLink }
    '/admin/login': { body: SignIn; answer: Login }
    '/admin/login/passkey': { body: SignInWithPasskey; answer: Login }
    '/admin/login/provider': { body: CompleteSignInWithProvider; answer: Login }
    '/admin/login/totp': { body: CompleteSignInWithCode; answer: Login }
    '/admin/logout': { body: undefined; answer: Logout }
    '/admin/password/forgot': { body: RequestPasswordReset; answer: Record<string, never> }
    '/admin/password/link': { body: SetPasswordWithLink; answer: LinkUsed }
    '/admin/reauth': { body: ConfirmIdentity; answer: ReauthDone }
    [path: `/admin/reauth/provider/${string}`]: { body: undefined; answer: LinkURL }
    '/admin/role': { body: CreateRole; answer: Role }
    '/admin/role-reach': { body: ExplainWhomRoleCanUpdate; answer: Reach }
    '/admin/rule': { body: CreatePermission; answer: Permission }
    '/admin/verify': { body: ConfirmEmailAddress; answer: LinkUsed }
    '/admin/view': { body: SaveView; answer: View }
    [path: `/admin/view/${number}/default`]: { body: MakeViewDefault; answer: View }
    '/api/login': { body: SignInAsAppUser; answer: Login }
    '/api/login/code': { body: ExchangeCodeForSessionOfAppUser; answer: Exchange }
    '/api/login/email': { body: RequestCodeToSignInAsAppUser; answer: CodeRequest }
    '/api/login/email-code': { body: SignInWithCodeByEmailAsAppUser; answer: Login }
    '/api/login/passkey': { body: SignInWithPasskeyAsAppUser; answer: Login }
    '/api/login/totp': { body: CompleteSignInWithCodeAsAppUser; answer: Login }
    '/api/logout': { body: undefined; answer: Logout }
    '/api/password/forgot': { body: RequestAppPasswordReset; answer: Record<string, never> }
    '/api/password/link': { body: SetAppPasswordWithLink; answer: LinkUsed }
    '/api/register': { body: RegisterAsAppUser; answer: Registration }
    '/api/user/email': { body: VerifyOwnAppEmail; answer: MailQueued }
    '/api/user/passkey': { body: AddPasskeyAsAppUser; answer: Passkey }
    '/api/user/recovery': { body: ReplaceRecoveryCodesAsAppUser; answer: RecoveryCodes }
    '/api/user/totp': { body: SetUpAuthenticatorAppAsAppUser; answer: AuthenticatorApp }
    '/api/verify': { body: ConfirmAppUserEmail; answer: LinkUsed }
    '/app/account/authenticator': { body: undefined; answer: unknown }
    '/app/account/authenticator/confirm': { body: undefined; answer: unknown }
    '/app/account/authenticator/recovery': { body: undefined; answer: unknown }
    '/app/account/authenticator/remove': { body: undefined; answer: unknown }
    '/app/account/delete': { body: undefined; answer: unknown }
    '/app/account/passkeys/add': { body: undefined; answer: unknown }
    '/app/account/passkeys/remove': { body: undefined; answer: unknown }
    '/app/account/password': { body: undefined; answer: unknown }
    '/app/account/profile': { body: undefined; answer: unknown }
    '/app/account/sessions': { body: undefined; answer: unknown }
    '/app/account/verify': { body: undefined; answer: unknown }
    '/app/forgot': { body: undefined; answer: unknown }
    '/app/register': { body: undefined; answer: unknown }
    '/app/sign-in': { body: undefined; answer: unknown }
    '/app/sign-in/code': { body: undefined; answer: unknown }
    '/app/sign-in/email': { body: undefined; answer: unknown }
    '/app/sign-in/email/code': { body: undefined; answer: unknown }
    '/app/sign-in/passkey': { body: undefined; answer: unknown }
    '/app/sign-out': { body: undefined; answer: unknown }
    '/auth/check': { body: CheckPermissions; answer: Check }
    '/auth/forward': { body: OpenProxiedProgram; answer: OpenForwarded }
    '/auth/introspect': { body: undefined; answer: unknown }
    '/auth/login': { body: SignInAppUserForProgram; answer: Login }
    '/auth/login/email': { body: RequestCodeToSignInForProgram; answer: CodeRequest }
    '/auth/login/email-code': { body: SignInWithCodeByEmailForProgram; answer: Login }
    '/auth/login/totp': { body: CompleteSignInWithCodeForProgram; answer: Login }
    [path: `/auth/provider/${string}/logout`]: { body: undefined; answer: unknown }
    [path: `/auth/provider/${string}/sign-in`]: { body: undefined; answer: unknown }
    '/file/group': { body: CreateFileGroup; answer: FileGroup }
    '/file/list': { body: undefined; answer: Files }
    [path: `/file/list/${number}/link`]: { body: CreateFileLink; answer: Link }
    [path: `/file/list/${number}/version`]: { body: undefined; answer: File }
    [path: `/link/${string}`]: { body: undefined; answer: unknown }
    '/ofrep/v1/evaluate/flags': { body: EvaluateFlags; answer: unknown }
    [path: `/ofrep/v1/evaluate/flags/${string}`]: { body: EvaluateFlag; answer: unknown }
    '/system/audit-undo': { body: UndoWhatActorDid; answer: UndoneAll }
    [path: `/system/audit/${number}/undo`]: { body: undefined; answer: Undone }
    '/system/backup-file': { body: BackUpNow; answer: BackupTarget }
    '/system/backup-target/cancel': { body: CancelBackup; answer: BackupTarget }
    '/system/backup-target/check': { body: CheckNewestCopy; answer: BackupTarget }
    '/system/compact': { body: undefined; answer: CompactionState }
    '/system/dict': { body: CreateDict; answer: Dict }
    [path: `/system/dict/${number}/item`]: { body: CreateDictItem; answer: DictItem }
    '/system/field': { body: CreateCustomField; answer: CustomField }
    [path: `/system/field/${number}/apply`]: { body: undefined; answer: CustomField }
    '/system/file-move': { body: MoveContentsOfFiles; answer: Job }
    '/system/file-move/cancel': { body: undefined; answer: Record<string, never> }
    '/system/health/acknowledge': { body: undefined; answer: SystemHealth }
    '/system/mail-test': { body: SendTestMail; answer: MailTest }
    [path: `/system/mail/${number}/retry`]: { body: undefined; answer: Mail }
    '/system/monitor/trace': { body: StartTrace; answer: Trace }
    '/system/provider': { body: CreateSignInProvider; answer: Provider }
    [path: `/system/provider/${number}/test`]: { body: undefined; answer: LinkURL }
    '/system/setting': { body: CreateSetting; answer: Setting }
    '/system/setting-group': { body: CreateSettingGroup; answer: SettingGroup }
    '/system/setting/flag-preview': { body: PreviewFlag; answer: FlagPreview }
    '/system/setting/refresh': { body: undefined; answer: Refresh }
    '/system/setup/apply': { body: ApplySetup; answer: Applied }
    '/system/setup/plan': { body: PlanSetup; answer: Plan }
    '/system/webhook': { body: CreateWebhook; answer: WebhookWithSecret }
    [path: `/system/webhook/${number}/replay`]: { body: ReplayEventsToWebhook; answer: Webhook }
    [path: `/system/webhook/${number}/resume`]: { body: ResumeWebhook; answer: Webhook }
    [path: `/system/webhook/${number}/secret`]: { body: RotateWebhookSecret; answer: WebhookWithSecret }
    [path: `/system/webhook/${number}/test`]: { body: undefined; answer: DeliveryDetail }
    '/user/invite': { body: InviteAppUsers; answer: InvitedMany }
    '/user/list': { body: CreateAppUser; answer: NewAppUser }
    '/user/list-import': { body: undefined; answer: Import }
    [path: `/user/list/${number}/erase`]: { body: EraseAppUser; answer: Erasure }
    [path: `/user/list/${number}/invite`]: { body: InviteAppUser; answer: OneTimeLink }
    [path: `/user/list/${number}/reset-link`]: { body: CreateAppUserResetLink; answer: OneTimeLink }
    '/user/role': { body: CreateAppRole; answer: AppRole }
    '/user/rule': { body: CreateAppPermission; answer: AppPermission }
  }
  PUT: {
    [path: `/admin/account/device/${number}`]: { body: RenameDevice; answer: Device }
    [path: `/admin/account/key/${number}`]: { body: UpdateOwnAPIKey; answer: ApiKey }
    '/admin/account/notice': { body: DismissNotices; answer: Record<string, never> }
    [path: `/admin/account/passkey/${number}`]: { body: RenamePasskey; answer: Passkey }
    '/admin/account/totp': { body: ConfirmAuthenticatorApp; answer: RecoveryCodes }
    [path: `/admin/dept/${number}`]: { body: UpdateDept; answer: Dept }
    '/admin/info': { body: UpdateOwnAccount; answer: User }
    [path: `/admin/key/${number}`]: { body: UpdateAPIKey; answer: ApiKey }
    '/admin/list': { body: UpdateUsers; answer: UsersChanged }
    [path: `/admin/list/${number}`]: { body: UpdateUser; answer: User }
    [path: `/admin/list/${number}/password`]: { body: ResetUserPassword; answer: Reset }
    [path: `/admin/list/${number}/status`]: { body: EnableOrDisableUser; answer: User }
    '/admin/password': { body: UpdateOwnPassword; answer: Record<string, never> }
    [path: `/admin/role/${number}`]: { body: UpdateRole; answer: Role }
    [path: `/admin/role/${number}/rule`]: { body: SetRolePermissions; answer: Role }
    [path: `/admin/rule/${number}`]: { body: UpdatePermission; answer: Permission }
    [path: `/admin/rule/${number}/show`]: { body: ShowOrHidePermission; answer: Permission }
    [path: `/admin/rule/${number}/status`]: { body: EnableOrDisablePermission; answer: Permission }
    [path: `/admin/view/${number}`]: { body: UpdateSavedView; answer: View }
    [path: `/admin/view/${number}/share`]: { body: ShareView; answer: View }
    '/api/user': { body: UpdateOwnAppUser; answer: OwnAppUser }
    [path: `/api/user/passkey/${number}`]: { body: RenamePasskeyAsAppUser; answer: Passkey }
    '/api/user/password': { body: UpdateOwnAppPassword; answer: Record<string, never> }
    '/api/user/totp': { body: ConfirmAuthenticatorAppAsAppUser; answer: RecoveryCodes }
    [path: `/file/group/${number}`]: { body: UpdateFileGroup; answer: FileGroup }
    '/file/list': { body: UpdateFileRecords; answer: Files }
    [path: `/file/list/${number}`]: { body: UpdateFileRecord; answer: File }
    [path: `/file/list/${number}/version/${number}`]: { body: undefined; answer: File }
    [path: `/file/trash/${number}`]: { body: undefined; answer: File }
    [path: `/system/dict/${number}`]: { body: UpdateDict; answer: Dict }
    [path: `/system/dict/${number}/item/${number}`]: { body: UpdateDictItem; answer: DictItem }
    [path: `/system/field/${number}`]: { body: UpdateCustomField; answer: CustomField }
    [path: `/system/provider/${number}`]: { body: UpdateSignInProvider; answer: Provider }
    '/system/setting': { body: SaveSettingValues; answer: Record<string, never> }
    [path: `/system/setting-group/${number}`]: { body: UpdateSettingGroup; answer: SettingGroup }
    [path: `/system/setting/${number}`]: { body: UpdateSetting; answer: Setting }
    [path: `/system/webhook/${number}`]: { body: UpdateWebhook; answer: WebhookWithSecret }
    [path: `/user/list/${number}`]: { body: UpdateAppUser; answer: AppUser }
    [path: `/user/list/${number}/password`]: { body: ResetAppUserPassword; answer: Reset }
    [path: `/user/list/${number}/role`]: { body: SetAppUserRoles; answer: AppUser }
    [path: `/user/list/${number}/status`]: { body: EnableOrDisableAppUser; answer: AppUser }
    [path: `/user/role/${number}`]: { body: UpdateAppRole; answer: AppRole }
    [path: `/user/role/${number}/rule`]: { body: SetAppRolePermissions; answer: AppRole }
    [path: `/user/rule/${number}`]: { body: UpdateAppPermission; answer: AppPermission }
    [path: `/user/rule/${number}/status`]: { body: EnableOrDisableAppPermission; answer: AppPermission }
  }
  DELETE: {
    '/admin/account/device': { body: undefined; answer: Record<string, never> }
    [path: `/admin/account/device/${number}`]: { body: undefined; answer: Record<string, never> }
    [path: `/admin/account/device/${number}/session`]: { body: undefined; answer: Record<string, never> }
    '/admin/account/key': { body: undefined; answer: Record<string, never> }
    [path: `/admin/account/key/${number}`]: { body: undefined; answer: KeyDeleted }
    '/admin/account/passkey': { body: undefined; answer: Record<string, never> }
    [path: `/admin/account/passkey/${number}`]: { body: undefined; answer: Record<string, never> }
    '/admin/account/provider': { body: undefined; answer: Record<string, never> }
    [path: `/admin/account/provider/${number}`]: { body: undefined; answer: Record<string, never> }
    '/admin/account/totp': { body: undefined; answer: Record<string, never> }
    '/admin/act-as': { body: undefined; answer: Record<string, never> }
    '/admin/dept': { body: undefined; answer: Record<string, never> }
    [path: `/admin/dept/${number}`]: { body: undefined; answer: Record<string, never> }
    '/admin/invite': { body: undefined; answer: Record<string, never> }
    [path: `/admin/invite/${number}`]: { body: undefined; answer: Record<string, never> }
    '/admin/key': { body: undefined; answer: Record<string, never> }
    [path: `/admin/key/${number}`]: { body: undefined; answer: KeyDeleted }
    '/admin/list': { body: undefined; answer: Deleted }
    '/admin/list-session': { body: undefined; answer: Signed }
    [path: `/admin/list/${number}`]: { body: undefined; answer: Record<string, never> }
    [path: `/admin/list/${number}/factor`]: { body: undefined; answer: Record<string, never> }
    [path: `/admin/list/${number}/lockout`]: { body: undefined; answer: Record<string, never> }
    '/admin/role': { body: undefined; answer: Record<string, never> }
    [path: `/admin/role/${number}`]: { body: undefined; answer: Record<string, never> }
    '/admin/rule': { body: undefined; answer: Record<string, never> }
    [path: `/admin/rule/${number}`]: { body: undefined; answer: Record<string, never> }
    '/admin/session': { body: undefined; answer: Record<string, never> }
    [path: `/admin/session/${number}`]: { body: undefined; answer: Record<string, never> }
    '/admin/view': { body: undefined; answer: Record<string, never> }
    [path: `/admin/view/${number}`]: { body: undefined; answer: Record<string, never> }
    '/api/session': { body: undefined; answer: Record<string, never> }
    [path: `/api/session/${number}`]: { body: undefined; answer: Record<string, never> }
    '/api/user': { body: DeleteOwnAppUser; answer: Record<string, never> }
    '/api/user/passkey': { body: RemovePasskeyAsAppUser; answer: Record<string, never> }
    '/api/user/totp': { body: RemoveAuthenticatorAppAsAppUser; answer: Record<string, never> }
    '/file/group': { body: undefined; answer: Record<string, never> }
    [path: `/file/group/${number}`]: { body: undefined; answer: Record<string, never> }
    '/file/list': { body: undefined; answer: Deleted }
    [path: `/file/list/${number}`]: { body: undefined; answer: Record<string, never> }
    [path: `/file/list/${number}/version`]: { body: undefined; answer: Record<string, never> }
    [path: `/file/list/${number}/version/${number}`]: { body: undefined; answer: Record<string, never> }
    '/file/trash': { body: undefined; answer: Record<string, never> }
    [path: `/file/trash/${number}`]: { body: undefined; answer: Record<string, never> }
    '/system/dict': { body: undefined; answer: Record<string, never> }
    [path: `/system/dict/${number}`]: { body: undefined; answer: Record<string, never> }
    [path: `/system/dict/${number}/item`]: { body: undefined; answer: Record<string, never> }
    [path: `/system/dict/${number}/item/${number}`]: { body: undefined; answer: Record<string, never> }
    '/system/field': { body: undefined; answer: Record<string, never> }
    [path: `/system/field/${number}`]: { body: undefined; answer: Record<string, never> }
    '/system/mail': { body: undefined; answer: Record<string, never> }
    [path: `/system/mail/${number}`]: { body: undefined; answer: Record<string, never> }
    '/system/monitor/trace': { body: undefined; answer: Record<string, never> }
    [path: `/system/monitor/trace/${number}`]: { body: undefined; answer: Record<string, never> }
    '/system/provider': { body: undefined; answer: Record<string, never> }
    '/system/provider-person': { body: undefined; answer: Record<string, never> }
    [path: `/system/provider-person/${number}`]: { body: undefined; answer: Record<string, never> }
    [path: `/system/provider/${number}`]: { body: undefined; answer: Record<string, never> }
    '/system/session': { body: undefined; answer: Record<string, never> }
    [path: `/system/session/${number}`]: { body: undefined; answer: Record<string, never> }
    '/system/setting': { body: undefined; answer: Record<string, never> }
    '/system/setting-group': { body: undefined; answer: Record<string, never> }
    [path: `/system/setting-group/${number}`]: { body: undefined; answer: Record<string, never> }
    [path: `/system/setting/${number}`]: { body: undefined; answer: Record<string, never> }
    '/system/webhook': { body: undefined; answer: Record<string, never> }
    [path: `/system/webhook/${number}`]: { body: undefined; answer: Record<string, never> }
    '/user/invite': { body: undefined; answer: Record<string, never> }
    [path: `/user/invite/${number}`]: { body: undefined; answer: Record<string, never> }
    '/user/list': { body: undefined; answer: Deleted }
    '/user/list-session': { body: undefined; answer: Signed }
    [path: `/user/list/${number}`]: { body: undefined; answer: Record<string, never> }
    [path: `/user/list/${number}/factor`]: { body: undefined; answer: Record<string, never> }
    [path: `/user/list/${number}/lockout`]: { body: undefined; answer: Record<string, never> }
    '/user/role': { body: undefined; answer: Record<string, never> }
    [path: `/user/role/${number}`]: { body: undefined; answer: Record<string, never> }
    '/user/rule': { body: undefined; answer: Record<string, never> }
    [path: `/user/rule/${number}`]: { body: undefined; answer: Record<string, never> }
  }
}
