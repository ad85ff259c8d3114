import { hasWords } from '../../ui/fold'

// found are the topics that have every word of a search, as text.
export function found<T extends { title: string; html: string }>(topics: T[], search: string): T[] {
  if (!search.trim()) return topics
  return topics.filter((topic) => hasWords(search, `${topic.title} ${plain(topic.html)}`))
}

const marks: Record<string, string> = { lt: '<', gt: '>', amp: '&', quot: '"', '#39': "'" }

// plain is the text of HTML that the server has rendered.
const plain = (html: string): string => html.replace(/<[^>]*>/g, '').replace(/&(lt|gt|amp|quot|#39);/g, (all, name: string) => marks[name] ?? all)
