import type { InvitedLink } from '../../api/types'

// Purpose is the purpose of a link for another user, as the end of its path.
export type Purpose = 'invite' | 'reset-link'

// Addressee is the user of a link.
export type Addressee = { id: number; username: string; email: string }

// By is how links reach people: by mail, or passed on by the user who made them.
export type By = 'mail' | 'link'

export const mostLinks = 200 // made in one request

const formula = /^[=+\-@\t\r']/

// cell is a cell of a CSV file. An apostrophe before what a spreadsheet would compute keeps it text.
function cell(text: string): string {
  const safe = formula.test(text) ? `'${text}` : text
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe
}

// csv is a file of links, which spreadsheets read as UTF-8.
export function csv(links: InvitedLink[]): string {
  const rows = links.map(({ username, nickname, email, url, expires_at }) => [username, nickname, email, url, expires_at])
  return `\uFEFF${[['username', 'nickname', 'email', 'link', 'expires_at'], ...rows].map((row) => `${row.map(cell).join(',')}\r\n`).join('')}`
}
