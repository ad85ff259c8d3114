package e2e

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/cdproto/performance"
	"github.com/chromedp/cdproto/runtime"
)

// slowdown is how many times slower the processor is while an interaction is measured.
const slowdown = 4

// speedScript measures in a page: until is the time from each event of an interaction to the frame
// after it, and calm waits until the frames come fast and nothing moves.
const speedScript = `globalThis.speed = (() => {
	let worst = 0, pending = 0
	const types = ['pointerdown', 'mousedown', 'pointerup', 'mouseup', 'click', 'keydown', 'input', 'keyup']
	for (const type of types) addEventListener(type, (e) => {
		pending++
		requestAnimationFrame(() => {
			const { port1, port2 } = new MessageChannel()
			port1.onmessage = () => { pending--; worst = Math.max(worst, performance.now() - e.timeStamp) }
			port2.postMessage(0)
		})
	}, true)
	const frame = () => new Promise(requestAnimationFrame)
	const moves = () => document.getAnimations().some((a) => a.playState === 'running' && a.effect?.getComputedTiming().endTime !== Infinity)
	return {
		begin: () => { worst = 0 },
		painted: async () => { do await frame(); while (pending); await frame(); return worst },
		calm: async () => {
			for (let quiet = 0, last = await frame(); quiet < 6;) {
				const now = await frame()
				quiet = moves() || now - last > 100 ? 0 : quiet + 1
				last = now
			}
		},
	}
})()`

// interaction is a click or a key in a page, after prepare and before undo, which are not measured.
type interaction struct {
	name    string
	at      string // path; "" for the bare page
	find    func(p *page) (runtime.RemoteObjectID, error)
	key     string // pressed instead of a click
	prepare func(p *page)
	undo    func(p *page)

	paint []float64 // milliseconds until the next frame
	work  []float64 // milliseconds of the main thread until the page is calm
}

func role(role, name string) func(p *page) (runtime.RemoteObjectID, error) {
	return func(p *page) (runtime.RemoteObjectID, error) { return locate(p, name, role) }
}

func css(selector string) func(p *page) (runtime.RemoteObjectID, error) {
	return func(p *page) (runtime.RemoteObjectID, error) {
		return element(p, fmt.Sprintf("[...root.querySelectorAll(%s)].filter(shown)[0]", quote(selector)))
	}
}

// mainThread returns the milliseconds that the main thread of a page has worked.
func (p *page) mainThread() float64 {
	p.t.Helper()
	for _, m := range send(p, performance.GetMetrics, cdp.Empty{}).Metrics {
		if m.Name == "TaskDuration" {
			return 1000 * m.Value
		}
	}
	p.fatalf("there is no TaskDuration")
	return 0
}

// calm waits until no request is under way and the frames come fast.
func (p *page) calm() {
	p.t.Helper()
	p.until("be calm", func() error {
		err := evaluate(p, "speed.calm()", nil)
		if n := p.watch.loading(); err == nil && n > 0 {
			err = fmt.Errorf("%d requests are under way", n)
		}
		return err
	})
}

// throttle makes the processor of a page slower.
func (p *page) throttle(rate float64) {
	p.t.Helper()
	send(p, emulation.SetCPUThrottlingRate, emulation.SetCPUThrottlingRateParams{Rate: rate})
}

// measure does an interaction once.
func (i *interaction) measure(p *page) {
	p.t.Helper()
	if i.prepare != nil {
		i.prepare(p)
	}
	p.settle()
	var at point
	if i.key == "" {
		p.until("find "+i.name, func() (err error) {
			at, err = p.place(func() (runtime.RemoteObjectID, error) { return i.find(p) })
			return err
		})
		send(p, input.DispatchMouseEvent, input.DispatchMouseEventParams{Type: input.DispatchMouseEventTypeMouseMoved, X: at.X, Y: at.Y})
	}
	p.throttle(slowdown)
	p.calm()

	before := p.mainThread()
	painted := func() (took float64) {
		if err := evaluate(p, "speed.painted()", &took); err != nil {
			p.fatalf("%s: %v", i.name, err)
		}
		return took
	}
	if err := evaluate(p, "speed.begin()", nil); err != nil {
		p.fatalf("%v", err)
	}
	if i.key != "" {
		p.press(i.key)
	} else {
		p.mouse(input.DispatchMouseEventTypeMousePressed, at)
		painted()
		p.mouse(input.DispatchMouseEventTypeMouseReleased, at)
	}
	took := painted()
	p.calm()
	if os.Getenv("REEVE_TEST_SPEED") != "" {
		p.t.Logf("%s %.1f", i.name, took)
	}
	i.paint = append(i.paint, took)
	i.work = append(i.work, p.mainThread()-before)

	p.throttle(1)
	if i.undo != nil {
		p.settle()
		i.undo(p)
	}
}

