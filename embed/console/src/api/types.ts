// Made by scripts/types.mjs from the OpenAPI document; not to be edited.

export type AppUser = {
  avatar_url: string
  created_at: string
  email: string
  id: number
  login_ip: string
  /** of the last sign-in; null before the first */
  login_time: string | null
  mobile: string
  nickname: string
  /** 1 may sign in, 0 may not */
  status: 0 | 1
  updated_at: string
  username: string
  /** grows with every change of the record */
  version: number
}

export type AppUserPage = {
  /** the number of this page, from 1 */
  current: number
  /** the records of this page */
  data: AppUser[]
  pageSize: number
  /** how many records match */
  total: number
}

export type AuthEvent = {
  /** the permission that was asked for */
  ability: string
  address: string
  /** of the machine that the server runs on */
  host_name: string
  /** grows with every event that is kept */
  id: number
  /** the roles that grant the permission */
  matched_by: string[]
  /** of a refusal: its errorCode */
  reason: string
  /** when it happened, or began if it took time */
  recorded_at: string
  /** of the request that it belongs to; empty for none */
  request_id: string
  /** success or failed; of a decision, allowed or denied */
  result: string
  route: string
  /** how many like it this one stands for: more than 1 under load */
  sampled: number
  /** login, login_failed, locked, logout, revoked, password_changed or permission */
  type: string
  /** who was signed in; null for nobody */
  user: EventUser | null
  /** of the user that it is about; of a sign-in with a name that no user has, # and the fingerprint of what was typed */
  username: string
}

export type AuthEventMonitorPage = {
  /** the number of this page, from 1 */
  current: number
  /** the records of this page */
  data: AuthEvent[]
  pageSize: number
  /** how far back it looked, when it had to stop early; total counts to there. null when it saw everything */
  scanned_until: string | null
  /** how many records match */
  total: number
}

export type Avatar = {
  avatar_id: number
  avatar_url: string
}

export type BuildInfo = {
  cpus: number
  go: string
  /** the source was changed since that revision */
  modified: boolean
  platform: string
  /** of the source; empty where the build does not know it */
  revision: string
}

export type CacheEvent = {
  /** settings, rules, permissions, dictionaries, sessions; throttle for the counters of sign-in attempts */
  cache: string
  /** how many times */
  count: number
  duration_ms: number
  generation: number
  /** of the machine that the server runs on */
  host_name: string
  /** grows with every event that is kept */
  id: number
  /** of the entry, in a cache that has several */
  key: string
  /** when it happened, or began if it took time */
  recorded_at: string
  /** of the request that it belongs to; empty for none */
  request_id: string
  route: string
  /** how many like it this one stands for: more than 1 under load */
  sampled: number
  /** Number of entries; of throttle, the value of the counter */
  size: number
  /** hit, miss, set, forget or rebuild; hits are added up */
  type: string
  /** who was signed in; null for nobody */
  user: EventUser | null
}

export type CacheEventMonitorPage = {
  /** the number of this page, from 1 */
  current: number
  /** the records of this page */
  data: CacheEvent[]
  pageSize: number
  /** how far back it looked, when it had to stop early; total counts to there. null when it saw everything */
  scanned_until: string | null
  /** how many records match */
  total: number
}

export type CacheInfo = {
  computed_at: string
  /** how often it was computed since the start */
  generation: number
  name: string
  /** that it is computed from */
  records: number
}

export type CollectionInfo = {
  name: string
  records: number
}

export type ConfigValue = {
  key: string
  /** default, file, environment or flag */
  source: string
  /** secrets are masked */
  value: string
}

export type CreateAppUser = {
  /** unique when given */
  email?: string
  mobile?: string
  nickname?: string
  /** any characters; absent: generated, returned once, and must be changed */
  password?: string
  /** 1 when absent at creation; 0 ends the sessions */
  status?: 0 | 1
  /** 3 to 32 of letters, digits, . _ and -; unique without regard to case */
  username: string
}

export type CreateDept = {
  email?: string
  leader?: string
  name: string
  /** 0 at the top */
  parent_id?: number
  phone?: string
  sort?: number
  /** 1 when absent at creation */
  status?: 0 | 1
}

export type CreateDict = {
  /** what programs call it; unique */
  code: string
  describe?: string
  name: string
  /** 0 hides it from GET /admin/dict; 1 when absent at creation */
  status?: 0 | 1
  /** how an item is shown; default when absent at creation */
  type?: "default" | "badge" | "tag"
}

export type CreateDictItem = {
  /** what is shown */
  label: string
  sort?: number
  /** the colour; default when absent at creation */
  status?: "default" | "success" | "error" | "processing" | "warning"
  /** 0 hides it from GET /admin/dict; 1 when absent at creation */
  switch?: 0 | 1
  /** what is stored; unique in its dictionary */
  value: string
}

export type CreateFileGroup = {
  describe?: string
  /** unique without regard to case */
  name: string
  sort?: number
}

export type CreateFileLink = {
  /** how long it lives, 300 when absent; it ends with the session that made it */
  seconds?: number
}

export type CreatePermission = {
  icon?: string
  /** unique; what routes and buttons ask for */
  key: string
  /** the key of a translated name */
  local?: string
  name: string
  /** a menu or a page; 0 at the top */
  parent_id?: number
  /** of the page */
  path?: string
  /** in the menu; 1 when absent at creation */
  show?: 0 | 1
  sort?: number
  /** 1 when absent at creation */
  status?: 0 | 1
  /** 0 menu, 1 page, 2 action */
  type: 0 | 1 | 2
}

export type CreateRole = {
  /** self when absent at creation */
  data_scope?: "all" | "dept_tree" | "dept" | "self" | "custom"
  /** of the scope custom */
  dept_ids?: number[]
  description?: string
  /** roles that a holder may give without holding them; only who holds all their rights can name them */
  grant_role_ids?: number[]
  /** unique without regard to case */
  name: string
  sort?: number
  /** 1 when absent at creation */
  status?: 0 | 1
}

