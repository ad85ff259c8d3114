package e2e

import (
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/runtime"
)

// hostile are texts that users may give as names. Each is repeated or truncated to the
// maximum length of a field.
var hostile = []struct{ name, text string }{
	{"markup", `<img src=x onerror=window.hit=1>`},
	{"a script", `</script></style><script>window.hit=1</script>`},
	{"an address that is a script", `javascript:window.hit=1`},
	{"an attribute's end", `" onmouseover=window.hit=1 style="position:fixed;width:9999px" x='`},
	{"placeholders", `{name} {{names}} ${n} $& $1 %s {request}`},
	{"what every object has", `constructor`},
	{"one long word", `W`},
	{"right to left", `שלום (1) العالم [2] `},
	{"combining marks", "Z" + strings.Repeat("\u0335\u0348\u036b\u0363", 7)},
	{"pictures", "👩‍👩‍👧‍👦🏳️‍🌈👍🏽"},
	{"white space", "a\u2009\u205f.\u3000b\u2007"},
}

// filling returns a hostile text that fills a field of most characters.
func filling(text string, most int) string {
	chars := []rune(strings.Repeat(text, max(1, most/len([]rune(text)))))
	return strings.TrimSpace(string(chars[:min(len(chars), most)]))
}

// told returns a hostile text that differs from that of another record.
func told(n, most int) string {
	mark := fmt.Sprintf("%d ", n)
	return mark + filling(hostile[n].text, most-len(mark))
}

