// Finders for the tests of the console. Each throws what is wrong when there is not
// the one element that is asked for.

const shown = (e) => e.checkVisibility({ visibilityProperty: true })

function only(found, what) {
  if (found.length !== 1) throw new Error(`there are ${found.length} ${what}`)
  return found[0]
}

// css is the one shown element of a selector.
const css = (root, selector) => only([...root.querySelectorAll(selector)].filter(shown), selector)

// row is the row of a table or a tree, or the item of a list, with a text in it.
function row(root, text) {
  const found = [...root.querySelectorAll('tbody tr, li, .ant-list-item, .ant-tree-treenode, .tree-row')].filter((e) => shown(e) && e.innerText.includes(text))
  return only(found.filter((e) => !found.some((inner) => inner !== e && e.contains(inner))), `rows with ${text}`)
}

// dialog is what lies above the rest: a question, a dialog or a drawer, the latest one.
function dialog() {
  const found = uppermost()
  if (!found) throw new Error('there is no dialog')
  return found
}

const uppermost = () => [...document.querySelectorAll('.ant-popover, .ant-modal, .ant-drawer-content-wrapper')].filter((e) => shown(e) && !e.closest('.ant-popover-hidden')).at(-1)

// option is one of the open list of a select. Of a long list only a part is there, so
// the list goes on where it is missing.
function option(text) {
  const lists = [...document.querySelectorAll('.ant-select-dropdown')].filter((e) => shown(e) && !e.classList.contains('ant-select-dropdown-hidden'))
  const list = only(lists, 'open lists')
  const found = [...list.querySelectorAll('.ant-select-item-option, .ant-select-tree-node-content-wrapper')].filter((e) => e.innerText.trim() === text)
  const scrolls = list.querySelector('.rc-virtual-list-holder, .ant-select-tree-list-holder')
  if (found.length === 0 && scrolls) {
    const end = scrolls.scrollTop + scrolls.clientHeight >= scrolls.scrollHeight - 1
    scrolls.scrollTop = end ? 0 : scrolls.scrollTop + scrolls.clientHeight / 2
  }
  return only(found, `options ${text}`)
}

// frame waits for the next frame, or half a second: a browser that has much to draw may leave
// a page without frames for minutes.
const frame = () => new Promise((next) => { requestAnimationFrame(next); setTimeout(next, 500) })

// moving is the animations that will end, also of what is still held where it will
// end and starts from elsewhere in a moment.
const moving = () => document.getAnimations().filter((a) => ['running', 'paused'].includes(a.playState) && a.effect?.getComputedTiming().endTime !== Infinity)

// reached tells whether the click that an element was placed for has come to it.
const clicked = Symbol.for('clicked')
const reached = (e) => e[clicked] !== false

// leave takes the pointer from what it is over, as a person does who moves it to something that a tooltip covers.
const leave = () => [...document.querySelectorAll(':hover')].at(-1)?.dispatchEvent(new MouseEvent('mouseout', { bubbles: true, relatedTarget: document.body }))

// place is where an element is clicked, once it stays there, can be used and is under
// nothing else.
async function place(e) {
  if (!e.isConnected) throw new Error('it has gone')
  e.scrollIntoViewIfNeeded()
  const before = e.getBoundingClientRect()
  await frame()
  await frame()
  const { left, top, width, height } = e.getBoundingClientRect()
  if (moving().some((a) => a instanceof CSSAnimation && a.effect.target.contains(e))) throw new Error('it comes or goes')
  if (left !== before.left || top !== before.top || width !== before.width || height !== before.height) throw new Error('it moves')
  if (e.disabled || e.closest('[aria-disabled=true], .ant-btn-loading')) throw new Error('it cannot be used')
  const x = left + width / 2, y = top + height / 2
  const hit = document.elementFromPoint(x, y)
  const whole = e.closest('label, .ant-select, .ant-picker, .ant-input-number') ?? e
  if (hit?.closest('[role=tooltip]')) leave()
  if (!hit || !whole.contains(hit)) throw new Error(`it is under ${hit?.outerHTML.slice(0, 200)}`)
  e[clicked] = false
  document.addEventListener('click', (click) => { if (whole.contains(click.target)) e[clicked] = true }, { capture: true, once: true })
  return { x, y }
}

// unsettled says what in the page is still about to change, or nothing. What moves is
// brought to its end at once.
async function unsettled() {
  await frame()
  await frame()
  if (![...document.querySelectorAll('h1')].some(shown)) return 'it has no title'
  const movers = moving()
  movers.filter((a) => a.playState === 'running').forEach((a) => a.finish())
  if (movers.length) return 'something moves'
  const loading = [...document.querySelectorAll('[aria-busy=true], .ant-spin-spinning, .ant-skeleton-active, .ant-card-loading')].find(shown)
  return loading ? 'something loads: ' + loading.className : ''
}