export type CreateSetting = {
  describe?: string
  group_id: number
  /** [a-z][a-z0-9_]*, unique in its group */
  key: string
  /** radio, select and checkbox need them */
  options?: {
  /** what is shown */
  label: string
  /** what is stored */
  value: string
}[]
  /** min, max, step and maxlength are bounds; other names are hints for the console */
  props?: {
  name: string
  value?: string
}[]
  sort?: number
  title: string
  type: "checkbox" | "color" | "date" | "image" | "input" | "json" | "number" | "radio" | "secret" | "select" | "switch" | "textarea" | "time"
  /** the stored text; it must fit type, options and props. A secret is answered as ******, and that sent back means unchanged */
  values?: string
}

export type CreateSettingGroup = {
  /** [a-z][a-z0-9_]*, unique */
  key: string
  /** 1 shows its values to everybody, signed in or not */
  public?: 0 | 1
  remark?: string
  title: string
}

export type CreateUser = {
  /** 0 for none */
  dept_id?: number
  /** unique when given */
  email?: string
  mobile?: string
  nickname?: string
  /** any characters; absent: generated, returned once, and must be changed */
  password?: string
  role_ids?: number[]
  /** 0 not said, 1 male, 2 female */
  sex?: 0 | 1 | 2
  /** 1 when absent at creation; 0 ends the sessions */
  status?: 0 | 1
  /** 3 to 32 of letters, digits, . _ and -; unique without regard to case */
  username: string
}

export type Dept = {
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
  /** in the department itself, without those below it */
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
  /** in the department itself, without those below it */
  user_count: number
  /** grows with every change of the record */
  version: number
}

export type DeptTree = {
  data: DeptNode[]
}

export type Dict = {
  code: string
  created_at: string
  describe: string
  id: number
  name: string
  status: 0 | 1
  /** how an item is shown: default, badge or tag */
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
  /** the colour: default, success, error, processing or warning */
  status: "default" | "success" | "error" | "processing" | "warning"
  /** whether it can be chosen */
  switch: 0 | 1
  updated_at: string
  value: string
  /** grows with every change of the record */
  version: number
}

export type DictItemPage = {
  /** the number of this page, from 1 */
  current: number
  /** the records of this page */
  data: DictItem[]
  pageSize: number
  /** how many records match */
  total: number
}

export type DictPage = {
  /** the number of this page, from 1 */
  current: number
  /** the records of this page */
  data: Dict[]
  pageSize: number
  /** how many records match */
  total: number
}

export type Effective = {
  /** 1 if the user's data scope is everything */
  all: 0 | 1
  /** Number of departments in the user's data scope; 0 if all is 1 */
  dept_count: number
  /** Departments in the user's data scope that are also in yours, by ID, at most 200; none if all is 1 */
  depts: DeptNamed[]
  /** Permission keys that the user holds, sorted; none while the user is disabled */
  keys: string[]
}

export type EnableOrDisableAppUser = {
  status: 0 | 1
  /** as it was read, to milliseconds at the least; 409 stale if the record has changed since */
  updated_at?: string
  /** as it was read; 409 stale if the record has changed since */
  version?: number
}

export type EnableOrDisablePermission = {
  status: 0 | 1
  /** as it was read, to milliseconds at the least; 409 stale if the record has changed since */
  updated_at?: string
  /** as it was read; 409 stale if the record has changed since */
  version?: number
}

export type EnableOrDisableUser = {
  status: 0 | 1
  /** as it was read, to milliseconds at the least; 409 stale if the record has changed since */
  updated_at?: string
  /** as it was read; 409 stale if the record has changed since */
  version?: number
}

export type EventUser = {
  id: number
  /** admin or app */
  realm: string
  username: string
}

export type Explanation = {
  allowed: boolean
  /** 1 if the user's data scope is not everything: users, departments and sessions outside it, and files that users outside it have uploaded, are hidden from the user */
  limited: 0 | 1
  /** the permission, after the ones it lies below */
  path: Step[]
  /** granted, owner, unknown_permission, user_disabled, permission_disabled, parent_disabled, role_disabled, not_granted or no_role */
  reason: string
  /** the roles that grant it; for role_disabled, those that would */
  roles: RoleID[]
}

export type Failure = {
  data: Record<string, never>
  /** stable, snake_case */
  errorCode: string
  /** what is wrong, by field */
  errors?: Record<string, string>
  /** what a person can act on */
  msg: string
  /** also in X-Request-Id and in the log */
  requestId: string
  /** how to show msg: 0 silent success, 1 warning, 2 error, 3 to 5 the same as notifications, 99 not at all */
  showType: 0 | 1 | 2 | 3 | 4 | 5 | 99
  /** false */
  success: boolean
}

export type File = {
  created_at: string
  /** of the name, in lower case, without the dot */
  ext: string
  /** 0 for none */
  group_id: number
  id: number
  /** image, audio, video, archive, document or other, as the content tells */
  kind: "image" | "audio" | "video" | "archive" | "document" | "other"
  /** the media type, as the content tells */
  mime: string
  name: string
  public: 0 | 1
  sha256: string
  /** bytes */
  size: number
  updated_at: string
  uploader_id: number
  /** as it was at the upload */
  uploader_name: string
  /** of the bytes: for everybody if it is public, else with a token */
  url: string
  /** grows with every change of the record */
  version: number
}

export type FileGroup = {
  created_at: string
  describe: string
  /** of everybody, without those in the trash */
  file_count: number
  id: number
  name: string
  sort: number
  updated_at: string
  /** grows with every change of the record */
  version: number
}

export type FileGroupPage = {
  /** the number of this page, from 1 */
  current: number
  /** the records of this page */
  data: FileGroup[]
  pageSize: number
  /** how many records match */
  total: number
}

export type FilePage = {
  /** the number of this page, from 1 */
  current: number
  /** the records of this page */
  data: File[]
  /** how many records of the whole list, whatever the parameters, are outside your data scope; absent if none */
  hidden?: number
  pageSize: number
  /** how many records match */
  total: number
}

export type Files = {
  data: File[]
}

export type Health = {
  /** ok; anything else is an error answer */
  status: string
}

export type Home = {
  /** 1 while the generated password of the first user waits in the file initial-password of the data directory; absent afterwards */
  first_sign_in?: 0 | 1
  /** an address, or empty */
  logo: string
  /** the public setting groups */
  settings: Record<string, Record<string, unknown>>
  /** the server's clock */
  time: string
  title: string
}

export type Import = {
  /** Users created so far, 0 in a dry run; all of them once the job is done */
  created: number
  dry_run: 0 | 1
  /** Rows that cannot be imported */
  failed: number
  /** The job that creates the users; null in a dry run. It is still running if it takes longer than half a minute */
  job: Job | null
  rows: Verdict[]
}