// barePage opens a page with a button and a drawer of the console's component library.
func barePage(t *testing.T, in context.Context) *page {
	t.Helper()
	dir := t.TempDir()
	build := exec.Command("node_modules/.bin/vite", "build", "-c", "scripts/bare.config.ts", "--outDir", dir, "--logLevel", "error")
	build.Dir = "../../embed/console"
	if out, err := build.CombinedOutput(); err != nil {
		unless(t, fmt.Sprintf("no page to compare with (npm ci in embed/console): %v\n%s", err, out))
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasSuffix(r.URL.Path, ".js") {
			http.ServeFile(w, r, filepath.Join(dir, "bare.js"))
			return
		}
		w.Header().Set("Content-Type", "text/html")
		fmt.Fprint(w, `<!doctype html><html lang="en"><title>Bare</title><link rel="icon" href="data:,"><div id="root"></div><script type="module" src="/bare.js"></script>`)
	}))
	t.Cleanup(server.Close)
	p := consoleIn(t, in, &process{url: server.URL})
	p.prepareSpeed()
	p.open("/")
	return p
}

func (p *page) prepareSpeed() {
	p.t.Helper()
	p.motion(true)
	p.before(speedScript)
	send(p, performance.Enable, performance.EnableParams{TimeDomain: performance.EnableTimeDomainThreadTicks})
}

// aboveRows is how much more work of the processor a form may be above 100 rows than above none: 1.3 times was
// measured, and 1.9 times when the list rendered again.
const aboveRows = 1.6

