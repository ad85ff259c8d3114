import { SignIn } from './SignIn'

// Password is where somebody is sent whose password must be changed first.
export function Password() {
  return <SignIn mustChange />
}