export type ImportUsers = {
  /** utf-8, utf-16le, utf-16be, windows-1252 or gb18030; when absent, a byte order mark or the content decides. Also a parameter of the query */
  charset?: string
  /** 1 reports what would happen and changes nothing; also a parameter of the query */
  dry_run?: 0 | 1
  file: string
}

export type Info = {
  /** the permission keys that the user holds */
  access: string[]
  info: User
  /** when this installation was made */
  installed_at: string
  /** the shown, enabled menus and pages that the user may open, as a tree */
  menus: PermissionNode[]
}

export type Job = {
  created_at: string
  /** Records changed so far; of a failed job none remain changed */
  done: number
  /** null until the job is done or failed */
  ended_at: string | null
  /** What is wrong, by field */
  errors?: Record<string, string>
  id: number
  /** What the job does: user_import or user_update */
  kind: string
  /** Why the job failed; empty otherwise */
  msg: string
  /** preparing, running, undoing, done or failed */
  state: "preparing" | "running" | "undoing" | "done" | "failed"
  /** Records to change */
  total: number
  updated_at: string
  /** ID of the user who started it */
  user_id: number
  username: string
}

export type JobPage = {
  /** the number of this page, from 1 */
  current: number
  /** the records of this page */
  data: Job[]
  pageSize: number
  /** how many records match */
  total: number
}

export type KeptCopy = {
  created_at: string
  name: string
  schema: number
  size_bytes: number
}

export type Link = {
  expires_at: string
  url: string
}

export type Login = {
  /** send it with the next sign-in of this user from this device; also set as a cookie */
  device_token: string
  /** at the latest; an idle session ends sooner */
  expires_at: string
  must_change_password: 0 | 1
  /** goes into the header Authorization: Bearer <token> */
  token: string
}

export type LoginLog = {
  /** 0 unless an app user signed in */
  app_user_id: number
  /** Time of the attempt if the row was kept in memory while the disk was full and stored later; null otherwise */
  attempted_at: string | null
  browser: string
  /** attempts that this row stands for */
  count: number
  created_at: string
  /** of the name that was typed, if no user had it: the same for the same name; else empty */
  fingerprint: string
  id: number
  ip: string
  os: string
  /** admin or app */
  realm: string
  /** of a failure: unknown_user, wrong_password, disabled */
  reason: string
  /** success, failed or throttled */
  result: string
  /** 0 when none was opened */
  session_id: number
  updated_at: string
  /** 0 when nobody has that name, or it is an app user's */
  user_id: number
  /** as typed, if a user had this name; else empty */
  username: string
}

export type LoginLogPage = {
  /** the number of this page, from 1 */
  current: number
  /** the records of this page */
  data: LoginLog[]
  pageSize: number
  /** how many records match */
  total: number
}

export type MemoryInfo = {
  /** RssAnon of the process; 0 where the system does not tell */
  anonymous_bytes: number
  goroutines: number
  heap_bytes: number
}

export type NewAppUser = {
  avatar_url: string
  created_at: string
  email: string
  id: number
  login_ip: string
  /** of the last sign-in; null before the first */
  login_time: string | null
  mobile: string
  nickname: string
  /** only if it was generated, and only here */
  password?: string
  /** 1 may sign in, 0 may not */
  status: 0 | 1
  updated_at: string
  username: string
  /** grows with every change of the record */
  version: number
}

export type NewUser = {
  /** 0 for none */
  avatar_id: number
  avatar_url: string
  created_at: string
  /** 0 for none */
  dept_id: number
  dept_name: string
  email: string
  id: number
  login_ip: string
  /** of the last sign-in; null before the first */
  login_time: string | null
  mobile: string
  must_change_password: 0 | 1
  nickname: string
  /** only if it was generated, and only here */
  password?: string
  role_ids: number[]
  /** in the order of role_ids */
  role_names: string[]
  /** 0 not said, 1 male, 2 female */
  sex: 0 | 1 | 2
  /** 1 may sign in, 0 may not */
  status: 0 | 1
  updated_at: string
  username: string
  /** grows with every change of the record */
  version: number
}

export type OpenDict = {
  /** those that are switched on, by sort, then id */
  items: OpenItem[]
  name: string
  /** how an item is shown: default is its label alone, badge and tag have its status as colour */
  type: "default" | "badge" | "tag"
}

export type OpenItem = {
  /** what is shown */
  label: string
  /** the colour: default, success, error, processing or warning */
  status: "default" | "success" | "error" | "processing" | "warning"
  /** what is stored; unique in its dictionary */
  value: string
}

export type Option = {
  /** what is shown */
  label: string
  /** what is stored */
  value: string
}

export type ParentNodeNode = {
  children?: ParentNodeNode[]
  id: number
  name: string
  /** 0 at the top */
  parent_id: number
}

export type ParentNodeTree = {
  data: ParentNodeNode[]
}

export type Part = {
  /** by name, with the unit at its end */
  figures: Record<string, number>
  name: string
  /** since when it has failed, where that is known */
  since: string | null
  /** ok, checking, degraded or failed */
  state: string
  text: string
}

export type Permission = {
  created_at: string
  icon: string
  id: number
  key: string
  local: string
  name: string
  parent_id: number
  path: string
  show: 0 | 1
  sort: number
  status: 0 | 1
  type: 0 | 1 | 2
  updated_at: string
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
  parent_id: number
  path: string
  show: 0 | 1
  sort: number
  status: 0 | 1
  type: 0 | 1 | 2
  updated_at: string
  /** grows with every change of the record */
  version: number
}

export type PermissionTree = {
  data: PermissionNode[]
}

export type Prop = {
  name: string
  value: string
}

export type QueryEvent = {
  /** of the records looked at */
  bytes: number
  /** file:line in the program */
  caller: string
  /** for the disk, shared with the writes of the same commit */
  commit_ms: number
  /** the database file */
  connection: string
  duration_ms: number
  /** records and index entries looked at */
  examined: number
  /** of the machine that the server runs on */
  host_name: string
  /** grows with every event that is kept */
  id: number
  /** read or write */
  mode: string
  /** 1 when its request repeats the statement five times or more */
  n_plus_one: 0 | 1
  /** get, index or scan; put or delete */
  plan: string
  /** when it happened, or began if it took time */
  recorded_at: string
  /** of the request that it belongs to; empty for none */
  request_id: string
  returned: number
  route: string
  /** how many like it this one stands for: more than 1 under load */
  sampled: number
  slow: 0 | 1
  /** with ? for values, which are never kept */
  statement: string
  /** who was signed in; null for nobody */
  user: EventUser | null
  /** for its turn to write */
  wait_ms: number
}

