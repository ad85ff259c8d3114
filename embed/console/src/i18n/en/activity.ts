// The user's own activity. The names of operations are stored in English; see actions.ts and operations.ts of other languages.
export const activity = {
  'activity.about': 'What you did, and what administrators did while acting as you.',
  'activity.empty': 'Nothing yet.',
  'activity.more': 'Show more',
  'activity.by': 'by {name}',
  'activity.as': 'as {name}',
  'activity.denied': 'Denied',
  'activity.read': 'Read {route}',
  'activity.reason': 'Reason: {reason}',
} as const
