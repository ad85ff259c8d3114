// Finders for the walk over all that a page opens.

// layers are what lies above a page, the topmost last.
const layers = () =>
  [...document.querySelectorAll('dialog[open], [popover]:popover-open, .ant-dropdown, .ant-popover, .ant-modal-wrap, .ant-drawer-content-wrapper, .ant-picker-dropdown, .ant-image-preview')]
    .filter((e) => shown(e) && !/-hidden\b/.test(e.className))

const top = () => layers().at(-1)

const said = (e) => (e.ariaLabel || e.innerText || e.title || e.textContent).trim().replace(/\s+/g, ' ')

const rows = 'tbody tr, .cards > li, .ant-list-item, .ant-tree-treenode, .tree-row, [data-seq], main li'

// openers are what may open something, by names: of a list, those in its first two rows, of a drawer or dialog, its
// tabs and what sends its form.
function openers(within) {
  const found = new Map()
  const controls = !within || within.matches('main, .ant-layout, .ant-dropdown')
    ? 'button, [role=button], summary, [role=tab], .ant-segmented-item, [role=menuitem], .ant-picker-input'
    : '[role=tab], .ant-segmented-item, .ant-radio-wrapper, .ant-btn-primary'
  for (const e of within?.querySelectorAll(controls) ?? []) {
    if (!shown(e) || e.disabled || e.matches('[aria-disabled=true], [aria-selected=true], .ant-segmented-item-selected, .ant-menu-item-selected, [role=switch], .ant-pagination *, .ant-select *, .ant-modal-close, .ant-drawer-close')) continue
    const row = e.closest(rows)
    const nth = row ? [...row.parentElement.children].filter((one) => one.matches(rows) && shown(one)).indexOf(row) : 0
    if (nth > 1 && e.role !== 'menuitem') continue
    const text = e.innerText.trim()
    const icon = e.querySelector('[data-icon]')?.dataset.icon
    const alike = e.role !== 'menuitem' && (row || (!text && icon)) // such as the buttons of each row or part
    const name = alike ? `${row ? 'row ' : ''}${(text.length < 24 && text) || icon || e.className}` : said(e)
    const key = name.replace(/\d+/g, '0')
    if (!found.has(key)) found.set(key, e)
  }
  return found
}

// links are the pages of the console that a page leads to, by their shape.
const links = () =>
  [...document.querySelectorAll('main a[href]')]
    .filter((e) => shown(e) && e.origin === location.origin && e.pathname.startsWith('/console/') && !e.target && !e.download)
    .map((e) => e.pathname.slice('/console'.length) + e.search)

// changes reports whether what was pressed shows another part of the page, or a notice.
const changes = (e) => !!e?.matches('[role=tab], .ant-segmented-item, .ant-radio-wrapper, summary, .ant-drawer .ant-btn-primary, .ant-modal .ant-btn-primary') ||
  [...document.querySelectorAll('.ant-message-notice, .ant-notification-notice')].some(shown)
