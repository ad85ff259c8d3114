// shownIn returns the HTML of a mail for a preview inside this page. A mail has its styles in its
// elements, since mail programs know no other; the policy of this page, which the preview shares,
// only allows those of a style element with its nonce, and reports others when they are parsed. In
// the text of a mail, quotation marks are escaped. Links lead nowhere.
export function shownIn(html: string, nonce: string): string {
  const rules: string[] = []
  const body = html
    .replaceAll(/ style="([^"]*)"/g, (_, css: string) => ` data-style="${rules.push(css) - 1}"`)
    .replaceAll(/ href="[^"]*"/g, '')
    .replaceAll('<style>', `<style nonce="${nonce}">`)
  const own = rules.map((css, i) => `[data-style="${i}"]{${css}}`).join('\n')
  return body.replace('<head>', () => `<head><style nonce="${nonce}">${own}</style>`)
}
