export const connect = {
  'connect.continue': 'Continue with {title}',
  'connect.last': 'Last used',
  'connect.choose': 'Sign-in providers',
  'connect.tab': 'The sign-in opens in a new tab. This page goes on once you have signed in there.',
  'connect.arriving': 'Signing in…',
  'connect.link':
    'There is an account with your address already. Sign in to it with your password or passkey: that connects the provider, and you can sign in with it from then on.',
  'connect.linking': 'Connecting the provider…',
  'connect.linked': '{title} is connected. From now on, you can sign in with it.',
  'connect.not_linked': 'You are signed in, but the provider was not connected: {reason}',
  'connect.go_on': 'Continue',
  // My account
  'connect.about': 'Where you can sign in instead of entering your password here.',
  'connect.none': 'You are not connected to a provider.',
  'connect.connect.to': 'Connect: {title}',
  'connect.connected': '{title} connected.',
  'connect.disconnect': 'Disconnect',
  'connect.disconnect.from': 'Disconnect: {title}',
  'connect.disconnect.sure': 'Disconnect from {title}?',
  'connect.disconnect.text':
    'You can’t sign in with it any more, lose the roles that you have only through it, and are signed out where you signed in with it.',
  'connect.disconnected': '{title} disconnected.',
  'connect.since': 'Connected:',
  'connect.used': 'Last sign-in:',
} as const
