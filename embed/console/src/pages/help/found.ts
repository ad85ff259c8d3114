// found are the topics that have every word of a search, as text.
export function found<T extends { title: string; html: string }>(topics: T[], search: string): T[] {
  const words = search.toLowerCase().split(/\s+/).filter(Boolean)
  if (words.length === 0) return topics
  return topics.filter((topic) => {
    const text = `${topic.title} ${plain(topic.html)}`.toLowerCase()
    return words.every((word) => text.includes(word))
  })
}

const marks: Record<string, string> = { lt: '<', gt: '>', amp: '&', quot: '"', '#39': "'" }

// plain is the text of HTML that the server has rendered.
const plain = (html: string): string => html.replace(/<[^>]*>/g, '').replace(/&(lt|gt|amp|quot|#39);/g, (all, name: string) => marks[name] ?? all)
