import { createContext, useContext } from 'react'
import type { Access, Info } from '../api/types'

// Account is the signed-in user with their permissions, and the menus that lead to a page.
export type Account = {
  info: Info
  may: (key: Access) => boolean
  isPage: (path: string) => boolean // whether the console has a page at a path
  reload: () => Promise<void>
}

export const AccountContext = createContext<Account | undefined>(undefined)

export function useAccount(): Account {
  const account = useContext(AccountContext)
  if (!account) throw new Error('useAccount outside of the layout')
  return account
}
