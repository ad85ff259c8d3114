// The last answers, by question. A page that is opened again shows them at once, while
// it asks anew. They are gone with the window's page, like everything at a sign-out.

const most = 50

const answers = new Map<string, unknown>()

export function remember(question: string, answer: unknown): void {
  answers.delete(question) // the last one is the youngest
  if (answer !== undefined) answers.set(question, answer)
  for (const oldest of answers.keys()) {
    if (answers.size <= most) return
    answers.delete(oldest)
  }
}

export const recall = <T>(question: string): T | undefined => answers.get(question) as T | undefined
