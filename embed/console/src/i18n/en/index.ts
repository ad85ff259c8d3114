// Texts of the console, one file per area. The compiler checks that zh has the same keys.
// Those listed here are loaded with the frame, the others with their pages.
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