export type QueryEventMonitorPage = {
  /** the number of this page, from 1 */
  current: number
  /** the records of this page */
  data: QueryEvent[]
  pageSize: number
  /** how far back it looked, when it had to stop early; total counts to there. null when it saw everything */
  scanned_until: string | null
  /** how many records match */
  total: number
}

export type RedisInfo = {
  connected_clients: number
  /** since the last poll */
  evicted_keys: number
  /** since the last poll */
  expired_keys: number
  /** 0 to 1: what part of the keys read since the last poll was there; null if none was read */
  hit_rate: number | null
  /** by database, those that have any: db0, db1 … */
  keys: Record<string, number>
  /** bytes; 0 for no limit */
  maxmemory: number
  /** as the server reckons it, over its last moments */
  ops_per_second: number
  /** connected to this server */
  replicas: number
  /** master or slave, as Redis calls them */
  role: string
  uptime_seconds: number
  /** bytes */
  used_memory: number
  version: string
}

export type RedisRecord = {
  /** of command: executions since the last poll */
  calls?: number
  /** of slowlog: the address of who sent it */
  client?: string
  /** of command and slowlog: in capitals, with its subcommand for command; of embedded: the whole command that the operation stands for */
  command?: string
  /** Name of the target in the configuration; embedded in events of older versions */
  connection: string
  /** of slowlog: milliseconds */
  duration_ms?: number
  /** of state: why it is down; of info: what could not be asked */
  error?: string
  /** of slowlog: when it began, by the Redis server's clock, to the second */
  executed_at?: string
  /** of the machine that the server runs on */
  host_name: string
  /** grows with every event that is kept */
  id: number
  /** of info */
  info?: RedisInfo
  /** of slowlog: the first key, cut; other arguments are never read out */
  key?: string
  /** when it happened, or began if it took time */
  recorded_at: string
  /** of the request that it belongs to; empty for none */
  request_id: string
  /** how many like it this one stands for: more than 1 under load */
  sampled: number
  /** of state: up or down; down is repeated every minute */
  state?: string
  /** info: figures of the whole server; command: what one command cost since the last poll; slowlog: one slow execution; state: the server went or came back */
  type: string
  /** of command: microseconds they took together */
  usec?: number
  /** of command: microseconds each took on average */
  usec_per_call?: number
  /** who was signed in; null for nobody */
  user: EventUser | null
}

export type RedisRecordMonitorPage = {
  /** the number of this page, from 1 */
  current: number
  /** the records of this page */
  data: RedisRecord[]
  pageSize: number
  /** how far back it looked, when it had to stop early; total counts to there. null when it saw everything */
  scanned_until: string | null
  /** how many records match */
  total: number
}

export type Refresh = {
  /** settings in the cache */
  count: number
  /** how often the cache was built since the start */
  generation: number
  took_ms: number
}

export type RegisterAsAppUser = {
  /** unique when given */
  email?: string
  mobile?: string
  nickname?: string
  /** any characters */
  password: string
  /** 3 to 32 of letters, digits, . _ and -; unique without regard to case */
  username: string
}

export type RequestEvent = {
  /** of the client */
  address: string
  bytes_in: number
  bytes_out: number
  duration_ms: number
  /** the errorCode of a failure */
  error: string
  /** how many other events belong to it */
  events: number
  handler: string
  /** Time spent hashing the password of a sign-in; absent for none */
  hash_ms?: number
  /** Time a sign-in waited to be hashed; absent for none */
  hash_wait_ms?: number
  /** those that tell nothing secret */
  headers: Record<string, string>
  /** of the machine that the server runs on */
  host_name: string
  /** grows with every event that is kept */
  id: number
  /** Time spent decoding and scaling an image for a thumbnail, waiting included; absent for none */
  image_ms?: number
  /** what a failure said, secrets hidden */
  message: string
  method: string
  /** the JSON body up to 4 KiB, secrets hidden */
  payload: string
  /** when it happened, or began if it took time */
  recorded_at: string
  /** of the request that it belongs to; empty for none */
  request_id: string
  /** the address as the interface describes it; empty for none */
  route: string
  /** how many like it this one stands for: more than 1 under load */
  sampled: number
  slow: 0 | 1
  /** 499 if the client closed the connection before the answer was complete */
  status: number
  /** spent in the store, waiting left out */
  store_ms: number
  /** as it was asked for, secrets hidden */
  uri: string
  /** who was signed in; null for nobody */
  user: EventUser | null
  user_agent: string
  /** spent waiting for its turn to write */
  wait_ms: number
}

export type RequestEventMonitorPage = {
  /** the number of this page, from 1 */
  current: number
  /** the records of this page */
  data: RequestEvent[]
  pageSize: number
  /** how far back it looked, when it had to stop early; total counts to there. null when it saw everything */
  scanned_until: string | null
  /** how many records match */
  total: number
}

export type RequestPart = {
  /** any JSON value */
  event: unknown
  /** auth, query, cache or redis: as in the list of that name */
  kind: string
}

export type RequestStory = {
  /** in the order in which they happened; those of caches and Redis only with the data scope all */
  events: RequestPart[]
  request: RequestEvent
}

export type Reset = {
  /** only if it was generated, and only here */
  password?: string
}

export type ResetAppUserPassword = {
  /** absent: generated and returned once; must be changed either way */
  password?: string
}

export type ResetUserPassword = {
  /** absent: generated and returned once; must be changed either way */
  password?: string
}

export type Role = {
  created_at: string
  /** all, dept_tree, dept, self or custom */
  data_scope: "all" | "dept_tree" | "dept" | "self" | "custom"
  /** of the scope custom */
  dept_ids: number[]
  description: string
  /** roles that a holder may give without holding them */
  grant_role_ids: number[]
  id: number
  name: string
  /** the permissions granted; the owner role holds all without naming them */
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
  /** the number of this page, from 1 */
  current: number
  /** the records of this page */
  data: Role[]
  pageSize: number
  /** how many records match */
  total: number
}

