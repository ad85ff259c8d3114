// Searches in the browser compare texts as the API does (package fold of the server): without case, marks that
// people omit, width, and invisible characters.

// alike has letters and punctuation that Unicode does not decompose.
const alike: Record<string, string> = {
  ...{ ø: 'o', ł: 'l', đ: 'd', ð: 'd', ħ: 'h', ŧ: 't', þ: 'th', æ: 'ae', œ: 'oe', ı: 'i', ȷ: 'j', ŋ: 'n', ĸ: 'k', ƀ: 'b', ɓ: 'b', ɗ: 'd', ƙ: 'k' },
  ...{ ƴ: 'y', ɨ: 'i', ʉ: 'u', ƶ: 'z', ɫ: 'l', ƒ: 'f', ǥ: 'g', ς: 'σ', ٱ: 'ا', ک: 'ك', ی: 'ي', ـ: '' },
  ...{ '’': "'", '‘': "'", ʼ: "'", ʻ: "'", '′': "'", '“': '"', '”': '"', '„': '"', '«': '"', '»': '"' },
  ...{ '‐': '-', '‑': '-', '‒': '-', '–': '-', '—': '-', '−': '-', '⁄': '/' },
}

const others = new RegExp(`[${Object.keys(alike).join('')}]`, 'gu')

// omitted are the marks of Latin, Greek, Cyrillic and symbols, the points of Hebrew and the vowels of Arabic.
const omitted = /(?=\p{Mn})[\u0300-\u036F\u1AB0-\u1AFF\u1DC0-\u1DFF\u20D0-\u20FF\uFE20-\uFE2F\u0591-\u05C7\u0610-\u061A\u064B-\u0652\u0670\u06D6-\u06ED]/gu

// folded returns a text in the form in which searches compare it.
export function folded(text: string): string {
  if (/^[\x20-\x7E]*$/.test(text)) return text.toLowerCase().replace(/ +/g, ' ').trim()
  const plain = text
    .normalize('NFKD')
    .replace(/\p{Default_Ignorable_Code_Point}/gu, '')
    .toLowerCase() // ẞ becomes ß
    .toUpperCase() // ß becomes SS
    .toLowerCase()
  // й is another letter, and so are waw and yeh with hamza
  const bare = plain
    .replace(/и\u0306/g, 'й')
    .replace(/ا[\u0653-\u0655]+/g, 'ا')
    .replace(omitted, '')
  return bare
    .replace(others, (c) => alike[c]!)
    .replace(/[\s\u2800]+/g, ' ')
    .trim()
    .normalize('NFC')
}

// has reports whether one of some texts contains a search that is folded.
export const has = (search: string, ...texts: string[]): boolean => texts.some((text) => folded(text).includes(search))

// hasWords reports whether a text contains every word of a search, in any order.
export function hasWords(search: string, text: string): boolean {
  const all = folded(text)
  return folded(search)
    .split(' ')
    .every((word) => all.includes(word))
}

// nothing is what a place does not begin with.
const nothing = /[\s\p{Mn}\p{Default_Ignorable_Code_Point}]/u

// placeOf returns where a text contains a folded search: the beginning and the end, in UTF-16 units.
export function placeOf(search: string, text: string): [number, number] | undefined {
  if (!has(search, text)) return undefined
  for (let from = 0; from < text.length; from++) {
    if (nothing.test(text.charAt(from)) || !folded(text.slice(from)).startsWith(search)) continue
    let to = from + 1
    while (to < text.length && !folded(text.slice(from, to)).startsWith(search)) to++
    while (to < text.length && /\p{Mn}/u.test(text.charAt(to))) to++ // marks belong to the letter before
    return [from, to]
  }
  return undefined
}

// byText is the search of a TreeSelect in one text of its nodes.
export const byText = (name: 'name' | 'title' | 'text') => ({
  treeNodeFilterProp: name, // in which the tree marks the nodes that it has found
  filterTreeNode: (typed: string, node: object): boolean => has(folded(typed), String((node as Record<string, unknown>)[name] ?? '')),
})

// byLabel is the search of a Select in the labels of its options.
export const byLabel = {
  filterOption: (typed: string, option?: { label?: unknown }): boolean => has(folded(typed), String(option?.label ?? '')),
}
