package e2e

import (
	"fmt"
	"testing"

	"github.com/chromedp/cdproto/emulation"
)

// phone sets the window to a phone of 390 pixels that is as high as one.
func (p *page) phone() {
	p.t.Helper()
	send(p, emulation.SetDeviceMetricsOverride, emulation.SetDeviceMetricsOverrideParams{Width: 390, Height: 844, DeviceScaleFactor: 1})
}

// actAs lets the client act as a user.
func (c *client) actAs(id int64, reason string, writes int) {
	c.t.Helper()
	c.want(200, "POST", fmt.Sprintf("/admin/list/%d/act-as", id), object("reason", reason, "writes", writes))
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
		return evaluate(p, fmt.Sprintf(`(() => { if (!document.querySelector('.acting[role=status]')?.innerText.includes(%s)) throw new Error('it is not there') })()`, quote(text)), nil)
	})
}

// clerk creates a user who sees users, roles and keys, and may create dictionaries.
func (c *client) clerk(name string) (id int64) {
	c.t.Helper()
	role := c.roleWith("Role of "+name, "admin", "admin.list", "admin.list.query", "admin.role.query", "admin.key", "admin.key.query", "system.dict.query", "system.dict.create")
	return c.create("/admin/list", "username", name, "password", password, "role_ids", []int64{role})
}

// TestConsoleActsAsAUser to look only: from the list of users, in this tab alone.
func TestConsoleActsAsAUser(t *testing.T) {
	t.Parallel()
	server := start(t, t.TempDir())
	c := signedIn(t, server)
	c.clerk("bob")
	c.want(200, "POST", "/admin/list", object("username", "old", "password", password, "status", 0))
	p := signedInAt(t, server, c, "/admin/list")
	p.click("button", "More actions for admin")
	p.missing("menuitem", "Act as user")
	p.press("Escape")
	p.click("button", "More actions for old")
	p.missing("menuitem", "Act as user")
	p.press("Escape")
	p.click("button", "More actions for bob")
	p.click("menuitem", "Act as user")
	d := p.dialog()
	d.see("For at most 30 minutes")
	d.click("button", "Act as user")
	d.see("Required")
	p.looksGood("act-as-dialog")
	d.fill("Reason", "ticket 7")
	p.press("Enter")
	p.at("/")
	p.banner("You (admin) act as bob. Read-only. Ends in 30 min.")
	p.find("link", "Users")
	p.missing("link", "API keys") // nobody manages those for somebody else
	p.missing("link", "Settings")
	p.looksGood("acting-home")

	other, closeTab := p.tab(c.token, "/system/setting")
	other.find("button", "Administrator")
	other.missing("button", "Stop")
	closeTab()

	p.click("button", "bob")
	p.missing("menuitem", "My account")
	p.find("menuitem", "Sign out")
	p.press("Escape")
	p.open("/account")
	p.see("This can’t be done while you act as another user.")
	p.open("/system/dict")
	p.click("button", "New dictionary")
	d = p.dialog()
	d.fill("Name", "Colours")
	d.fill("Code", "colours")
	p.expect(403, "/system/dict")
	d.click("button", "Save")
	p.see("You act as another user and can only look.")
	p.open("/admin/list")
	p.phone()
	p.banner("You (admin) act as bob.")
	p.noSidewaysScroll()
	p.audit()
	p.shoot("acting-list-390")
	p.until("have the bar in view after scrolling", func() error {
		return evaluate(p, `(() => {
			scrollTo(0, 400)
			const bar = document.querySelector('.acting').getBoundingClientRect(), head = document.querySelector('.frame-head').getBoundingClientRect()
			if (bar.top !== 0 || Math.abs(head.top - bar.bottom) > 1) throw new Error('the bar is at ' + bar.top + ', and the head at ' + head.top + ' below ' + bar.bottom)
			if (document.querySelector('.acting-text').scrollHeight > document.querySelector('.acting-text').clientHeight) throw new Error('the bar is too low')
		})()`, nil)
	})
	p.width(1440)
	p.click("button", "Stop")
	p.at("/")
	p.find("button", "Administrator")
	p.missing("button", "Stop")
}

// TestConsoleActsWithChanges and is told when it is over, in the page that was open.
func TestConsoleActsWithChanges(t *testing.T) {
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
	d.click("button", "Save")
	p.see("Colours")

	q := signedInAt(t, server, c, "/system/audit")
	q.see("admin as bob created the dictionary Colours")
	q.see("admin began to act as bob, with changes allowed")
	q.looksGood("acting-audit")

	p.expect(403, "/system/dict")
	c.want(200, "DELETE", "/admin/act-as", "")
	p.click("button", "Reload")
	p.at("/")
	p.see("You don’t act as another user any more.")
	p.find("button", "Administrator")
	p.missing("button", "Stop")
}

// TestConsoleActingIsOverAfterAWhile: the page notices by itself.
func TestConsoleActingIsOverAfterAWhile(t *testing.T) {
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
	p.banner("只读。") // the server decides
	p.expect(403, "/admin/info")
	c.want(200, "DELETE", "/admin/act-as", "")
	p.see("以其他用户身份的操作已结束")
	p.find("button", "Administrator")
}

// TestConsoleActingTabs: each tab has the stream of whom it acts as.
func TestConsoleActingTabs(t *testing.T) {
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
	tab.banner("You (admin) act as bob.")
	c.streams(2)
	id := c.create("/admin/role", "name", "Fresh")
	p.see("Fresh")
	tab.see("Fresh") // a stream of its own
	c.want(200, "DELETE", fmt.Sprintf("/admin/role/%d", id), "")
	p.gone("Fresh")
	tab.gone("Fresh")
	tab.expect(403, "/system/event")
	c.want(200, "DELETE", "/admin/act-as", "")
	tab.see("You don’t act as another user any more.")
	tab.find("button", "Administrator")
}

// TestConsoleNotices of sign-ins on other devices, and of an administrator who has acted as the user.
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
	p.see("New sign-in on Firefox, Linux from 127.0.0.1.")
	p.see("admin acted as you. Reason: ticket 7")
	p.see("An administrator acted as you. Reason: ticket 8")
	p.looksGood("notices")
	zh := signedInAt(t, server, first, "/", inChinese)
	zh.see("新设备登录：Firefox, Linux，IP 地址 127.0.0.1。")
	zh.looksGood("zh-notices")
	p.click("link", "Review devices")
	p.at("/account/security#devices")
	p.in("#devices").see("Firefox on Linux")
	p.click("button", "Close")
	p.gone("While you were away")
	p.open("/")
	p.find("button", "bob")
	p.gone("While you were away")
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
		return evaluate(p, `(() => { if (!document.activeElement?.matches('li')) throw new Error('it is elsewhere') })()`, nil)
	})
	p.looksGood("activity")
	q := signedInAt(t, server, c, "/account/activity", inChinese)
	q.row("新建字典").see("以 bob 的身份")
	q.see("登录")
	q.looksGood("zh-activity")
}
