// The page's policy allows styles that carry its nonce and no others. The component
// library puts it on most of those that it writes, and a few of its parts do not; so
// every style element is given it where it is made.
export const nonce = document.querySelector<HTMLMetaElement>('meta[name="csp-nonce"]')?.content ?? ''

function carry<T extends Element>(element: T): T {
  if (element instanceof HTMLStyleElement || element instanceof SVGStyleElement) element.nonce = nonce
  return element
}

const create = document.createElement.bind(document)
document.createElement = ((name: string, options?: ElementCreationOptions) => carry(create(name, options))) as typeof document.createElement

// Icons have styles within their drawings.
const createWithin = document.createElementNS.bind(document) as (space: string | null, name: string, options?: ElementCreationOptions) => Element
document.createElementNS = ((space: string | null, name: string, options?: ElementCreationOptions) =>
  carry(createWithin(space, name, options))) as typeof document.createElementNS