export type SaveSettingValues = {
  /** by group.key; a text, or the value by the setting's type. A security setting also needs the permission system.security.save */
  values: Record<string, unknown>
}

export type Session = {
  /** 0 for a user's */
  app_user_id: number
  browser: string
  created_at: string
  /** 1 for the session that asks */
  current: 0 | 1
  /** at the latest; an idle session ends sooner */
  expires_at: string
  id: number
  ip: string
  /** to a minute */
  last_used: string
  os: string
  updated_at: string
  /** 0 for an app user's */
  user_id: number
  username: string
}

export type SessionPage = {
  /** the number of this page, from 1 */
  current: number
  /** the records of this page */
  data: Session[]
  pageSize: number
  /** how many records match */
  total: number
}

export type SetOwnPicture = {
  file: string
}

export type SetRolePermissions = {
  /** replaces the set; each stands for itself, not for those below or above */
  rule_ids: number[]
  /** as it was read, to milliseconds at the least; 409 stale if the record has changed since */
  updated_at?: string
  /** as it was read; 409 stale if the record has changed since */
  version?: number
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
  type: "checkbox" | "color" | "date" | "image" | "input" | "json" | "number" | "radio" | "secret" | "select" | "switch" | "textarea" | "time"
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
  /** the number of this page, from 1 */
  current: number
  /** the records of this page */
  data: SettingGroup[]
  pageSize: number
  /** how many records match */
  total: number
}

export type SettingPage = {
  /** the number of this page, from 1 */
  current: number
  /** the records of this page */
  data: Setting[]
  pageSize: number
  /** how many records match */
  total: number
}

export type ShowOrHidePermission = {
  show: 0 | 1
  /** as it was read, to milliseconds at the least; 409 stale if the record has changed since */
  updated_at?: string
  /** as it was read; 409 stale if the record has changed since */
  version?: number
}

export type SignIn = {
  /** device_token of an earlier sign-in; browsers send it as a cookie. It keeps a known device from being rate-limited with strangers, and proves nothing */
  device_token?: string
  password: string
  username: string
}

export type SignInAsAppUser = {
  /** device_token of an earlier sign-in; browsers send it as a cookie. It keeps a known device from being rate-limited with strangers, and proves nothing */
  device_token?: string
  password: string
  username: string
}

export type StartTrace = {
  /** requests from this address */
  ip?: string
  /** 5 when absent */
  minutes?: number
  /** requests of this route, like /admin/list or PUT /admin/list/:id */
  route?: string
  /** requests of this user of the backend */
  user_id?: number
}

export type Stats = {
  /** requests since the start of which no events could be kept */
  dropped: number
  from: string
  /** 1 when the caller's data scope is limited: users are only those in it, and what cannot be told apart by user (series, total, routes, dropped) is left out */
  limited: 0 | 1
  /** the 20 that took most time in all */
  routes: StatsRoute[]
  /** without points in which nothing happened */
  series: StatsPoint[]
  /** seconds */
  step: number
  to: string
  total?: StatsPoint
  /** the 20 with most requests, about */
  users: StatsUser[]
}

export type StatsPoint = {
  /** answered with 5xx, or broken off */
  failed: number
  /** answered with 2xx or 3xx */
  ok: number
  p50_ms: number
  p95_ms: number
  p99_ms: number
  /** answered with 4xx */
  refused: number
  requests: number
  /** when the step begins */
  time: string
}

export type StatsRoute = {
  /** answered with 4xx or 5xx */
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
  /** which hold nothing and are used again */
  free_bytes: number
  name: string
  size_bytes: number
}

export type SystemHealth = {
  parts: Part[]
  /** the worst of the parts */
  state: string
}

export type SystemInfo = {
  build: BuildInfo
  caches: CacheInfo[]
  collections: CollectionInfo[]
  /** in effect */
  config: ConfigValue[]
  /** the database files */
  files: StoredFile[]
  /** copies of the database from before migrations; once the new version is trusted they can be removed */
  kept: KeptCopy[]
  /** when a backup was last downloaded completely; null before the first */
  last_backup_at: string | null
  memory: MemoryInfo
  /** the name of the oldest of them; empty without any */
  oldest_kept: string
  started_at: string
  uptime_seconds: number
  version: string
}

export type Trace = {
  created_by: string
  /** null while it runs */
  ended_at: string | null
  /** at the latest */
  ends_at: string
  id: number
  /** empty for any */
  ip: string
  /** requests so far */
  matched: number
  /** empty for any */
  route: string
  started_at: string
  /** 0 for anybody */
  user_id: number
  /** of user_id; empty for anybody, for a user who is gone, and out of the data scope */
  username: string
}

export type TraceList = {
  data: Trace[]
}

export type TrashedFile = {
  created_at: string
  /** of the name, in lower case, without the dot */
  ext: string
  /** 0 for none */
  group_id: number
  id: number
  /** image, audio, video, archive, document or other, as the content tells */
  kind: "image" | "audio" | "video" | "archive" | "document" | "other"
  /** the media type, as the content tells */
  mime: string
  name: string
  public: 0 | 1
  sha256: string
  /** bytes */
  size: number
  trashed_at: string
  updated_at: string
  uploader_id: number
  /** as it was at the upload */
  uploader_name: string
  /** of the bytes: for everybody if it is public, else with a token */
  url: string
  /** grows with every change of the record */
  version: number
}

export type TrashedFilePage = {
  /** the number of this page, from 1 */
  current: number
  /** the records of this page */
  data: TrashedFile[]
  /** how many records of the whole list, whatever the parameters, are outside your data scope; absent if none */
  hidden?: number
  pageSize: number
  /** how many records match */
  total: number
}

export type UpdateAppUser = {
  /** unique when given */
  email?: string
  mobile?: string
  nickname?: string
  /** 1 when absent at creation; 0 ends the sessions */
  status?: 0 | 1
  /** as it was read, to milliseconds at the least; 409 stale if the record has changed since */
  updated_at?: string
  /** 3 to 32 of letters, digits, . _ and -; unique without regard to case */
  username?: string
  /** as it was read; 409 stale if the record has changed since */
  version?: number
}

