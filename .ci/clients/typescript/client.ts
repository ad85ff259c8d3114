// Takes ten steps against a server with a client that is generated from its OpenAPI
// document, without a cast: `node client.js URL USERNAME PASSWORD`.
import { strict as assert } from 'node:assert'
import createClient from 'openapi-fetch'
import type { paths } from './reeve.js'

const [baseUrl = '', username = '', password = ''] = process.argv.slice(2)

// done returns the data of a successful answer.
function done<T>(step: string, answer: { data?: { data: T }; error?: unknown; response: Response }): T {
  if (answer.data === undefined) throw new Error(`${step}: ${answer.response.status} ${JSON.stringify(answer.error)}`)
  console.log(step)
  return answer.data.data
}

// multipart makes a form of a body with files.
function multipart(body: object): FormData {
  const form = new FormData()
  const fields: [string, unknown][] = Object.entries(body)
  for (const [name, value] of fields) {
    const values: unknown[] = Array.isArray(value) ? value : [value]
    for (const each of values) form.append(name, each instanceof Blob ? each : String(each))
  }
  return form
}

const { token } = done('sign in', await createClient<paths>({ baseUrl }).POST('/admin/login', { body: { username, password } }))
const client = createClient<paths>({ baseUrl, headers: { Authorization: `Bearer ${token}` } })

const me = done('read the current user', await client.GET('/admin/info'))
assert.equal(me.info.username, username)

const dept = done('create a department', await client.POST('/admin/dept', { body: { name: 'Sales' } }))
const role = done('create a role', await client.POST('/admin/role', { body: { name: 'Clerk', data_scope: 'dept' } }))
assert.equal(role.data_scope, 'dept')
const people: { id: number; version: number }[] = []
for (const name of ['ann', 'bob', 'eve']) {
  const user = done(`create the user ${name}`, await client.POST('/admin/list', {
    body: { username: name, sex: 1, status: 1, dept_id: dept.id, role_ids: [role.id] },
  }))
  assert.deepEqual([user.dept_name, user.role_names, user.login_time], ['Sales', ['Clerk'], null])
  assert.ok(user.password !== undefined && user.password.length > 8) // it was generated
  people.push(user)
}

const list = done('list users', await client.GET('/admin/list', {
  params: { query: { filter: JSON.stringify({ dept_id: [dept.id] }), sorter: JSON.stringify({ username: 'descend' }), pageSize: 2 } },
}))
assert.deepEqual([list.total, list.data.map((user) => user.username)], [3, ['eve', 'bob']])

const [ann] = people
assert.ok(ann)
const named = { params: { path: { id: ann.id } }, body: { nickname: 'Ann', version: ann.version } }
const changed = done('update a user', await client.PUT('/admin/list/{id}', named))
assert.deepEqual([changed.nickname, changed.version > ann.version], ['Ann', true])
const stale = await client.PUT('/admin/list/{id}', named)
assert.deepEqual([stale.response.status, stale.error?.errorCode], [409, 'stale'])

const text = 'some notes\u0000'
const files = done('upload a file', await client.POST('/file/list', {
  body: { file: [new File([text], 'notes.txt')], group_id: 0, public: 0 }, bodySerializer: multipart,
}))
const [file] = files.data
assert.ok(file)
assert.deepEqual([file.name, file.size, file.public], ['notes.txt', text.length, 0])

const content = await client.GET('/file/list/{id}/content', { params: { path: { id: file.id } }, parseAs: 'blob' })
assert.equal(await content.data?.text(), text)
console.log('download it')

const csv = new File(['username,nickname,department\nfay,Fay,Sales\nann,Again,Sales\n'], 'users.csv')
const verdict = done('import users as a dry run', await client.POST('/admin/list-import', { body: { file: csv, dry_run: 1 }, bodySerializer: multipart }))
assert.deepEqual([verdict.dry_run, verdict.created, verdict.failed, verdict.job], [1, 0, 1, null])
assert.deepEqual(verdict.rows.map((row) => [row.username, row.ok, Object.keys(row.errors ?? {})]), [['fay', true, []], ['ann', false, ['username']]])

const ids = people.map((user) => user.id)
done('delete users', await client.DELETE('/admin/list', { params: { query: { ids } } }))
const left = done('list them', await client.GET('/admin/list', { params: { query: { dept_id: dept.id } } }))
assert.equal(left.total, 0)

done('sign out', await client.POST('/admin/logout'))
assert.equal((await client.GET('/admin/info')).response.status, 401)
