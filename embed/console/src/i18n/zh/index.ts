import { first } from './first'
import { frame } from './frame'
import { errors } from './errors'
import { dashboard } from './dashboard'
import { account } from './account'
import { sessions } from './sessions'
import { info } from './info'

export const words = {
  ...first,
  ...frame,
  ...errors,
  ...dashboard,
  ...account,
  ...sessions,
  ...info,
}