export type UpdateDept = {
  email?: string
  leader?: string
  name?: string
  /** 0 at the top */
  parent_id?: number
  phone?: string
  sort?: number
  /** 1 when absent at creation */
  status?: 0 | 1
  /** as it was read, to milliseconds at the least; 409 stale if the record has changed since */
  updated_at?: string
  /** as it was read; 409 stale if the record has changed since */
  version?: number
}

export type UpdateDict = {
  /** what programs call it; unique */
  code?: string
  describe?: string
  name?: string
  /** 0 hides it from GET /admin/dict; 1 when absent at creation */
  status?: 0 | 1
  /** how an item is shown; default when absent at creation */
  type?: "default" | "badge" | "tag"
  /** as it was read, to milliseconds at the least; 409 stale if the record has changed since */
  updated_at?: string
  /** as it was read; 409 stale if the record has changed since */
  version?: number
}

export type UpdateDictItem = {
  /** what is shown */
  label?: string
  sort?: number
  /** the colour; default when absent at creation */
  status?: "default" | "success" | "error" | "processing" | "warning"
  /** 0 hides it from GET /admin/dict; 1 when absent at creation */
  switch?: 0 | 1
  /** as it was read, to milliseconds at the least; 409 stale if the record has changed since */
  updated_at?: string
  /** what is stored; unique in its dictionary */
  value?: string
  /** as it was read; 409 stale if the record has changed since */
  version?: number
}

export type UpdateFileGroup = {
  describe?: string
  /** unique without regard to case */
  name?: string
  sort?: number
  /** as it was read, to milliseconds at the least; 409 stale if the record has changed since */
  updated_at?: string
  /** as it was read; 409 stale if the record has changed since */
  version?: number
}

export type UpdateFileRecord = {
  /** 0 for none */
  group_id?: number
  name?: string
  /** 1 gives it an address for everybody, a new one each time */
  public?: 0 | 1
  /** as it was read, to milliseconds at the least; 409 stale if the record has changed since */
  updated_at?: string
  /** as it was read; 409 stale if the record has changed since */
  version?: number
}

export type UpdateFileRecords = {
  /** 0 for none */
  group_id?: number
  /** 1 gives it an address for everybody, a new one each time */
  public?: 0 | 1
}

export type UpdateOwnAccount = {
  /** unique when given */
  email?: string
  mobile?: string
  nickname?: string
  /** the current password; needed to change email */
  password?: string
  /** 0 not said, 1 male, 2 female */
  sex?: 0 | 1 | 2
  /** as it was read, to milliseconds at the least; 409 stale if the record has changed since */
  updated_at?: string
  /** as it was read; 409 stale if the record has changed since */
  version?: number
}

export type UpdateOwnAppPassword = {
  /** any characters */
  new_password: string
  old_password: string
}

export type UpdateOwnAppUser = {
  /** unique when given */
  email?: string
  mobile?: string
  nickname?: string
  /** the current password; needed to change email */
  password?: string
  /** as it was read, to milliseconds at the least; 409 stale if the record has changed since */
  updated_at?: string
  /** as it was read; 409 stale if the record has changed since */
  version?: number
}

export type UpdateOwnPassword = {
  /** any characters */
  new_password: string
  old_password: string
}

export type UpdatePermission = {
  icon?: string
  /** unique; what routes and buttons ask for */
  key?: string
  /** the key of a translated name */
  local?: string
  name?: string
  /** a menu or a page; 0 at the top */
  parent_id?: number
  /** of the page */
  path?: string
  /** in the menu; 1 when absent at creation */
  show?: 0 | 1
  sort?: number
  /** 1 when absent at creation */
  status?: 0 | 1
  /** 0 menu, 1 page, 2 action */
  type?: 0 | 1 | 2
  /** as it was read, to milliseconds at the least; 409 stale if the record has changed since */
  updated_at?: string
  /** as it was read; 409 stale if the record has changed since */
  version?: number
}

export type UpdateRole = {
  /** self when absent at creation */
  data_scope?: "all" | "dept_tree" | "dept" | "self" | "custom"
  /** of the scope custom */
  dept_ids?: number[]
  description?: string
  /** roles that a holder may give without holding them; only who holds all their rights can name them */
  grant_role_ids?: number[]
  /** unique without regard to case */
  name?: string
  sort?: number
  /** 1 when absent at creation */
  status?: 0 | 1
  /** as it was read, to milliseconds at the least; 409 stale if the record has changed since */
  updated_at?: string
  /** as it was read; 409 stale if the record has changed since */
  version?: number
}

export type UpdateSetting = {
  describe?: string
  group_id?: number
  /** [a-z][a-z0-9_]*, unique in its group */
  key?: string
  /** radio, select and checkbox need them */
  options?: {
  /** what is shown */
  label: string
  /** what is stored */
  value: string
}[]
  /** min, max, step and maxlength are bounds; other names are hints for the console */
  props?: {
  name: string
  value?: string
}[]
  sort?: number
  title?: string
  type?: "checkbox" | "color" | "date" | "image" | "input" | "json" | "number" | "radio" | "secret" | "select" | "switch" | "textarea" | "time"
  /** as it was read, to milliseconds at the least; 409 stale if the record has changed since */
  updated_at?: string
  /** the stored text; it must fit type, options and props. A secret is answered as ******, and that sent back means unchanged */
  values?: string
}

export type UpdateSettingGroup = {
  /** [a-z][a-z0-9_]*, unique */
  key?: string
  /** 1 shows its values to everybody, signed in or not */
  public?: 0 | 1
  remark?: string
  title?: string
  /** as it was read, to milliseconds at the least; 409 stale if the record has changed since */
  updated_at?: string
  /** as it was read; 409 stale if the record has changed since */
  version?: number
}

export type UpdateUser = {
  /** 0 for none */
  dept_id?: number
  /** unique when given */
  email?: string
  mobile?: string
  nickname?: string
  role_ids?: number[]
  /** 0 not said, 1 male, 2 female */
  sex?: 0 | 1 | 2
  /** 1 when absent at creation; 0 ends the sessions */
  status?: 0 | 1
  /** as it was read, to milliseconds at the least; 409 stale if the record has changed since */
  updated_at?: string
  /** 3 to 32 of letters, digits, . _ and -; unique without regard to case */
  username?: string
  /** as it was read; 409 stale if the record has changed since */
  version?: number
}

