package e2e

import (
	"fmt"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/emulation"
)

// phone sets the window to a phone of 390 pixels that is as high as one.
func (p *page) phone() {
	p.t.Helper()
	send(p, emulation.SetDeviceMetricsOverride, emulation.SetDeviceMetricsOverrideParams{
		Width:             390,
		Height:            844,
		DeviceScaleFactor: 1,
	})
}

// actAs lets the client act as a user.
func (c *client) actAs(id int64, reason string, writes int) {
	c.t.Helper()
	c.want(200, "POST", fmt.Sprintf("/admin/list/%d/act-as", id),
		object("reason", reason, "writes", writes))
}

// acting makes a new page begin as somebody who acts as a user.
func acting(id int64) string {
	return fmt.Sprintf(`if (location.protocol === 'http:' && !sessionStorage.getItem('begun')) {
		sessionStorage.setItem('begun', 'yes')
		sessionStorage.setItem('reeve.acting', '%d')
	}`, id)
}

// deaf keeps a page from having the event stream, which would be the first to hear that it is over.
const deaf = `{
	const real = fetch
	globalThis.fetch = (path, options) => String(path).startsWith('/system/event') ? new Promise(() => {}) : real(path, options)
}`

// banner waits until the bar of somebody who acts as a user says something.
func (p *page) banner(text string) {
	p.t.Helper()
	p.until("have a bar with "+text, func() error {
		return evaluate(p,
			fmt.Sprintf(`(() => { if (!document.querySelector('.acting[role=status]')?.innerText.includes(%s)) throw new Error('it is not there') })()`, quote(text)), nil)
	})
}

// clerk creates a user who sees users, roles and keys, and may create dictionaries.
func (c *client) clerk(name string) (id int64) {
	c.t.Helper()
	role := c.roleWith("Role of "+name, "admin", "admin.list", "admin.list.query",
		"admin.role.query", "admin.key", "admin.key.query", "system.dict.query",
		"system.dict.create")
	return c.create("/admin/list", "username", name, "password", password, "role_ids",
		[]int64{role})
}

// inFront waits until a drawer or dialog is below the bar of somebody who acts as a user, which is
// in view and can be used.
func (p *page) inFront() {
	p.t.Helper()
	p.until("have the bar in front", func() error {
		return evaluate(p, `(() => {
			const bar = document.querySelector('.acting').getBoundingClientRect(), stop = document.querySelector('.acting button'), at = stop.getBoundingClientRect()
			if (bar.top !== 0) throw new Error('it is at ' + bar.top)
			if (!stop.contains(document.elementFromPoint(at.x + at.width / 2, at.y + at.height / 2))) throw new Error('something covers its button')
			for (const e of document.querySelectorAll('.ant-drawer-content-wrapper, .ant-modal, .ant-message-notice, .overlay')) {
				const { top } = e.getBoundingClientRect()
				if (top < bar.bottom - 1) throw new Error(e.className + ' is at ' + top + ', and the bar ends at ' + bar.bottom)
			}
		})()`, nil)
	})
}

// asks waits until the page has requested a path n times.
func (p *page) asks(path string, n int) {
	p.t.Helper()
	p.until(fmt.Sprintf("request %s %d times", path, n), func() error {
		return evaluate(p, fmt.Sprintf(`(() => {
			const { length } = performance.getEntriesByType('resource').filter((e) => new URL(e.name).pathname === %s)
			if (length < %d) throw new Error('it has ' + length + ' times')
		})()`, quote(path), n), nil)
	})
}

