export const forgot = {
  'forgot.title': 'Enter your username or email address to get a mail with a link to set a new password.',
  'forgot.who': 'Username or email address',
  'forgot.send': 'Send link',
  'forgot.sent': 'If there is such a user, a mail with a link is on its way. The link works for one hour.',
  'forgot.failed': 'Couldn’t send the link. Try again.',
  'forgot.back': 'Back to sign-in',
} as const