export type UpdateUsers = {
  /** 0 for none. Requires the permission admin.list.update */
  dept_id?: number
  /** Replace the roles of each user. Requires the permission admin.list.update */
  role_ids?: number[]
  /** 0 ends the sessions. Requires the permission admin.list.status */
  status?: 0 | 1
}

export type UploadFiles = {
  file: string[]
  /** absent or 0 for none */
  group_id?: number
  /** 1 lets everybody read it who knows its address */
  public?: 0 | 1
}

export type User = {
  /** 0 for none */
  avatar_id: number
  avatar_url: string
  created_at: string
  /** 0 for none */
  dept_id: number
  dept_name: string
  email: string
  id: number
  login_ip: string
  /** of the last sign-in; null before the first */
  login_time: string | null
  mobile: string
  must_change_password: 0 | 1
  nickname: string
  role_ids: number[]
  /** in the order of role_ids */
  role_names: string[]
  /** 0 not said, 1 male, 2 female */
  sex: 0 | 1 | 2
  /** 1 may sign in, 0 may not */
  status: 0 | 1
  updated_at: string
  username: string
  /** grows with every change of the record */
  version: number
}

export type UserPage = {
  /** the number of this page, from 1 */
  current: number
  /** the records of this page */
  data: User[]
  pageSize: number
  /** how many records match */
  total: number
}

export type UsersChanged = {
  /** Number of users changed, or in a dry run that would be changed; users who already have the values do not count */
  count: number
  /** The job that changes more than 100 users, or ends many sessions. It is still running if it takes longer than half a minute */
  job?: Job
}

export type Verdict = {
  /** what is wrong, by column */
  errors?: Record<string, string>
  /** in the file, the header being 1 */
  line: number
  ok: boolean
  username: string
}

/** The permissions that operations ask for. */
export type Access =
  | 'admin.dept.create'
  | 'admin.dept.delete'
  | 'admin.dept.query'
  | 'admin.dept.update'
  | 'admin.list.create'
  | 'admin.list.delete'
  | 'admin.list.export'
  | 'admin.list.import'
  | 'admin.list.password'
  | 'admin.list.query'
  | 'admin.list.status'
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
  | 'system.backup'
  | 'system.dict.create'
  | 'system.dict.delete'
  | 'system.dict.item.create'
  | 'system.dict.item.delete'
  | 'system.dict.item.query'
  | 'system.dict.item.update'
  | 'system.dict.query'
  | 'system.dict.update'
  | 'system.info'
  | 'system.info.acknowledge'
  | 'system.job.query'
  | 'system.loginlog.query'
  | 'system.monitor.auth'
  | 'system.monitor.cache'
  | 'system.monitor.query'
  | 'system.monitor.redis'
  | 'system.monitor.request'
  | 'system.monitor.stats'
  | 'system.monitor.trace'
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
  | 'user.list.create'
  | 'user.list.delete'
  | 'user.list.password'
  | 'user.list.query'
  | 'user.list.status'
  | 'user.list.update'

