export const strength = {
  'strength.weak': 'Strength: weak.',
  'strength.fair': 'Strength: fair.',
  'strength.good': 'Strength: good.',
  'strength.strong': 'Strength: strong.',
  'strength.hint.common': 'It resembles a common password.',
  'strength.hint.own': 'Don’t use your name or email address.',
  'strength.hint.keys': 'Avoid keys that are next to each other.',
  'strength.hint.repeat': 'Avoid repetitions.',
  'strength.hint.sequence': 'Avoid sequences such as abc or 6543.',
  'strength.hint.date': 'Avoid dates and years.',
  'strength.hint.more': 'Add a word or two.',
} as const
