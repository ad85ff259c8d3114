// The words of the console, an area a file; zh has the same keys, the compiler sees to
// it. Those that are here come with the frame, the others with the pages that use them.
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
