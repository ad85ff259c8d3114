import type { InputRef } from 'antd'
// biome-ignore lint/style/noRestrictedImports: the only place for it
import Input, { type PasswordProps } from 'antd/es/input/Password'
import { createContext, type RefAttributes, useContext, useEffect } from 'react'

// Secrets receives the name of a field that holds a secret, and returns what to call when the field is gone.
export const Secrets = createContext<(name: string) => () => void>(() => () => {})

// Password is the only input for secrets: what it holds is never stored in the browser.
export function Password(props: PasswordProps & RefAttributes<InputRef>) {
  const mark = useContext(Secrets)
  const { id = '' } = props
  useEffect(() => mark(id), [mark, id])
  return <Input {...props} />
}
