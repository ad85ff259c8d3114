import { Link } from 'react-router'
import { useAccount } from '../app/account'

// DeptLink is a department, linked to its people with permission to see users.
export function DeptLink({ id, name }: { id: number; name: string }) {
  const shown = <bdi title={name}>{name}</bdi>
  return useAccount().may('admin.list.query') ? <Link to={`/admin/list?dept_id=${id}`}>{shown}</Link> : shown
}
