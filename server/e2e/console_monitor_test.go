package e2e

import (
	"errors"
	"fmt"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/input"
)

// watched returns a server with recorded events of every kind, and their period as the
// console has it in its URL.
func watched(t *testing.T) (server *process, c *client, span url.Values) {
	t.Helper()
	begun := time.Now().Add(-time.Second)
	server = start(t, t.TempDir(), "REEVE_MONITOR__REDIS__TARGETS=queue=redis://127.0.0.1:1") // where no server listens
	c = signedIn(t, server)
	c.want(200, "PUT", "/system/setting", values("monitor.slow_request_ms", 5)) // so that a hash takes longer
	newClient(t, server).want(401, "POST", "/admin/login",
		object("username", "nobody", "password", password))
	c.want(404, "GET", "/nothing/here", "")
	var ids []string
	for i := range 6 {
		made := c.want(200, "POST", "/admin/list",
			object("username", fmt.Sprintf("somebody%d", i), "password", "a very secret word"))
		ids = append(ids, fmt.Sprint(into[struct{ ID int64 }](t, made).ID))
	}

	last := c.want(200, "DELETE", "/admin/list?ids="+strings.Join(ids, ","), "")
	c.stored(last.header.Get("X-Request-Id"))
	at := func(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05.000Z") }
	return server, c, url.Values{"from": {at(begun)}, "to": {at(time.Now())}}
}

// stored waits until a request is recorded.
func (c *client) stored(id string) {
	c.t.Helper()
	eventually(c.t, "the request "+id+" is kept", func() bool { return c.keeps(id) })
}

// matches returns the number of events in a list of the interface.
func (c *client) matches(kind string, span url.Values, conditions string) (total int) {
	c.t.Helper()
	times := url.Values{"recorded_at[]": {span.Get("from"), span.Get("to")}}
	return into[struct{ Total int }](c.t,
		c.want(200, "GET", "/system/monitor/"+kind+"?"+times.Encode()+"&"+conditions, "")).Total
}

// tells waits until a list shows this total and no other.
func (p *page) tells(total int) {
	p.t.Helper()
	switch {
	case total == 0:
		p.see("No results")
	case total > 50:
		p.see(fmt.Sprintf("Showing 50 of %d.", total))
	default:
		p.see(fmt.Sprintf("\n%d total.", total))
	}
}

// Each condition of each list is set on the page; the URL then contains it, and the list
// shows what the interface returns for it.
func TestConsoleMonitorFilters(t *testing.T) {
	t.Parallel()
	server, c, span := watched(t)
	id := c.want(200, "GET", "/system/monitor/request?method=DELETE&pageSize=1", "")
	deleted := into[struct {
		Data []struct {
			RequestID string `json:"request_id"`
		}
	}](t, id).Data[0].RequestID

	choose := func(label, option string) func(*page) {
		return func(p *page) { p.choose(label, option) }
	}

	fill := func(label, text string) func(*page) {
		return func(p *page) {
			p.fill(label, text)
			p.press("Tab")
		}
	}

	toggle := func(label string) func(*page) { return func(p *page) { p.toggle(label, true) } }
	type filter struct {
		condition string
		act       func(*page)
	}
	for kind, filters := range map[string][]filter{
		"request": {
			{"keywordSearch=somebody3", fill("Search", "somebody3")},
			{"user_id=1", choose("User", "Administrator (admin)")},
			{"status=4xx", choose("Status", "4xx Client error")},
			{"method=DELETE", choose("Method", "DELETE")},
			{"route=%2Fadmin%2Flist", fill("Route", "/admin/list")},
			{"address=192.0.2.1", fill("Client address", "192.0.2.1")},
			{"min_duration_ms=5", fill("Min. duration", "5")},
			{"request_id=" + deleted, fill("Request ID", deleted)},
			{"slow=1", toggle("Slow only")},
		},
		"auth": {
			{"type=login_failed", choose("Event", "sign-in failed")},
			{"result=failed", choose("Result", "failed")},
			{"username=nobody", fill("Username", "nobody")},
			{"ability=admin.list.create", fill("Permission", "admin.list.create")},
		},
		"query": {
			{"mode=write", choose("Mode", "write")},
			{"plan=scan", choose("Plan", "scan")},
			{"connection=files.db", choose("Connection", "files.db")},
			{"statement=PUT+user", fill("Statement", "PUT user")},
			{"n_plus_one=1", toggle("N+1 only")},
		},
		"cache": {
			{"cache=settings", choose("Cache", "settings")},
			{"type=rebuild", choose("Event", "rebuilt")},
		},
		"redis": {
			{"type=slowlog", choose("Event", "slow command")},
			{"connection=none", fill("Connection", "none")},
			{"command=none", fill("Command", "none")},
		},
	} {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			path := "/system/monitor/" + kind + "?" + span.Encode()
			p := signedInAt(t, server, c, path)
			all := c.matches(kind, span, "")
			p.tells(all)
			for _, f := range filters {
				f.act(p)
				p.at(path + "&" + f.condition)
				matching := c.matches(kind, span, f.condition)
				if matching == all {
					t.Errorf("%s leaves nothing out", f.condition)
				}
				p.tells(matching)
				p.in("main").click("button", "Clear filters")
				p.at(path)
				p.tells(all)
			}
		})
	}
}

