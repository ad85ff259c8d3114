import { Link, useLocation } from 'react-router'
import { useAccount } from '../app/account'

type Props = {
  name: string
  id?: number // undefined if only the name is known; 0 for none
  app?: boolean // an app user, whose page is known by the ID only
}

// PersonLink is a user's name, linked to their page with permission to see users.
export function PersonLink({ name, id, app = false }: Props) {
  const { may } = useAccount()
  const { pathname, search } = useLocation()
  if (!name) return <>—</>
  const shown = <bdi title={name}>{name}</bdi>
  if (id === 0 || (app && !id) || !may(app ? 'user.list.query' : 'admin.list.query')) return shown
  return (
    <Link to={`/${app ? 'user' : 'admin'}/list/${id ?? `@${encodeURIComponent(name)}`}`} state={{ from: pathname + search }}>
      {shown}
    </Link>
  )
}
