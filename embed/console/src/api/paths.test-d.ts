// Requests that the OpenAPI document does not know must not compile: the type checker
// reports a line here that is no error.
import { del, get, post, put } from './request'
import type { User, UserPage } from './types'

const id = 1 as number

export async function wrong() {
  // @ts-expect-error
  await get('/admin/lists')
  // @ts-expect-error
  await get(`/admin/list/${id}/statuses`)
  // @ts-expect-error
  await del('/admin/login')
  // @ts-expect-error
  await post('/admin/login', { username: 'a' })
  // @ts-expect-error
  await put(`/admin/list/${id}/status`, { status: 2 })
  // @ts-expect-error
  await put(`/file/group/${id}`, { name: 1, updated_at: '' })
  // @ts-expect-error
  const page: UserPage = await get('/admin/role')
  return page
}

export async function right(): Promise<[UserPage, User]> {
  await put(`/admin/list/${id}/status`, { status: true })
  return [await get('/admin/list'), await get(`/admin/list/${id}`)]
}
