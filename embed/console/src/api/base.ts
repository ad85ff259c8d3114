// A proxy can serve the server below a path of a host. The server writes that path into the page; all
// URLs of the host begin with it, and paths of the API and of pages do not contain it.

// base is that path, like /admin-tool; '' for the root of the host.
export const base: string = globalThis.document?.documentElement?.dataset?.base ?? ''

// consoleURL is the URL of a page of the console, without a slash at the beginning.
export const consoleURL = (page = ''): string => `${base}/console/${page}`

// serverURL is the URL of the server, without a slash at the end.
export const serverURL = (): string => location.origin + base