// TestConsoleImpersonation_ReadOnly starts from the list of users, and acts in one tab alone.
func TestConsoleImpersonation_ReadOnly(t *testing.T) {
	t.Parallel()
	server := start(t, t.TempDir())
	c := signedIn(t, server)
	c.clerk("bob")
	c.want(200, "POST", "/admin/list", object("username", "old", "password", password, "status", 0))
	p := signedInAt(t, server, c, "/admin/list")
	p.click("button", "More actions for admin")
	p.find("menuitem", "Check access") // the menu is open
	p.missing("menuitem", "Act as user")
	p.press("Escape")
	p.missing("menuitem", "Check access")
	p.click("button", "More actions for old")
	p.find("menuitem", "Check access")
	p.missing("menuitem", "Act as user")
	p.press("Escape")
	p.click("button", "More actions for bob")
	p.click("menuitem", "Act as user")
	d := p.dialog()
	d.see("For at most 30 minutes, this tab shows what")
	d.see("Without “Allow changes” you can only look.")
	d.click("button", "Act as user")
	d.see("Required")
	p.looksGood("act-as-dialog")
	d.fill("Reason", "ticket 7")
	p.press("Enter")
	p.at("/")
	p.banner("You (admin) are acting as bob. Read-only. Ends in 30 min.")
	p.see("Your pages")
	p.in("main .ant-card:has(.ant-card-hoverable)").find("link", "Users")
	for _, all := range []*page{p, p.in("main")} {
		all.missing("link", "API keys") // nobody manages those for somebody else
		all.missing("link", "Settings")
	}

	p.looksGood("acting-home")

	other, closeTab := p.tab(c.token, "/system/setting")
	other.find("button", "Administrator")
	other.missing("button", "Stop acting")
	closeTab()

	p.click("button", "bob")
	p.find("menuitem", "Sign out")
	p.missing("menuitem", "My account")
	p.press("Escape")
	p.open("/account")
	p.see("This can’t be done while you’re acting as another user.")
	p.open("/system/dict")
	p.click("button", "New dictionary")
	d = p.dialog()
	d.fill("Name", "Colours")
	d.fill("Code", "colours")
	p.expect(403, "/system/dict")
	d.click("button", "Create")
	p.see("You’re acting as another user in read-only mode.")
	p.inFront()
	p.open("/admin/list")
	p.phone()
	p.banner("You (admin) are acting as bob.")
	p.noSidewaysScroll()
	p.audit()
	p.shoot("acting-list-390")
	p.until("have the bar in view after scrolling", func() error {
		return evaluate(p, `(() => {
			scrollTo(0, 400)
			const bar = document.querySelector('.acting').getBoundingClientRect(), head = document.querySelector('.frame-head').getBoundingClientRect()
			if (bar.top !== 0 || Math.abs(head.top - bar.bottom) > 1) throw new Error('the bar is at ' + bar.top + ', and the head at ' + head.top + ' below ' + bar.bottom)
		})()`, nil)
	})
	p.open("/system/dict")
	p.click("button", "New dictionary")
	p.dialog().find("button", "Create")
	p.inFront()
	p.shoot("acting-drawer-390")
	p.width(1440)
	p.click("button", "Stop acting") // also above a drawer
	p.at("/")
	p.find("button", "Administrator")
	p.missing("button", "Stop acting")
}

// TestConsoleImpersonation_LongNames shortens them, and says how long it lasts.
func TestConsoleImpersonation_LongNames(t *testing.T) {
	t.Parallel()
	server := start(t, t.TempDir())
	c := signedIn(t, server)
	by, as := strings.Repeat("W", 32), strings.Repeat("m", 31)+"9"
	c.create("/admin/list", "username", by, "password", password, "role_ids", []int64{1})
	clerk := c.clerk(as)
	ada := signedInAs(t, server, by)
	for n, language := range []string{"", "", inChinese} {
		ada.actAs(clerk, "ticket 11", min(n, 1))
		p := signedInAt(t, server, ada, "/admin/role", acting(clerk), language)
		p.banner(strings.Repeat("m", 31))
		for _, width := range []int64{320, 390, 768, 1440} {
			p.width(width)
			p.noSidewaysScroll()
			p.until(fmt.Sprintf("tell the end at %d pixels", width), func() error {
				return evaluate(p, `(() => {
					const bar = document.querySelector('.acting').getBoundingClientRect()
					for (const e of document.querySelectorAll('.acting-name, .acting [aria-live=off], .acting button')) {
						const { top, bottom, left, right, width } = e.getBoundingClientRect()
						if (top < bar.top || bottom > bar.bottom || left < 0 || right > innerWidth || width < 30) throw new Error(e.outerHTML + ' is at ' + [left, right, top, bottom] + ' in ' + bar.bottom)
					}
				})()`, nil)
			})
			p.shoot(fmt.Sprintf("acting-names-%d-%d", n, width))
		}
	}
}

