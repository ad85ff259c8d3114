// The content security policy allows only styles with the page's nonce. The component
// library sets it on most of its style elements, but not on all; so every style element
// gets it on creation.
export const nonce = document.querySelector<HTMLMetaElement>('meta[name="csp-nonce"]')?.content ?? ''

function carry<T extends Element>(element: T): T {
  if (element instanceof HTMLStyleElement || element instanceof SVGStyleElement) element.nonce = nonce
  return element
}

const create = document.createElement.bind(document)
document.createElement = ((name: string, options?: ElementCreationOptions) => carry(create(name, options))) as typeof document.createElement

// Icons contain styles in their SVG.
const createWithin = document.createElementNS.bind(document) as (space: string | null, name: string, options?: ElementCreationOptions) => Element
document.createElementNS = ((space: string | null, name: string, options?: ElementCreationOptions) =>
  carry(createWithin(space, name, options))) as typeof document.createElementNS
