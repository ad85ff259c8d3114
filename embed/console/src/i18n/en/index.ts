// The words of the console, an area a file. zh has the same keys; the compiler sees to it.
import { first } from './first'
import { frame } from './frame'
import { errors } from './errors'
import { people } from './people'
import { rights } from './rights'
import { settings } from './settings'
import { dicts } from './dicts'
import { files } from './files'
import { monitor } from './monitor'
import { dashboard } from './dashboard'
import { account } from './account'
import { sessions } from './sessions'
import { info } from './info'

export const words = {
  ...first,
  ...frame,
  ...errors,
  ...people,
  ...rights,
  ...settings,
  ...dicts,
  ...files,
  ...monitor,
  ...dashboard,
  ...account,
  ...sessions,
  ...info,
}
