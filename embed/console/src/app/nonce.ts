// The page's policy allows styles that carry its nonce and no others. The component
// library puts it on most of those that it writes, and a few of its parts do not; so
// every style element is given it where it is made.
export const nonce = document.querySelector<HTMLMetaElement>('meta[name="csp-nonce"]')?.content ?? ''

const create = document.createElement.bind(document) as typeof document.createElement
document.createElement = ((name: string, options?: ElementCreationOptions) => {
  const element = create(name, options)
  if (name.toLowerCase() === 'style') element.nonce = nonce
  return element
}) as typeof document.createElement
