import { SignIn } from './SignIn'

// Password is shown to users who must change their password first.
export function Password() {
  return <SignIn mustChange />
}