func TestConsoleMonitorTimes(t *testing.T) {
	t.Parallel()
	server, c, span := watched(t)
	p := signedInAt(t, server, c, "/system/monitor")
	p.at("/system/monitor/request")
	p.click("radio", "15 min")
	p.at("/system/monitor/request?span=15m")
	p.missing("radio", "Caches")
	p.click("tab", "Diagnostics")
	p.click("radio", "Redis")
	p.at("/system/monitor/redis?span=15m")
	p.in("main ul").row("queue").see("down")
	p.click("tab", "Requests")
	p.row("/nothing/here").see("404")

	p.click("button", "Requests as a table")
	p.in("[role=region]").find("columnheader", "Client errors (4xx)")
	p.click("button", "Requests as a table")
	p.sweep(".u-over", 0.5, 0.9)
	p.zoomed()

	p.open("/system/monitor/request?live=1&" + span.Encode()) // a period in the past is not live
	p.row("/nothing/here").gone("new")
	p.find("button", "Live")
	p.open("/system/monitor/request?live=1")
	p.row("/nothing/here").see("404")
	c.want(404, "GET", "/nothing/lively", "")
	p.row("/nothing/lively").see("new")
	p.click("button", "Pause")
	p.at("/system/monitor/request")
	c.stored(c.want(404, "GET", "/nothing/paused", "").header.Get("X-Request-Id"))
	p.gone("/nothing/paused")
	p.click("button", "Reload")
	p.row("/nothing/paused").see("404")
}

// sweep drags from one fraction of an element's width to another.
func (p *page) sweep(selector string, from, to float64) {
	p.t.Helper()
	p.settle()
	var box struct{ Left, Top, Width, Height float64 }
	p.until("find "+selector, func() error {
		return evaluate(p,
			fmt.Sprintf("(({ left, top, width, height }) => ({ Left: left, Top: top, Width: width, Height: height }))(css(document, %s).getBoundingClientRect())", quote(selector)), &box)
	})
	at := func(part float64) point {
		return point{box.Left + part*box.Width, box.Top + box.Height/2}
	}
	p.mouse(input.DispatchMouseEventTypeMouseMoved, at(from))
	p.mouse(input.DispatchMouseEventTypeMousePressed, at(from))
	p.mouse(input.DispatchMouseEventTypeMouseMoved, at((from+to)/2))
	p.mouse(input.DispatchMouseEventTypeMouseMoved, at(to))
	p.mouse(input.DispatchMouseEventTypeMouseReleased, at(to))
}

// zoomed waits until the address is that of the requests of a part of the time.
func (p *page) zoomed() {
	p.t.Helper()
	p.until("have the part of the time in the address", func() error {
		var is struct{ Path, Search string }
		if err := evaluate(p, "({ Path: location.pathname, Search: location.search })", &is); err != nil {
			return err
		}
		part, err := url.ParseQuery(strings.TrimPrefix(is.Search, "?"))
		if err == nil &&
			(is.Path != "/console/system/monitor/request" || part.Get("from") == "" ||
				part.Get("to") <= part.Get("from") || part.Get("span") != "") {
			err = errors.New(is.Path + is.Search)
		}
		return err
	})
}

