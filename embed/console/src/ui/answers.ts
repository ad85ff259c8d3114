// Last response per request. A page that is opened again shows it while it reloads. It is
// lost on a page reload, as at sign-out.

const most = 50

const answers = new Map<string, unknown>()

export function remember(question: string, answer: unknown): void {
  answers.delete(question) // the last entry is the most recent
  if (answer !== undefined) answers.set(question, answer)
  for (const oldest of answers.keys()) {
    if (answers.size <= most) return
    answers.delete(oldest)
  }
}

export const recall = <T>(question: string): T | undefined => answers.get(question) as T | undefined
