import { first } from './first'
import { frame } from './frame'
import { errors } from './errors'
import { account } from './account'
import { sessions } from './sessions'

export const words = {
  ...first,
  ...frame,
  ...errors,
  ...account,
  ...sessions,
}