// TestConsoleImpersonation_WithWrites makes changes, and checks that the open page shows the end.
func TestConsoleImpersonation_WithWrites(t *testing.T) {
	t.Parallel()
	server := start(t, t.TempDir())
	c := signedIn(t, server)
	bob := c.clerk("bob")
	p := signedInAt(t, server, c, fmt.Sprintf("/admin/list/%d", bob), deaf)
	p.click("button", "More actions for bob")
	p.click("menuitem", "Act as user")
	d := p.dialog()
	d.fill("Reason", "ticket 8")
	d.toggle("Allow changes", true)
	p.press("Enter")
	p.banner("Changes are allowed.")
	p.open("/system/dict")
	p.click("button", "New dictionary")
	d = p.dialog()
	d.fill("Name", "Colours")
	d.fill("Code", "colours")
	d.click("button", "Create")
	p.see("Colours")

	q := signedInAt(t, server, c, "/system/audit")
	q.see("admin as bob created the dictionary Colours")
	q.see("admin started acting as bob, with changes allowed")
	q.looksGood("acting-audit")

	p.expect(403, "/system/dict")
	c.want(200, "DELETE", "/admin/act-as", "")
	p.click("button", "Reload")
	p.at("/")
	p.see("You’re no longer acting as another user.")
	p.find("button", "Administrator")
	p.missing("button", "Stop acting")
}

// TestConsoleImpersonation_Expires: the page notices by itself.
func TestConsoleImpersonation_Expires(t *testing.T) {
	t.Parallel()
	server := start(t, t.TempDir())
	c := signedIn(t, server)
	bob := c.clerk("bob")
	c.actAs(bob, "ticket 9", 0)
	p := signedInAt(t, server, c, "/admin/role", deaf, acting(bob), `{
		const now = Date.now
		Date.now = () => now() + 31 * 60_000 // the clock of the browser is ahead
	}`, inChinese)
	p.banner("您（admin）正以 bob 的身份操作。")
	p.see("0 分钟后结束。")
	p.looksGood("zh-acting")
	p.asks("/admin/info", 2)
	p.banner("只读。") // the server decides
	p.expect(403, "/admin/info")
	c.want(200, "DELETE", "/admin/act-as", "")
	p.see("以其他用户身份的操作已结束")
	p.find("button", "Administrator")
}

// TestConsoleImpersonation_Tabs checks that each tab has the stream of its effective user.
func TestConsoleImpersonation_Tabs(t *testing.T) {
	t.Parallel()
	server := start(t, t.TempDir())
	c := signedIn(t, server)
	bob := c.clerk("bob")
	c.actAs(bob, "ticket 10", 0)
	p := signedInAt(t, server, c, "/admin/role")
	p.find("button", "Administrator")
	c.streams(1)
	tab, closeTab := p.tab(c.token, "/admin/role", acting(bob))
	defer closeTab()
	tab.banner("You (admin) are acting as bob.")
	c.streams(2)
	id := c.create("/admin/role", "name", "Fresh")
	p.see("Fresh")
	tab.see("Fresh") // a stream of its own
	c.want(200, "DELETE", fmt.Sprintf("/admin/role/%d", id), "")
	p.gone("Fresh")
	tab.gone("Fresh")
	tab.expect(403, "/system/event")
	c.want(200, "DELETE", "/admin/act-as", "")
	tab.see("You’re no longer acting as another user.")
	tab.find("button", "Administrator")
}

// TestConsoleNotices of sign-ins on other devices, and of an administrator who has acted as the
// user.
func TestConsoleNotices(t *testing.T) {
	t.Parallel()
	server := start(t, t.TempDir())
	c := signedIn(t, server)
	bob := c.clerk("bob")
	c.create("/admin/list", "username", "ada", "password", password, "role_ids", []int64{1})
	first := signedInAs(t, server, "bob")
	second := newClient(t, server)
	second.extra["User-Agent"] = firefox
	second.want(200, "POST", "/admin/login", object("username", "bob", "password", password))
	c.actAs(bob, "ticket 7", 0)
	ada := signedInAs(t, server, "ada")
	ada.actAs(bob, "ticket 8", 0)
	c.want(200, "DELETE", fmt.Sprintf("/admin/list/%d", c.person("/admin/list", "ada").ID), "")

	p := signedInAt(t, server, first, "/")
	p.see("An administrator acted as you. Reason: ticket 8 (+1 more)")
	p.looksGood("notices-one-line")
	p.click("button", "Details")
	p.see("New sign-in: Firefox on Linux, from 127.0.0.1.")
	p.see("admin acted as you. Reason: ticket 7")
	p.see("An administrator acted as you. Reason: ticket 8")
	p.looksGood("notices")
	zh := signedInAt(t, server, first, "/", inChinese)
	zh.click("button", "详情")
	zh.see("新设备登录：Linux 上的 Firefox（127.0.0.1）。")
	zh.looksGood("zh-notices")
	p.click("link", "Review devices")
	p.at("/account/security#devices")
	p.in("#devices").see("Firefox on Linux")
	p.gone("Closing hides a sign-in notice")
	p.click("button", "Notices (2)")
	bell := p.in(".bell-panel")
	bell.see("New sign-in: Firefox on Linux, from 127.0.0.1.")
	p.looksGood("bell")
	bell.click("button", "Close: New sign-in")
	p.gone("New sign-in: ") // on the page, too
	p.find("button", "Notices (1)")
	p.press("Escape")
	p.missing("button", "Close: New sign-in")
	p.in("main").click("button", "Close: An administrator acted as you")
	p.gone("acted as you")
	p.missing("button", "Notices (1)")
	p.settle()
	if notices := first.notices(); len(notices) != 0 {
		t.Errorf("%d notices are left", len(notices))
	}

	p.open("/")
	p.find("button", "bob")
	p.settle()
	p.gone("acted as you")
}