// hostileWorld creates every kind of record on a server, with hostile texts.
func hostileWorld(t *testing.T) (*process, *client) {
	t.Helper()
	server := start(t, t.TempDir())
	c := signedIn(t, server)
	c.want(200, "PUT", "/admin/info",
		object("nickname", filling(hostile[0].text, 64), "email",
			strings.Repeat("{name}'&", 8)+"@x.example"))
	c.want(200, "PUT", "/system/setting", values("site.title", filling(hostile[1].text, 60)))
	var options []map[string]string
	for n := range hostile {
		options = append(options, map[string]string{"label": told(n, 200), "value": told(n, 48)})
	}

	for n, h := range hostile {
		c.hostilePeople(n)
		c.hostilePermissions(n)
		c.hostileSettings(n, options)
		c.hostileFields(n, options)
		path := fmt.Sprintf("/system/dict/%d",
			c.create("/system/dict", "code", strings.Repeat("c", 60)+fmt.Sprint(n), "name",
				told(n, 100), "type", []string{"default", "badge", "tag"}[n%3], "describe",
				filling(h.text, 1000)))
		for i := range hostile {
			c.want(200, "POST", path+"/item",
				object("label", told(i, 200), "value", told(i, 200), "status", "error"))
		}

		group := c.create("/file/group", "name", told(n, 100), "describe", filling(h.text, 1000))
		name := strings.NewReplacer("/", "∕", `"`, "”", `\`, "").Replace(told(n, 250))
		file := c.keepsText(name, "text")
		c.want(200, "PUT", fmt.Sprintf("/file/list/%d", file.ID), object("group_id", group))
		if n%3 == 0 {
			c.want(200, "DELETE", fmt.Sprintf("/file/list/%d", c.keepsText(name, h.text).ID), "")
		}

		c.create("/system/webhook", "url",
			fmt.Sprintf("https://%s.example/%d?%s", strings.Repeat("w", 60), n,
				strings.Repeat("W", 1900)), "description", told(n, 200), "types",
			[]string{"role.*", "user.*", "*"}, "status", 0)
		c.create("/admin/key", "name", told(n, 64), "role_ids", []int64{2}, "networks",
			[]string{"10.0.0.0/8", "2001:db8:1234:5678:9abc:def0:1234:5678", "2001:db8::/32"})
		c.hostileCalls(server, n)
	}

	return server, c
}

func (c *client) hostilePeople(n int) {
	text := hostile[n].text
	dept := c.create("/admin/dept", "name", told(n, 64), "leader", filling(text, 64), "parent_id",
		n)
	roles := []int64{}
	for i := range 3 {
		roles = append(roles,
			c.create("/admin/role", "name", fmt.Sprintf("%d%s", i, told(n, 63)), "description",
				filling(text, 1000), "grant_role_ids", roles))
	}

	name := strings.Repeat("_-.W", 7) + fmt.Sprint(n)
	c.create("/admin/list", "username", name, "nickname", told(n, 64), "email",
		fmt.Sprintf("%s%d@%s.example", strings.Repeat("{names}$&'", 6), n, strings.Repeat("x", 40)),
		"mobile", "+4"+strings.Repeat("(", 28), "dept_id", dept, "role_ids", roles, "password",
		password)
	c.create("/user/list", "username", name, "nickname", told(n, 64), "password", password)
}

func (c *client) hostilePermissions(n int) {
	text := hostile[n].text
	key := fmt.Sprintf("a%d.%s", n, strings.Repeat("k", 90))
	parent := c.create("/admin/rule", "type", 0, "key", fmt.Sprintf("a%d", n), "name", told(n, 64),
		"icon", filling(text, 11), "local", filling(text, 11))
	page := c.create("/admin/rule", "type", 1, "key", key, "name", told(n, 64), "path",
		"/system/info", "icon", text[:min(len(text), 30)], "local", filling(text, 100),
		"parent_id", parent)
	c.create("/admin/rule", "type", 2, "key", key+".do", "name", told(n, 64), "parent_id", page)
	c.want(422, "POST", "/admin/rule",
		object("type", 1, "key", "z", "name", "z", "path", "javascript:window.hit=1"))
}

func (c *client) hostileSettings(n int, options []map[string]string) {
	text := hostile[n].text
	group := c.create("/system/setting-group", "key", strings.Repeat("g", 60)+fmt.Sprint(n),
		"title", told(n, 100), "remark", filling(text, 1000))
	props := []map[string]string{{"name": "placeholder", "value": filling(text, 1000)}, {
		"name":  "unit",
		"value": filling(text, 1000),
	}}

	values := map[string]string{
		"input": filling(text, 250), "textarea": filling(text, 1000),
		"number": strings.Repeat("9", 64), "radio": told(n, 48), "select": told(n, 48),
		"checkbox": "[" + quote(told(n, 48)) + "]", "json": object("k", filling(text, 1000)),
		"secret": text, "date": "", "image": "",
	}
	for _, kind := range slices.Sorted(maps.Keys(values)) { // in this order, since a test deletes the first
		described := []any{"group_id", group, "key", kind + strings.Repeat("k", 55), "title",
			told(n, 100), "describe", filling(text, 1000), "type", kind, "values", values[kind],
			"props", props}
		if strings.Contains("radio select checkbox", kind) {
			described = append(described, "options", options)
		}
		c.create("/system/setting", described...)
	}
}

// hostileFields declares a custom field of users and of app users, and sets it for one of each.
func (c *client) hostileFields(n int, options []map[string]string) {
	c.t.Helper()
	text := hostile[n].text
	kind := []string{"input", "textarea", "select", "checkbox", "json"}[n%5]
	value := map[string]any{
		"input":    filling(text, 250),
		"textarea": filling(text, 1000),
		"select":   told(n, 48),
		"checkbox": []string{told(n, 48)},
		"json":     map[string]string{"k": filling(text, 500)},
	}[kind]

	described := []any{"key", fmt.Sprintf("k%d_%s", n, strings.Repeat("k", 28)), "title",
		told(n, 100), "describe", filling(text, 1000), "type", kind, "listed", 1, "self_access",
		"write", "sort", n}
	if kind == "select" || kind == "checkbox" {
		described = append(described, "options", options)
	}
	if kind == "input" || kind == "select" {
		described = append(described, "filterable", 1)
	}

	for realm, path := range map[string]string{"admin": "/admin/list/1", "app": "/user/list/1"} {
		c.create("/system/field", append(described, "realm", realm)...)
		c.want(200, "PUT", path,
			object("fields",
				map[string]any{fmt.Sprintf("k%d_%s", n, strings.Repeat("k", 28)): value}))
	}
}

// hostileCalls makes monitoring record hostile texts: failed sign-ins, user agents, paths.
func (c *client) hostileCalls(server *process, n int) {
	c.t.Helper()
	other := newClient(c.t, server)
	other.extra["User-Agent"] = strings.Map(func(r rune) rune {
		return min(r, 0x7e)
	}, filling(hostile[n].text, 2000))
	other.want(401, "POST", "/admin/login", object("username", told(n, 64), "password", "wrong"))
	if n < 8 { // an eleventh session would end the first
		other.signIn(password)
	}
	other.call("GET", "/admin/"+url.PathEscape(filling(hostile[n].text, 2000)), "")
}

// harmless checks that the current page shows texts literally and within bounds, at the
// widths of a desktop and a phone.
func (p *page) harmless(what string) {
	p.t.Helper()
	for _, width := range []int64{1440, 320} {
		p.width(width)
		p.noSidewaysScroll()
		var found []string
		if err := evaluate(p, lookForHarm, &found); err != nil {
			p.fatalf("look at %s: %v", what, err)
		}
		for _, harm := range found {
			p.t.Errorf("%s, %d wide: %s", what, width, harm)
		}
		p.shoot(fmt.Sprintf("%s-%d",
			strings.NewReplacer(" ", "-", "/", "-", "?", "-", "=", "-").Replace(what), width))
	}
	p.width(1440)
}

// lookForHarm returns the effects of hostile texts: scripts that ran, elements that were
// created, a header pushed out of the window, or texts truncated with no way to read them.
const lookForHarm = `(() => {
	const found = []
	if (window.hit !== undefined) found.push('a text has run')
	for (const e of document.querySelectorAll('img[src="x"], [onerror], [onmouseover], script:not([src], [type=importmap]), iframe')) found.push('a text is an element: ' + e.outerHTML.slice(0, 200))
	for (const e of document.querySelectorAll('.ant-drawer-body, .ant-modal-body, .ant-drawer-header, .overlay, .ant-popover, .frame-head')) {
		if (!shown(e)) continue
		const box = e.getBoundingClientRect()
		if (e.scrollWidth > e.clientWidth + 1) found.push(e.className + ' is ' + e.scrollWidth + ' wide inside of ' + e.clientWidth)
		if (box.left < -1 || box.right > innerWidth + 1) found.push(e.className + ' reaches from ' + box.left + ' to ' + box.right)
	}
	for (const e of document.querySelectorAll('body *')) {
		if (e.scrollWidth <= e.clientWidth + 1 || e.clientWidth < 2 || !shown(e) || e.matches('input, textarea')) continue
		const { textOverflow, overflowX } = getComputedStyle(e)
		if (overflowX === 'visible' || textOverflow !== 'ellipsis' || !e.innerText?.trim() || e.closest('[aria-hidden=true]')) continue
		const whole = e.closest('[title]') ?? e.querySelector('[title]')
		if (!whole?.title.trim()) found.push('nobody can read the whole of ' + e.outerHTML.slice(0, 300))
	}
	return found
})()`

// panels are the panels that open on each page, with the steps to open them: a selector is
// clicked at its first match, =text clicks a text, and 'text is typed.
var panels = map[string][][]string{
	"/": {{".frame-search", "'1"}, {".frame-own"}},
	"/admin/list": {{"=New user", "#dept_id"}, {"=New user", "#role_ids"},
		{"[aria-label^='Edit _']"}, {"[aria-label^='More actions for _']", "=Sessions"},
		{"[aria-label^='More actions for _']", "=Check access", "[role=dialog] input"},
		{"[aria-label='Select all']", "=Delete"}},
	"/user/list": {{"[aria-label='More filters']",
		".ant-popover .ant-select"}, {"[aria-label^='Edit _']"},
		{"[aria-label^='More actions for _']", "=Delete"}},
	"/admin/role": {{"tr[data-row-key='2'] .ant-btn"},
		{"tr[data-row-key='7'] .ant-btn", "=Data scope"},
		{"[aria-label^='More actions for 0']", "=Edit", "=History"},
		{"[aria-label^='More actions for 0']", "=Duplicate"},
		{"[aria-label^='More actions for 0']", "=Delete"}},
	"/admin/rule": {{"[aria-label='Expand all']"},
		{"[aria-label^='More actions for 1']", "=Edit", "#parent_id"},
		{"[aria-label^='More actions for 1']", "=Delete"}},
	"/admin/dept": {{"[aria-label='Expand all']"},
		{"[aria-label^='More actions for 0']", "=Edit", "#parent_id"},
		{"[aria-label^='More actions for 0']", "=Delete"}},
	"/admin/key": {{"=New API key", "#role_ids"},
		{"[aria-label^='Edit ']", "=History"}, {"[aria-label^='More actions for']", "=Rotate"},
		{"[aria-label^='More actions for']", "=Check a permission"},
		{"[aria-label='Select all']", "=Delete"}},
	"/user/list/1": {{"=Edit"}},
	"/system/field": {{"=New field", "#type"}, {"[aria-label^='Edit 2']"},
		{"[aria-label^='Edit 3']", "=History"}, {"[aria-label^='More actions for 1']", "=Delete"}},
	"/system/dict": {},
	"/system/dict/1": {{"=API usage"}, {"=Edit"}, {"[aria-label^='Edit 1']"},
		{"[aria-label^='More actions for 1']", "=Delete"}},
	"/system/dict/3":                             {{"[aria-label^='Edit 5']"}},
	"/system/setting":                            {},
	"/system/setting?keywordSearch=g0.":          {},
	"/system/setting?keywordSearch=g7.":          {},
	"/system/setting?define=1&keywordSearch=g6.": {{"[aria-label^='Edit ggg'][aria-label*='.select']"}, {"[aria-label^='Delete ggg']"}, {"=Edit group"}, {".ant-select"}},
	"/file/list?view=list":                       {{"[aria-label^='More actions for']", "=Details"}, {"[aria-label^='More actions for']", "=Move", "[role=dialog] input"}, {"[aria-label^='More actions for']", "=Delete"}, {".file-row"}},
	"/file/group": {{"=Edit"},
		{"[aria-label^='More actions for ']", "=Delete"}},
	"/file/trash": {{"[aria-label^='More actions for ']",
		"=Delete permanently"}},
	"/system/monitor/request": {{"tbody a"}},
	"/system/monitor/trace":   {},
	"/system/monitor/auth":    {},
	"/system/session":         {{"=Sign out"}},
	"/system/webhook": {{"=New webhook", "#types"},
		{"[aria-label^='More actions for']", "=Delete"}},
	"/system/webhook/1": {{"=Edit"},
		{"[aria-label^='More actions for']", "=Replay events"},
		{"[aria-label^='More actions for']", "=Rotate secret"}},
	"/system/audit":                 {{"[data-seq]"}},
	"/system/audit?collection=role": {{"[data-seq]"}},
	"/account/security": {{"[aria-label^='Rename ']"},
		{"[aria-label^='More actions for ']", "=Forget"}},
	"/account/activity": {},
	"/account/keys":     {{"=New API key"}},
	"/account":          {},
}

// poke performs the steps that open a panel.
func (p *page) poke(steps []string) {
	p.t.Helper()
	for _, step := range steps {
		switch step[0] {
		case '\'':
			p.write(step[1:])
		case '=':
			p.first("[...root.querySelectorAll('button, a, [role=menuitem], [role=tab]')].find((e) => shown(e) && e.innerText.trim().split('\\n')[0] === " + quote(step[1:]) + ")")
		default:
			p.first("[...root.querySelectorAll(" + quote(step) + ")].find(shown)")
		}
	}
}

// first clicks the element that an expression returns.
func (p *page) first(expression string) {
	p.t.Helper()
	p.hit("click "+expression, func() (runtime.RemoteObjectID, error) {
		return element(p, expression)
	})
}

// TestConsoleOverHostileTexts opens every page and its panels on a server whose texts are
// all hostile.
func TestConsoleOverHostileTexts(t *testing.T) {
	t.Parallel()
	server, c := hostileWorld(t)
	paths := slices.Sorted(maps.Keys(panels))
	home := signedInAt(t, server, c, "/")
	for _, path := range home.linked(c) {
		if !slices.Contains(paths, path) {
			paths = append(paths, path)
		}
	}

	for _, path := range slices.Compact(paths) {
		t.Run(strings.ReplaceAll(path, "/", "-"), func(t *testing.T) {
			t.Parallel()
			p := signedInAt(t, server, c, path)
			p.harmless(path)
			for n, steps := range panels[path] {
				p.open(path)
				p.poke(steps)
				p.harmless(fmt.Sprintf("%s panel %d", path, n))
			}
		})
	}
}