// TestConsoleSpeed_SlowProcessor opens and closes a form above a list with 100 rows and above one with none, on a
// processor throttled four times. Each night, it also compares what people do most with a bare button and a bare drawer
// of the component library, and prints it.
func TestConsoleSpeed_SlowProcessor(t *testing.T) {
	onlyInCI(t, noBrowser)
	in, err := startChromium("") // which optimizes its scripts, as people's browsers do
	if err != nil {
		unless(t, err.Error())
	}
	t.Cleanup(func() { endChromium(in) })
	server := start(t, t.TempDir())
	c := signedIn(t, server)
	for n := range 110 {
		c.create("/admin/list", "username", fmt.Sprintf("user-%03d", n), "invite", "link", "nickname", fmt.Sprintf("Person %03d", n),
			"email", fmt.Sprintf("user-%03d@example.com", n))
	}

	var bare *page
	if nightly() || os.Getenv("REEVE_TEST_SPEED") != "" {
		bare = barePage(t, in)
	}
	p := signedInAtSpeed(t, in, server, c)

	escape := func(p *page) { p.press("Escape") }
	const full, empty = "/admin/list?pageSize=100", "/admin/list?keywordSearch=matches-nothing"
	newUser, closes := role("button", "New user"), css(".ant-drawer-close")
	drawer := func(p *page) { p.settle(); p.click("button", "New user"); p.dialog().find("textbox", "Username") }
	inDrawer := func(selector string) func(p *page) (runtime.RemoteObjectID, error) {
		return css(".ant-drawer-body " + selector)
	}
	first := css("tbody .ant-checkbox-input")
	all := []*interaction{
		{name: "bare button", find: css("button")},
		{name: "bare drawer opens", find: role("button", "Open"), undo: closeDrawer},
		{name: "bare drawer closes", find: closes, prepare: func(p *page) { p.click("button", "Open") }},

		{name: "New user opens, no rows", at: empty, find: newUser, undo: closeDrawer},
		{name: "New user closes, no rows", at: empty, find: closes, prepare: drawer},
		{name: "New user opens, 100 rows", at: full, find: newUser, undo: closeDrawer},
		{name: "New user closes, 100 rows", at: full, find: closes, prepare: drawer},
		{name: "Edit opens, 100 rows", at: full, find: css("[data-actions] button"), undo: closeDrawer},
		{name: "Edit closes, 100 rows", at: full, find: closes, prepare: func(p *page) { p.in("tbody tr:nth-child(3)").click("button", "Edit") }},
		{name: "form: text", at: full, key: "a", prepare: func(p *page) { drawer(p); p.dialog().fill("Display name", "x") }, undo: discard},
		{name: "form: radio", at: full, find: inDrawer("label.ant-radio-wrapper:nth-child(2)"), prepare: drawer, undo: discard},
		{name: "form: select opens", at: full, find: inDrawer(".ant-select-multiple"), prepare: drawer, undo: func(p *page) { escape(p); closeDrawer(p) }},
		{name: "form: switch", at: full, find: inDrawer(".ant-switch"), prepare: drawer, undo: discard},

		{name: "row is selected", at: full, find: first, undo: func(p *page) { p.hit("the row", func() (runtime.RemoteObjectID, error) { return first(p) }) }},
		{name: "all rows are selected", at: full, find: css("thead .ant-checkbox-input"),
			undo: func(p *page) {
				p.hit("all rows", func() (runtime.RemoteObjectID, error) { return css("thead .ant-checkbox-input")(p) })
			}},
		{name: "sort", at: full, find: css("th.ant-table-column-has-sorters"), undo: func(p *page) { p.open(full) }},
		{name: "next page", at: full, find: css(".ant-pagination-next button"), undo: func(p *page) { p.open(full) }},
		{name: "search: key", at: full, key: "u", prepare: func(p *page) {
			p.hit("search", func() (runtime.RemoteObjectID, error) { return css("[data-search] input, input[data-search]")(p) })
		}, undo: func(p *page) { p.open(full) }},
		{name: "filter opens", at: full, find: css(".ant-select[class]"), undo: escape},
		{name: "further filters open", at: full, find: role("button", "More filters"), undo: escape},
		{name: "row menu opens", at: full, find: css("tbody tr:nth-child(4) [data-actions] button:last-child"), undo: escape},
		{name: "status switch", at: full, find: css("tbody tr:nth-child(5) .ant-switch")},
		{name: "menu folds", at: full, find: role("button", "Collapse sidebar"), undo: func(p *page) { p.click("button", "Expand sidebar") }},
		{name: "color menu opens", at: full, find: css("header .ant-dropdown-trigger"), undo: escape},
		{name: "search everywhere opens", at: full, key: "Ctrl+K", undo: escape},
		{name: "another page", at: full, find: css("nav a[href$='/system/field'], nav a[href$='/admin/role']"), undo: func(p *page) { p.open(full) }},
		{name: "tab of Account", at: "/account", find: css(".ant-tabs-tab:nth-child(2)"), undo: func(p *page) { p.open("/account") }},
		{name: "Operations of Home", at: "/", find: css(".ant-segmented-item:nth-child(2)"), undo: func(p *page) { p.open("/") }},
		{name: "New role opens", at: "/admin/role", find: css("[data-create]"), undo: closeDrawer},
		{name: "New role closes", at: "/admin/role", find: closes, prepare: func(p *page) {
			p.hit("New role", func() (runtime.RemoteObjectID, error) { return css("[data-create]")(p) })
		}},
	}
	if only := os.Getenv("REEVE_TEST_SPEED"); only != "" {
		all = slices.DeleteFunc(all, func(i *interaction) bool { return !strings.Contains(i.name, only) })
	} else if !nightly() {
		all = slices.DeleteFunc(all, func(i *interaction) bool { return !strings.HasPrefix(i.name, "New user") })
	}

	slices.SortStableFunc(all, func(a, b *interaction) int { return cmp.Compare(a.at, b.at) })
	for round := range 1 + size(2, 2, 15) {
		at := ""
		for _, i := range all {
			on := p
			if i.at == "" {
				on = bare
			} else if i.at != at {
				at = i.at
				p.open(at)
			}
			i.measure(on)
		}
		if round == 0 { // which loads what is loaded late
			for _, i := range all {
				i.paint, i.work = nil, nil
			}
		}
	}

	for _, i := range all {
		t.Logf("%-28s paint %6.1f  work %6.1f  %5.1f", i.name, median(i.paint), median(i.work), i.paint)
	}
	none, some := 0.0, 0.0
	for _, i := range all {
		if strings.HasPrefix(i.name, "New user") && i.at == empty {
			none += median(i.work)
		}
		if strings.HasPrefix(i.name, "New user") && i.at == full {
			some += median(i.work)
		}
	}
	if some > aboveRows*none {
		t.Errorf("a form opens and closes with %.0f ms of work above 100 rows, %.0f above none", some, none)
	}
}

func closeDrawer(p *page) {
	p.settle()
	p.in(".ant-drawer-close").tap()
}

// discard closes a drawer with input.
func discard(p *page) {
	p.in(".ant-drawer-close").tap()
	p.confirm("Discard")
}

func signedInAtSpeed(t *testing.T, in context.Context, server *process, c *client) *page {
	p := consoleIn(t, in, server)
	p.as(c.token)
	p.prepareSpeed()
	return p
}