func TestConsoleMonitorMore(t *testing.T) {
	t.Parallel()
	server := start(t, t.TempDir())
	c := signedIn(t, server)
	var last string
	for i := range 120 {
		last = c.want(404, "GET", fmt.Sprintf("/nothing/%d", i), "").header.Get("X-Request-Id")
	}

	c.stored(last)
	p := signedInAt(t, server, c, "/system/monitor/request?status=404")
	p.see("Showing 50 of 120.")
	p.click("button", "Show more")
	p.see("Showing 100 of 120.")
	p.click("button", "Show more")
	p.see("120 total.")
	p.missing("button", "Show more")
	var rows int // each once
	p.until("count the rows", func() error {
		return evaluate(p,
			"new Set([...root.querySelectorAll('tbody a')].map((a) => a.innerText)).size", &rows)
	})
	if rows != 120 {
		t.Errorf("%d different rows", rows)
	}
}

func TestConsoleMonitorRequest(t *testing.T) {
	t.Parallel()
	server, c, _ := watched(t)
	p := signedInAt(t, server, c, "/system/monitor/request?route=%2Fadmin%2Flist&method=DELETE")
	p.in("tbody").find("link", "/admin/list?ids=")
	p.in("tbody tr.ant-table-row").tap()
	p.find("heading", "DELETE /admin/list?ids=")
	p.toggle("Notable only", true)
	p.missing("cell", "Auth")
	p.in("tbody tr.ant-table-row:nth-child(2)").see("N+1")
	p.in("tbody tr.ant-table-row:nth-child(2)").click("button", "Expand row")
	p.see("jobs/delete_many")
	p.audit()
	p.toggle("Notable only", false)
	p.click("radio", "Auth 1")
	p.row("admin.list.delete").see("Owner")
	p.click("button", "Copy request ID")
	p.find("button", "Copied")
	p.click("button", "Back to list")
	p.at("/system/monitor/request?route=%2Fadmin%2Flist&method=DELETE")

	made := c.want(200, "POST", "/admin/list",
		object("username", "another", "password", "a very secret word"))
	id := made.header.Get("X-Request-Id")
	c.stored(id)
	p.open("/system/monitor/query?request_id=" + id + "&statement=PUT+password_hash")
	p.in("tbody tr.ant-table-row:nth-child(2)").click("link", "Open the request "+id)
	p.at("/system/monitor/request/" + id)
	p.find("heading", "POST /admin/list")
	p.in("pre[aria-label=Body]").see(`"username": "another"`)
	p.gone("a very secret word")
	p.width(320)
	p.noSidewaysScroll()
	p.expect(404, "/system/monitor/request/1")
	p.open("/system/monitor/request/1")
	p.see("Request not found; it may have expired.")
}

func TestConsoleMonitorTraces(t *testing.T) {
	t.Parallel()
	server := start(t, t.TempDir())
	c := signedIn(t, server)
	running := func() (routes []string) {
		for _, trace := range list[struct {
			Route   string
			EndedAt *string `json:"ended_at"`
		}](c, "/system/monitor/trace") {
			if trace.EndedAt == nil {
				routes = append(routes, trace.Route)
			}
		}
		return routes
	}

	p := signedInAt(t, server, c, "/system/monitor/trace")
	p.see("No trace is running.")
	p.click("button", "Start trace")
	p.dialog().see("at least one")
	p.audit()
	p.expect(422, "/system/monitor/trace")
	p.confirm("Start")
	p.dialog().see("a user, a client address or a route is required")
	p.fill("Client address", "nowhere")
	p.press("Tab")
	p.confirm("Start")
	p.dialog().see("must be an IP address, such as 192.0.2.7")
	p.fill("Client address", "127.0.0.1")
	p.fill("Route", "GET /admin/role")
	p.press("Tab")
	p.confirm("Start")
	p.see("Trace started.")
	if got := running(); len(got) != 1 || got[0] != "GET /admin/role" {
		t.Fatalf("running: %v", got)
	}

	for range 3 {
		c.want(200, "GET", "/admin/role", "")
	}

	p.row("GET /admin/role").find("cell", "3")
	p.row("GET /admin/role").click("button", "Stop")
	p.row("GET /admin/role").see("ended")
	if got := running(); len(got) != 0 {
		t.Fatalf("still running: %v", got)
	}

	traced := c.create("/admin/list", "username", "traced", "password", password)
	c.want(200, "POST", "/system/monitor/trace", object("user_id", traced))
	p.open("/system/monitor/trace")
	p.row("traced").find("button", "Stop")
	p.row("GET /admin/role").see("ended")
	p.row("GET /admin/role").click("link", "View requests")
	p.see("3 total.")
}

