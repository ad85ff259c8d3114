// Secrets in the bodies of requests. A test of the server compares the names with those that it hides in its own records.

// secretName matches the names of fields with secrets: passwords, codes, tokens.
const secretName = /pass(word|phrase|code|key)|secret|token|cookie|credential|private|signature|verifier|altcha|otp$|^(key_)?hash$|^salt$|^auth$|^fields$/i

// valuesAt matches the paths of settings and of other places where secrets have no name of their own.
const valuesAt = /^\/system\/(setting|setup|webhook)/

// valueName matches the names of values there.
const valueName = /^(values?|text|url)$/

// gone replaces a value that is hidden.
export const gone = '…'

// hidden is a body without its secrets.
export const hidden = (path: string, body: unknown): unknown => without(body, (name) => secretName.test(name) || (valuesAt.test(path) && valueName.test(name)))

function without(value: unknown, secret: (name: string) => boolean, inside = false): unknown {
  if (Array.isArray(value)) return value.map((one) => without(one, secret, inside))
  if (value && typeof value === 'object')
    return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, without(one, secret, inside || secret(name))]))
  // What is on or off, or empty, is no secret.
  return inside && (typeof value === 'string' ? value !== '' : Number(value) > 1) ? gone : value
}

// parts are the names in a form. What they contain is left out.
export const parts = (form: FormData): Record<string, string> =>
  Object.fromEntries([...form].map(([name, value]) => [name, value instanceof Blob ? '@FILE' : /_ids?$/.test(name) ? value : gone]))
