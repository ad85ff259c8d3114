// The last requests of the page, for the drawer that shows them as code. What people must not see again is removed before
// anything is kept: see hide.

// Sent is a request. The body comes later than the rest, once it is known what to hide in it.
export type Sent = { method: string; address: string; body?: unknown; form?: Record<string, string> }

const most = 20

// Requests that no program makes: of the frame around the page, and of sign-ins.
const own = /^\/(admin\/(info|log|reauth|act-as|account\/notice)|api\/home|openapi)/

let page = ''
let sent: Sent[] = []

// form is the request without its values. Polls, and searches while they are typed, differ only in these.
const form = ({ method, address }: Sent) => (method === 'GET' ? address.replace(/=[^&]*/g, '') : undefined)

export function record(method: string, path: string, address: string, body?: unknown): void {
  if (own.test(path)) return
  if (page !== location.pathname) sent = []
  page = location.pathname
  const one: Sent = { method, address }
  sent = [...sent.filter((other) => method !== 'GET' || form(other) !== form(one)), one].slice(-most)
  if (body !== undefined)
    import('./hide')
      .then(({ hidden, parts }) => Object.assign(one, body instanceof FormData ? { form: parts(body) } : { body: hidden(path, body) }))
      .catch(() => {}) // offline: it is shown without the body
}

// recorded are the requests of the page, the newest first.
export const recorded = (): Sent[] => (page === location.pathname ? [...sent].reverse() : [])
