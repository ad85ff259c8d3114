package e2e

import (
	_ "embed"
	"flag"
	"fmt"
	"net/url"
	"os"
	"regexp"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

//go:embed browser_look.js
var lookFinders string

// intercept answers instead of the server: writes fail, and so do reads, or have no records, or are
// not answered, as the look of the page says.
const intercept = `{
	const real = fetch
	const look = () => sessionStorage.getItem('look') ?? ''
	const text = { zh: '服务器内部错误', en: 'internal server error' }
	const fail = () => new Response(JSON.stringify({ success: false, errorCode: 'INTERNAL', msg: text[localStorage.getItem('reeve.language') ?? 'en'] ?? text.en }), { status: 500, headers: { 'content-type': 'application/json' } })
	const empty = async (response) => {
		const body = await response.clone().json().catch(() => undefined)
		if (Array.isArray(body?.data)) body.data = []
		else if (Array.isArray(body?.data?.data)) body.data = { ...body.data, data: [], total: 0 }
		else return response
		return new Response(JSON.stringify(body), { status: response.status, headers: response.headers })
	}
	HTMLInputElement.prototype.click = function () { if (this.type !== 'file') HTMLElement.prototype.click.call(this) }
	globalThis.fetch = async (path, options) => {
		const at = String(path)
		if ((options?.method ?? 'GET') !== 'GET') return fail()
		if (/^\/(admin\/info|system\/event)/.test(at) || look() === '') return real(path, options)
		if (look() === 'loading') return new Promise(() => {})
		if (look() === 'error') return fail()
		const response = await real(path, options)
		return response.ok && !/^\/system\/(info|health|setting|manual)/.test(at) ? empty(response) : response
	}
}`

// furnished is a server with records of most kinds.
func furnished(t *testing.T) (*process, *client) {
	t.Helper()
	server, c := office(t)
	c.fileGroup("Papers")
	c.keepsText("notes.txt", "some notes")
	kept := c.keepsText("old.txt", "some notes")
	c.want(200, "DELETE", fmt.Sprintf("/file/list?ids=%d", kept.ID), "")
	c.dict("colours", "tag", "Red", "Green")
	c.appFields()
	c.create("/user/list", "username", "ivy", "nickname", "Ivy Green", "password", password)
	c.create("/user/list", "username", "joe", "status", 0, "password", password)
	page := c.create("/user/rule", "name", "Orders", "key", "app.orders")
	c.create("/user/role", "name", "Seller", "rule_ids", []int64{page})
	c.create("/admin/key", "name", "Nightly export", "role_ids", []int64{c.roleWith("Exports", "admin.list.query")})
	c.create("/system/webhook", "url", "https://hooks.example.org/in", "description", "Mirror of the roles", "types", []string{"role.*"})
	c.create("/system/provider", "name", "company", "title", "Company", "issuer", "https://idp.example.org", "client_id", "reeve")
	c.invited("lea", "lea@example.org")
	signedInAs(t, server, "ann")
	newClient(t, server).want(401, "POST", "/admin/login", object("username", "ann", "password", "not it"))
	c.want(200, "PUT", "/system/setting", values("site.contact", "help@example.org"))
	return server, c
}

// tour walks over pages, all that they open, and their states.
type tour struct {
	see   func(p *page, name string) // looks at what the page shows
	looks atomic.Int64
	dark  bool
	mu    sync.Mutex
	seen  map[string]bool // pages, by their shape
}

var (
	number  = regexp.MustCompile(`\d+`)
	unnamed = regexp.MustCompile(`[^\pL\pN]+`)
)

// fresh reports whether no page of the shape of a path was visited.
func (w *tour) fresh(path string) bool {
	u, err := url.Parse(path)
	if err != nil {
		return false
	}
	shape := number.ReplaceAllString(u.Path, "0")
	if parts := strings.Split(shape, "/"); len(parts) > 2 && parts[1] == "help" {
		shape = "/help/" // its topics are read in TestConsoleManual
	}
	for _, name := range []string{"kind", "tab", "define"} { // the others are filters
		shape += "&" + u.Query().Get(name)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.seen[shape] {
		return false
	}
	w.seen[shape] = true
	return true
}

// fileName returns a text as a part of the name of a file.
func fileName(text string) string {
	name := []rune(strings.Trim(unnamed.ReplaceAllString(strings.ToLower(text), "-"), "-"))
	return string(name[:min(len(name), 40)])
}

// rest waits until the page is at rest, or for a while: what is loading in a state may not end.
func (p *page) rest(state string) {
	p.t.Helper()
	most := 5 * time.Second
	switch {
	case strings.HasSuffix(state, "loading"):
		most = 200 * time.Millisecond
	case strings.HasSuffix(state, "error"):
		most = time.Second
	}
	quiet := 0
	for end := time.Now().Add(most); quiet < 3 && time.Now().Before(end); time.Sleep(10 * time.Millisecond) {
		var why string
		if err := evaluate(p, "unsettled()", &why); err != nil || why != "" || p.watch.loading() > 0 {
			quiet = 0
		} else {
			quiet++
		}
	}
}

// look evaluates an expression with the finders of the walk.
func (p *page) look(expression string, into any) {
	p.t.Helper()
	if err := evaluate(p, fmt.Sprintf("(async () => { %s; return %s })()", lookFinders, expression), into); err != nil {
		p.fatalf("%s: %v", expression, err)
	}
}

// openers returns the names of what may open something in an element.
func (p *page) openers(within string) (names []string) {
	p.t.Helper()
	p.look("[...openers("+within+").keys()]", &names)
	return names
}

// presses presses an opener, unless it is gone, and returns what is open then, and where the page is.
func (p *page) presses(within, name string) (open int, at string) {
	p.t.Helper()
	_, at = p.opened()
	p.look(fmt.Sprintf("(() => { globalThis.pressed = openers(%s).get(%s); pressed?.click() })()", within, quote(name)), nil)
	p.rest("")
	was := at
	if open, at = p.opened(); open == 0 && at == was { // a script may be on its way
		time.Sleep(200 * time.Millisecond)
		p.rest("")
	}
	return p.opened()
}

// opened returns how many layers are open, and where the page is.
func (p *page) opened() (open int, at string) {
	p.t.Helper()
	var is struct {
		Open int
		At   string
	}
	p.look("({ Open: layers().length, At: location.pathname.slice('/console'.length) + location.search })", &is)
	return is.Open, is.At
}

// new reports whether what was pressed shows something: a layer, another tab, or a notice.
func (p *page) new(open int) (is bool) {
	p.t.Helper()
	p.look("changes(pressed)", &is)
	return is || open > 0
}

// closes closes what is open, and returns whether the page is as it was.
func (p *page) closes(path string) bool {
	p.t.Helper()
	for range 5 {
		open, at := p.opened()
		if at != path {
			return false
		}
		if open == 0 {
			return true
		}
		p.press("Escape")
		p.rest("")
		p.look("(() => { const b = top()?.querySelector('.ant-popconfirm-buttons .ant-btn-dangerous, .ant-modal-confirm-btns .ant-btn-dangerous'); b?.click() })()", nil)
	}
	return false
}

// shows is called for each look.
func (w *tour) shows(p *page, name string) {
	p.t.Helper()
	w.looks.Add(1)
	w.see(p, name)
}

// in opens a page in a state.
func (w *tour) in(p *page, state, path string) {
	p.t.Helper()
	p.do("sessionStorage.setItem('look', " + quote(state) + ")")
	p.open(path)
	if state == "loading" {
		time.Sleep(time.Second) // spinners come late
	}
	p.rest(state)
}

// visit looks at a page, its states, what it opens, and the pages that it leads to.
func (w *tour) visit(p *page, path string) {
	p.t.Helper()
	name := "home"
	if path != "/" {
		name = fileName(path)
	}
	for _, state := range []string{"loading", "error", "empty"} {
		w.in(p, state, path)
		w.shows(p, name+"-"+state)
	}

	w.in(p, "", path)
	w.shows(p, name+"-page")
	var leads []string
	p.look("links()", &leads)
	within := "document.querySelector('main')"
	if path == "/" {
		within = "document.querySelector('.ant-layout')"
		for _, keys := range []string{"?", "a", "Ctrl+K"} {
			p.press(keys)
			p.rest("")
			w.shows(p, "frame-"+map[string]string{"?": "help", "a": "requests", "Ctrl+K": "palette"}[keys])
			w.back(p, path)
		}
	}
	if open, _ := p.opened(); open > 0 {
		w.back(p, path) // a record with a URL
	}
	for _, opener := range p.openers(within) {
		open, at := p.presses(within, opener)
		if at != path {
			leads = append(leads, at)
		} else if p.new(open) {
			w.shows(p, name+"-"+fileName(opener))
			if open > 0 {
				w.inside(p, path, within, opener, name+"-"+fileName(opener))
			}
		}
		w.back(p, path)
	}

	for _, at := range leads {
		if w.fresh(at) {
			w.visit(p, at)
		}
	}
}

// back returns to the page without anything open.
func (w *tour) back(p *page, path string) {
	p.t.Helper()
	if !p.closes(path) {
		w.in(p, "", path)
	}
}

// inside looks at what the items of a menu open, at the other tabs of a drawer, and at a form that is sent.
func (w *tour) inside(p *page, path, within, opener, name string) {
	p.t.Helper()
	if open, _ := p.opened(); open == 0 { // another width has closed it
		p.presses(within, opener)
	}
	var menu bool
	p.look("top()?.matches('.ant-dropdown') ?? false", &menu)
	if menu && path == "/" {
		return // of the language and the colors
	}
	for _, item := range p.openers("top()") {
		if open, at := p.opened(); open == 0 || at != path {
			w.back(p, path)
			p.presses(within, opener)
		}
		was, _ := p.opened()
		open, at := p.presses("top()", item)
		if at == path && (p.new(0) || open > was || menu && open > 0) {
			w.shows(p, name+"-"+fileName(item))
		}
		if menu || open != was {
			w.back(p, path)
		}
	}
}

// looked is one way to see the pages: in a language and at some widths. What the pages open is found at the first one.
type looked struct {
	language string
	widths   []int64
}

// each visits pages in a way, in parallel, and with them those of other shapes to which they lead.
func (w *tour) each(t *testing.T, server *process, token string, l looked, paths []string) {
	t.Helper()
	for _, path := range paths {
		w.fresh(path)
	}
	for _, path := range paths {
		name := "home"
		if path != "/" {
			name = fileName(path)
		}
		t.Run(fmt.Sprintf("%s-%d-%s", l.language, l.widths[0], name), func(t *testing.T) {
			t.Parallel()
			p := console(t, server)
			p.as(token)
			p.before(intercept)
			if l.language == "zh" {
				p.before(inChinese)
			}
			p.width(l.widths[0])
			p.dark(w.dark)
			p.open(path)
			w.visit(p, path)
		})
	}

	t.Run(fmt.Sprintf("%s-%d-signed-out", l.language, l.widths[0]), func(t *testing.T) {
		t.Parallel()
		p := console(t, server)
		if l.language == "zh" {
			p.before(inChinese)
		}
		p.width(l.widths[0])
		p.dark(w.dark)
		p.open("/")
		p.rest("")
		w.shows(p, "signed-out")
	})
	t.Cleanup(func() {
		if n := w.looks.Load(); n < 200 && !partly() {
			t.Errorf("only %d looks in %s at %d pixels", n, l.language, l.widths[0])
		}
	})
}

// partly reports whether only some subtests run.
func partly() bool { return strings.Contains(flag.Lookup("test.run").Value.String(), "/") }

// everywhere returns the paths of the pages in the menus, and of those that are not in them.
func (c *client) everywhere(t *testing.T, server *process) []string {
	t.Helper()
	return append([]string{"/", "/account", "/account/security", "/account/activity", "/help", "/nowhere"},
		signedInAt(t, server, c, "/").linked(c)...)
}

// TestConsoleLooks saves screenshots of every page, of all that it opens, and of its states, in both languages
// and themes and at four widths, in the directory REEVE_TEST_SCREENSHOTS.
func TestConsoleLooks(t *testing.T) {
	t.Parallel()
	if os.Getenv("REEVE_TEST_SCREENSHOTS") == "" {
		t.Skip("REEVE_TEST_SCREENSHOTS names no directory for screenshots")
	}
	server, c := furnished(t)
	paths := c.everywhere(t, server)
	for _, l := range []looked{{"en", []int64{1440, 2560}}, {"en", []int64{390, 768}}, {"zh", []int64{1440, 2560}}, {"zh", []int64{390, 768}}} {
		w := &tour{seen: map[string]bool{}}
		w.see = func(p *page, name string) {
			for _, width := range l.widths {
				p.width(width)
				for _, dark := range []bool{false, true} {
					p.dark(dark)
					p.rest(name)
					shot := fmt.Sprintf("%s-%s-%d-%s", l.language, theme(dark), width, name)
					if open, _ := p.opened(); open > 0 {
						p.shootWindow(shot)
					} else {
						p.shoot(shot)
					}
				}
			}
			p.width(l.widths[0])
			p.dark(false)
		}
		w.each(t, server, c.token, l, paths)
	}
}

// TestConsoleLooks_Accessible checks that axe finds nothing in what TestConsoleLooks shows, in dark colors: in English on a
// desktop, and in Chinese on a phone.
func TestConsoleLooks_Accessible(t *testing.T) {
	t.Parallel()
	if !nightly() {
		t.Skip("REEVE_TEST_LONG=1 runs this")
	}
	server, c := furnished(t)
	paths := c.everywhere(t, server)
	for _, l := range []looked{{"en", []int64{1440}}, {"zh", []int64{390}}} {
		w := &tour{seen: map[string]bool{}, dark: true}
		w.see = func(p *page, name string) {
			if strings.HasSuffix(name, "-loading") {
				return
			}
			p.t.Logf("axe looks at %s", name)
			// Times are typed, so no key needs to lead to their columns.
			p.examineIn("(() => { "+lookFinders+"; return { include: [top() ?? document], exclude: ['.ant-picker-time-panel-column'] } })()", "{}")
		}
		w.each(t, server, c.token, l, paths)
	}
}

// TestConsoleLooks_NotLoaded: where the server fails, no page says that there is nothing, but that a part is missing,
// and loads it when asked again.
func TestConsoleLooks_NotLoaded(t *testing.T) {
	t.Parallel()
	server, c := furnished(t)
	p := signedInAt(t, server, c, "/", intercept)
	paths := []string{"/", "/admin/list", "/admin/dept", "/system/job", "/system/setting", "/system/info", "/system/mail/templates", "/file/list"}
	if nightly() {
		paths = append(paths, p.linked(c)...)
	}
	p.do("sessionStorage.setItem('look', 'error')")
	for _, path := range append(paths, "/account/security", "/admin/role/2") {
		if path == "/system/setup" || path == "/system/monitor" { // loads nothing; says itself what failed
			continue
		}
		p.open(path)
		p.see("Part of this page couldn’t be loaded.")
		var said []string
		if err := evaluate(p, "[...document.querySelectorAll('.ant-empty-description')].filter(shown).map((e) => e.innerText)", &said); err != nil || len(said) > 0 {
			t.Errorf("%s says %q: %v", path, said, err)
		}
	}

	p.open("/admin/list")
	p.see("Part of this page couldn’t be loaded.")
	p.do("sessionStorage.setItem('look', '')")
	p.click("button", "Retry now")
	p.row("Ann Lee")
	p.gone("Part of this page couldn’t be loaded.")
}