func TestConsoleMonitorPermissions(t *testing.T) {
	t.Parallel()
	server, c, _ := watched(t)
	p := signedInAt(t, server,
		c.holder(server, "watcher", "system", "system.monitor", "system.monitor.auth"),
		"/system/monitor")
	p.at("/system/monitor/auth")
	p.row("#").see("sign-in failed")
	p.missing("tab", "Requests")
	p.missing("tab", "Diagnostics")
	p.missing("link", "Open the request")
	p.missing("image", "Requests")
	p.choose("User", "watcher")
	p.at(fmt.Sprintf("/system/monitor/auth?user_id=%d", c.person("/admin/list", "watcher").ID))
	p.open("/system/monitor/request")
	p.see("Required permission: system.monitor.request. Ask an administrator.")
}

func TestConsoleHome(t *testing.T) {
	t.Parallel()
	server, c, _ := watched(t)
	p := signedInAt(t, server, c, "/")
	p.see("Healthy")
	p.row("Failed")
	p.click("radio", "Operations")
	p.at("?view=operations")
	p.row("POST /admin/list").find("cell", "6")
	p.row("data.db").see("iB")
	p.row("Database").see("OK")
	p.find("image", "Requests")
	p.find("image", "Response time")
	p.click("radio", "7 d")
	p.at("?view=operations&span=7d")
	p.sweep(".ant-card:first-child .u-over", 0.2, 0.9)
	p.zoomed()
	p.find("heading", "Monitoring")
	p.open("/?view=operations")
	p.click("link", "POST /admin/list")
	p.see("6 total.")
}

// TestConsoleHome_Overview looks at the people and the changes on the page that everyone opens first.
func TestConsoleHome_Overview(t *testing.T) {
	t.Parallel()
	server, c := office(t)
	kim := c.create("/admin/list", "username", "kim")
	c.want(200, "POST", fmt.Sprintf("/admin/list/%d/invite", kim), "{}")
	for range 12 { // until the username is locked out
		server.surfer().do("POST", "/admin/login", object("username", "bea", "password", "wrong"))
	}
	p := signedInAt(t, server, c, "/")
	p.see("new in 7 days, 0 in the 7 days before")
	p.see("Pending invitations")
	p.see("Locked out\n1\nbea")
	p.see("Last proven backup")
	p.see("admin created the user kim")
	p.missing("image", "Requests")
	p.looksGood("home")
	newest := into[struct{ Data []struct{ Seq int } }](t, c.want(200, "GET", "/system/audit?pageSize=1&collection=user", "")).Data[0].Seq
	p.click("button", "admin created the user kim")
	p.at(fmt.Sprint("/system/audit/", newest))

	zh := signedInAt(t, server, c, "/", inChinese)
	zh.see("概览")
	zh.see("近 7 天新增")
	zh.shoot("zh-home")

	clerk := signedInAt(t, server, c.holder(server, "clerk", "admin", "admin.list", "admin.list.query"), "/")
	clerk.see("new in 7 days")
	clerk.see("Your account")
	for _, name := range []string{"Pending invitations", "Locked out", "Last proven backup", "Recent changes"} {
		clerk.gone(name)
	}
	clerk.missing("radio", "Operations")
}

func TestConsoleHome_WithOtherRights(t *testing.T) {
	t.Parallel()
	server := start(t, t.TempDir())
	c := signedIn(t, server)
	p := signedInAt(t, server, c.holder(server, "watcher"), "/")
	p.see("Your account")
	p.row("Signed in").see("watcher")
	p.missing("link", "Active sessions")
	p.missing("image", "Requests")
	p.audit()

	other := signedInAt(t, server,
		c.holder(server, "other", "system", "system.session", "system.session.query"), "/")
	other.find("link", "Active sessions")
	other.missing("image", "Requests")
	other.gone("Recent sign-ins")
	other.click("link", "Active sessions")
	other.at("/system/session")
}

// TestConsoleMonitor_Diagnostics: lists for developers are together, and Redis is among them only if a server is watched.
func TestConsoleMonitor_Diagnostics(t *testing.T) {
	t.Parallel()
	server, c := office(t)
	p := signedInAt(t, server, c, "/system/monitor")
	p.find("tab", "Sign-ins & denials")
	p.click("tab", "Diagnostics")
	p.at("/system/monitor/query")
	p.click("radio", "Traces")
	p.at("/system/monitor/trace")
	p.missing("radio", "Redis")
	p.audit()
	p.shoot("diagnostics")
	p.width(390)
	p.noSidewaysScroll()
	p.shoot("diagnostics-390")
}