// notices returns those of the account.
func (c *client) notices() []any {
	c.t.Helper()
	return into[struct{ Notices []any }](c.t, c.want(200, "GET", "/admin/info", "")).Notices
}

// TestConsoleNotices_ForOlderDevices checks that notices for older devices stay until they are
// closed on a newer one. Later ones are shown.
func TestConsoleNotices_ForOlderDevices(t *testing.T) {
	t.Parallel()
	server := start(t, t.TempDir())
	c := signedIn(t, server)
	bob := c.clerk("bob")
	signedInAs(t, server, "bob")
	var newer *client
	for _, agent := range []string{firefox, chromeOnWindows} {
		newer = newClient(t, server)
		newer.extra["User-Agent"] = agent
		newer.token = into[grant](t,
			newer.want(200, "POST", "/admin/login",
				object("username", "bob", "password", password))).Token
	}

	p := signedInAt(t, server, newer, "/")
	p.see("New sign-in: Firefox on Linux, from 127.0.0.1.")
	p.click("button", "Details")
	p.see("Closing hides a sign-in notice in this tab only, unless you used this device before the sign-in. It is removed after 30 days.")
	p.phone()
	p.shoot("notices-stay")
	p.click("button", "Close")
	p.gone("New sign-in")
	p.until("have the focus at the content", func() error {
		return evaluate(p,
			`(() => { if (document.activeElement?.id !== 'main') throw new Error('it is elsewhere') })()`, nil)
	})
	p.settle()
	if notices := newer.notices(); len(notices) != 1 {
		t.Errorf("there are %d notices, and one stays", len(notices))
	}

	p.open("/")
	p.find("button", "bob")
	p.settle()
	p.gone("New sign-in")

	c.actAs(bob, "ticket 12", 0)
	p.open("/")
	p.see("admin acted as you. Reason: ticket 12")
	p.gone("New sign-in")
	p.click("button", "Close")
	p.gone("acted as you")

	q := signedInAt(t, server, newer, "/") // another sign-in
	q.see("New sign-in: Firefox on Linux, from 127.0.0.1.")
}

// TestConsoleOwnActivity shows what the user did, and others as the user.
func TestConsoleOwnActivity(t *testing.T) {
	t.Parallel()
	server := start(t, t.TempDir())
	c := signedIn(t, server)
	bob := c.clerk("bob")
	b := signedInAs(t, server, "bob")
	for n := range 20 {
		b.want(200, "PUT", "/admin/info", object("nickname", fmt.Sprint("Bob ", n)))
	}

	c.actAs(bob, "ticket 7", 1)
	c.extra["X-Act-As"] = fmt.Sprint(bob)
	c.want(200, "POST", "/system/dict", object("code", "colours", "name", "Colours"))
	delete(c.extra, "X-Act-As")

	p := signedInAt(t, server, b, "/account")
	p.click("tab", "Activity")
	p.at("/account/activity")
	p.row("Create a dictionary").see("by admin")
	p.row("Act as a user").see("Reason: ticket 7")
	p.gone("Sign in\n")
	p.click("button", "Show more")
	p.see("Sign in\n")
	p.missing("button", "Show more")
	p.until("have the focus at what was found", func() error {
		return evaluate(p,
			`(() => { if (!document.activeElement?.matches('li')) throw new Error('it is elsewhere') })()`, nil)
	})
	p.looksGood("activity")
	q := signedInAt(t, server, c, "/account/activity", inChinese)
	q.row("新建字典").see("以 bob 的身份")
	q.in("main li:last-child").see("登录")
	q.looksGood("zh-activity")
}
