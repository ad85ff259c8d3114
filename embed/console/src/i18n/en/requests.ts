// Texts of the drawer with the requests of a page.
export const requests = {
  'requests.text':
    'The last requests of this page, the newest first, as a program makes them with an API key in the variable REEVE_KEY. ' +
    'Passwords, codes, values of settings and files are left out: … and @FILE stand for them.',
  'requests.none': 'This page has made no requests of its own. Use it, then look here again.',
  'requests.reference': 'Open in the API reference',
} as const