/** The operations, by method and path. */
export type Api = {
  GET: {
    '/admin/dept': { body: undefined; answer: DeptTree }
    [path: `/admin/dept/${number}`]: { body: undefined; answer: Dept }
    '/admin/dict': { body: undefined; answer: Record<string, OpenDict> }
    '/admin/info': { body: undefined; answer: Info }
    '/admin/job': { body: undefined; answer: JobPage }
    [path: `/admin/job/${number}`]: { body: undefined; answer: Job }
    '/admin/list': { body: undefined; answer: UserPage }
    '/admin/list-export': { body: undefined; answer: unknown }
    [path: `/admin/list/${number}`]: { body: undefined; answer: User }
    '/admin/loginlog': { body: undefined; answer: LoginLogPage }
    '/admin/permission/effective': { body: undefined; answer: Effective }
    '/admin/permission/explain': { body: undefined; answer: Explanation }
    '/admin/role': { body: undefined; answer: RolePage }
    [path: `/admin/role/${number}`]: { body: undefined; answer: Role }
    '/admin/rule': { body: undefined; answer: PermissionTree }
    [path: `/admin/rule-node/${number}`]: { body: undefined; answer: Permission }
    '/admin/rule/parent': { body: undefined; answer: ParentNodeTree }
    '/admin/session': { body: undefined; answer: SessionPage }
    '/api/home': { body: undefined; answer: Home }
    '/api/user': { body: undefined; answer: AppUser }
    '/file/group': { body: undefined; answer: FileGroupPage }
    [path: `/file/group/${number}`]: { body: undefined; answer: FileGroup }
    '/file/list': { body: undefined; answer: FilePage }
    [path: `/file/list/${number}`]: { body: undefined; answer: File }
    [path: `/file/list/${number}/content`]: { body: undefined; answer: unknown }
    [path: `/file/signed/${number}`]: { body: undefined; answer: unknown }
    '/file/trash': { body: undefined; answer: TrashedFilePage }
    '/health': { body: undefined; answer: Health }
    [path: `/media/${string}`]: { body: undefined; answer: unknown }
    '/metrics': { body: undefined; answer: unknown }
    '/openapi.json': { body: undefined; answer: unknown }
    '/system/backup': { body: undefined; answer: unknown }
    '/system/dict': { body: undefined; answer: DictPage }
    [path: `/system/dict/${number}`]: { body: undefined; answer: Dict }
    [path: `/system/dict/${number}/item`]: { body: undefined; answer: DictItemPage }
    '/system/health': { body: undefined; answer: SystemHealth }
    '/system/info': { body: undefined; answer: SystemInfo }
    '/system/job': { body: undefined; answer: JobPage }
    [path: `/system/job/${number}`]: { body: undefined; answer: Job }
    '/system/loginlog': { body: undefined; answer: LoginLogPage }
    '/system/monitor/auth': { body: undefined; answer: AuthEventMonitorPage }
    '/system/monitor/cache': { body: undefined; answer: CacheEventMonitorPage }
    '/system/monitor/query': { body: undefined; answer: QueryEventMonitorPage }
    '/system/monitor/redis': { body: undefined; answer: RedisRecordMonitorPage }
    '/system/monitor/request': { body: undefined; answer: RequestEventMonitorPage }
    [path: `/system/monitor/request/${string}`]: { body: undefined; answer: RequestStory }
    '/system/monitor/stats': { body: undefined; answer: Stats }
    '/system/monitor/trace': { body: undefined; answer: TraceList }
    '/system/session': { body: undefined; answer: SessionPage }
    '/system/setting': { body: undefined; answer: SettingPage }
    '/system/setting-builtin': { body: undefined; answer: Record<string, string[]> }
    '/system/setting-group': { body: undefined; answer: SettingGroupPage }
    [path: `/system/setting-group/${number}`]: { body: undefined; answer: SettingGroup }
    '/system/setting-value': { body: undefined; answer: Record<string, Record<string, unknown>> }
    [path: `/system/setting/${number}`]: { body: undefined; answer: Setting }
    '/user/list': { body: undefined; answer: AppUserPage }
    [path: `/user/list/${number}`]: { body: undefined; answer: AppUser }
  }
  POST: {
    '/admin/avatar': { body: undefined; answer: Avatar }
    '/admin/dept': { body: CreateDept; answer: Dept }
    '/admin/list': { body: CreateUser; answer: NewUser }
    '/admin/list-import': { body: undefined; answer: Import }
    '/admin/login': { body: SignIn; answer: Login }
    '/admin/logout': { body: undefined; answer: Record<string, never> }
    '/admin/role': { body: CreateRole; answer: Role }
    '/admin/rule': { body: CreatePermission; answer: Permission }
    '/api/login': { body: SignInAsAppUser; answer: Login }
    '/api/logout': { body: undefined; answer: Record<string, never> }
    '/api/register': { body: RegisterAsAppUser; answer: Login }
    '/file/group': { body: CreateFileGroup; answer: FileGroup }
    '/file/list': { body: undefined; answer: Files }
    [path: `/file/list/${number}/link`]: { body: CreateFileLink; answer: Link }
    '/system/dict': { body: CreateDict; answer: Dict }
    [path: `/system/dict/${number}/item`]: { body: CreateDictItem; answer: DictItem }
    '/system/health/acknowledge': { body: undefined; answer: SystemHealth }
    '/system/monitor/trace': { body: StartTrace; answer: Trace }
    '/system/setting': { body: CreateSetting; answer: Setting }
    '/system/setting-group': { body: CreateSettingGroup; answer: SettingGroup }
    '/system/setting/refresh': { body: undefined; answer: Refresh }
    '/user/list': { body: CreateAppUser; answer: NewAppUser }
  }
  PUT: {
    [path: `/admin/dept/${number}`]: { body: UpdateDept; answer: Dept }
    '/admin/info': { body: UpdateOwnAccount; answer: User }
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
    '/api/user': { body: UpdateOwnAppUser; answer: AppUser }
    '/api/user/password': { body: UpdateOwnAppPassword; answer: Record<string, never> }
    [path: `/file/group/${number}`]: { body: UpdateFileGroup; answer: FileGroup }
    '/file/list': { body: UpdateFileRecords; answer: Files }
    [path: `/file/list/${number}`]: { body: UpdateFileRecord; answer: File }
    [path: `/file/trash/${number}`]: { body: undefined; answer: File }
    [path: `/system/dict/${number}`]: { body: UpdateDict; answer: Dict }
    [path: `/system/dict/${number}/item/${number}`]: { body: UpdateDictItem; answer: DictItem }
    '/system/setting': { body: SaveSettingValues; answer: Record<string, never> }
    [path: `/system/setting-group/${number}`]: { body: UpdateSettingGroup; answer: SettingGroup }
    [path: `/system/setting/${number}`]: { body: UpdateSetting; answer: Setting }
    [path: `/user/list/${number}`]: { body: UpdateAppUser; answer: AppUser }
    [path: `/user/list/${number}/password`]: { body: ResetAppUserPassword; answer: Reset }
    [path: `/user/list/${number}/status`]: { body: EnableOrDisableAppUser; answer: AppUser }
  }
  DELETE: {
    '/admin/dept': { body: undefined; answer: Record<string, never> }
    [path: `/admin/dept/${number}`]: { body: undefined; answer: Record<string, never> }
    '/admin/list': { body: undefined; answer: Record<string, never> }
    [path: `/admin/list/${number}`]: { body: undefined; answer: Record<string, never> }
    '/admin/role': { body: undefined; answer: Record<string, never> }
    [path: `/admin/role/${number}`]: { body: undefined; answer: Record<string, never> }
    '/admin/rule': { body: undefined; answer: Record<string, never> }
    [path: `/admin/rule/${number}`]: { body: undefined; answer: Record<string, never> }
    '/admin/session': { body: undefined; answer: Record<string, never> }
    [path: `/admin/session/${number}`]: { body: undefined; answer: Record<string, never> }
    '/file/group': { body: undefined; answer: Record<string, never> }
    [path: `/file/group/${number}`]: { body: undefined; answer: Record<string, never> }
    '/file/list': { body: undefined; answer: Record<string, never> }
    [path: `/file/list/${number}`]: { body: undefined; answer: Record<string, never> }
    '/file/trash': { body: undefined; answer: Record<string, never> }
    [path: `/file/trash/${number}`]: { body: undefined; answer: Record<string, never> }
    '/system/dict': { body: undefined; answer: Record<string, never> }
    [path: `/system/dict/${number}`]: { body: undefined; answer: Record<string, never> }
    [path: `/system/dict/${number}/item`]: { body: undefined; answer: Record<string, never> }
    [path: `/system/dict/${number}/item/${number}`]: { body: undefined; answer: Record<string, never> }
    '/system/monitor/trace': { body: undefined; answer: Record<string, never> }
    [path: `/system/monitor/trace/${number}`]: { body: undefined; answer: Record<string, never> }
    '/system/session': { body: undefined; answer: Record<string, never> }
    [path: `/system/session/${number}`]: { body: undefined; answer: Record<string, never> }
    '/system/setting': { body: undefined; answer: Record<string, never> }
    '/system/setting-group': { body: undefined; answer: Record<string, never> }
    [path: `/system/setting-group/${number}`]: { body: undefined; answer: Record<string, never> }
    [path: `/system/setting/${number}`]: { body: undefined; answer: Record<string, never> }
    '/user/list': { body: undefined; answer: Record<string, never> }
    [path: `/user/list/${number}`]: { body: undefined; answer: Record<string, never> }
  }
}
