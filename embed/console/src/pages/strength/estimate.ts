import { ZxcvbnFactory } from '@zxcvbn-ts/core'
import { adjacencyGraphs, dictionary } from '@zxcvbn-ts/language-common'

// Estimates how many attempts guessing a password takes. The dictionaries are common passwords, those of the server's
// check too, and words of passphrases.

export type Level = 'weak' | 'fair' | 'good' | 'strong'
export type Hint = 'common' | 'own' | 'keys' | 'repeat' | 'sequence' | 'date' | 'more'
export type Strength = { level: Level; hint?: Hint }

const levels: Level[] = ['weak', 'weak', 'fair', 'good', 'strong'] // by score

// hints are what to say about each warning. Without translations, warnings are their keys.
const hints: Record<string, Hint> = {
  topTen: 'common',
  topHundred: 'common',
  common: 'common',
  similarToCommon: 'common',
  userInputs: 'own',
  straightRow: 'keys',
  keyPattern: 'keys',
  simpleRepeat: 'repeat',
  extendedRepeat: 'repeat',
  sequences: 'sequence',
  recentYears: 'date',
  dates: 'date',
}

const zxcvbn = new ZxcvbnFactory({ dictionary, graphs: adjacencyGraphs })

// strengthOf estimates a password. Words of own, such as the username, are the first that an
// attacker tries. shortest is the length below which the server accepts no password.
export function strengthOf(password: string, own: string[], shortest: number): Strength {
  const words = own.flatMap((text) => [text, ...text.split(/[^\p{L}\p{N}]+/u)]).filter((word) => word.length > 2)
  const { score, feedback } = zxcvbn.check(password, words)
  if (score > 2 && password.length >= shortest) return { level: levels[score] ?? 'strong' }
  return { level: password.length < shortest ? 'weak' : (levels[score] ?? 'weak'), hint: hints[feedback.warning ?? ''] ?? 'more' }
}
