package e2e

import (
	"encoding/json"
	"fmt"
	"sync"
	"testing"
	"time"
)

// most is the maximum number of elements of a page, however much data there is: those of a
// hundred rows, the largest page size.
const most = 6000

// many runs writes, one request each, several at a time.
func (c *client) many(from, to int, write func(n int) (path, body string),
	made func(n int, id int64)) {
	c.t.Helper()
	var all sync.WaitGroup
	var mu sync.Mutex
	next := make(chan int)
	for range 16 {
		all.Go(func() {
			for n := range next {
				path, body := write(n)
				a, err := c.do("POST", path, body)
				var record struct{ ID int64 }
				if err == nil && a.status == 200 {
					err = json.Unmarshal(a.Data, &record)
				}
				if err != nil || a.status != 200 {
					c.t.Errorf("write %d: %v %+v", n, err, a)
				}
				mu.Lock()
				made(n, record.ID)
				mu.Unlock()
			}
		})
	}

	for n := from; n < to; n++ {
		next <- n
	}

	close(next)
	all.Wait()
}

// grow creates a tree of all records, ten children each, and returns their IDs.
func (c *client) grow(path string, all int, body func(n int, parent int64) string) []int64 {
	c.t.Helper()
	begun := time.Now()
	ids := make([]int64, all)
	for from, to := 0, 10; from < all; from, to = to, min(to*10+10, all) { // one level at a time
		c.many(from, to, func(n int) (string, string) {
			var parent int64
			if n >= 10 {
				parent = ids[n/10-1]
			}
			return path, body(n, parent)
		}, func(n int, id int64) { ids[n] = id })
	}
	c.t.Logf("%d records at %s: %s", all, path, time.Since(begun))
	return ids
}

// gaps makes the page record the longest time between two frames.
const gaps = `(() => {
	let last = performance.now()
	window.longest = 0
	const beat = (now) => { window.longest = Math.max(window.longest, now - last); last = now; requestAnimationFrame(beat) }
	requestAnimationFrame(beat)
})()`

// act performs an action in a page, logs how long the page did not respond, and checks the
// number of its elements.
func (p *page) act(what string, do func()) {
	p.t.Helper()
	if err := evaluate(p, "frame().then(frame).then(() => { window.longest = 0 })", nil); err != nil {
		p.fatalf("%s: %v", what, err)
	}

	begun := time.Now()
	do()
	took := time.Since(begun)
	p.settle()
	var seen struct {
		Elements int
		Longest  float64
	}
	if err := evaluate(p,
		"({ Elements: document.querySelectorAll('*').length, Longest: window.longest })", &seen); err != nil {
		p.fatalf("%s: %v", what, err)
	}

	p.t.Logf("%-32s %6d elements, %5.0f ms between frames at most, %s in all", what, seen.Elements,
		seen.Longest, took.Round(time.Millisecond))
	if seen.Elements > most {
		p.t.Errorf("%s: the page has %d elements, more than %d", what, seen.Elements, most)
	}
}

// raw logs how long the same response takes without rendering.
func (p *page) raw(path string) {
	p.t.Helper()
	var ms []float64
	if err := evaluate(p, fmt.Sprintf(`(async () => {
		const begun = performance.now()
		const text = await (await fetch(%s)).text()
		const asked = performance.now()
		JSON.parse(text)
		return [asked - begun, performance.now() - asked]
	})()`, quote(path)), &ms); err != nil {
		p.fatalf("ask %s: %v", path, err)
	}
	p.t.Logf("%-32s %.0f ms to ask, %.0f ms to parse", path, ms[0], ms[1])
}

// load opens a page that measures its frames from the start.
func (p *page) load(path string, see func()) {
	p.t.Helper()
	p.act("load "+path, func() {
		p.open(path)
		see()
	})
}

// huge returns a page that measures its frames.
func huge(t *testing.T, server *process, c *client) *page {
	t.Helper()
	p := console(t, server)
	p.as(c.token)
	p.before(gaps)
	p.open("/account")
	p.settle()
	return p
}

// end scrolls to the last row of the tree in the page.
func (p *page) end(last string) {
	p.t.Helper()
	p.in("[data-row][tabindex='0']").focus()
	p.press("End")
	p.see(last)
}

func (p *page) focus() {
	p.t.Helper()
	p.until("focus "+p.scope, func() error { return evaluate(p, "root.focus()", nil) })
}

// TestConsoleOverHugeTrees checks that the number of elements stays small however large a
// tree is, and that every node can be reached.
func TestConsoleOverHugeTrees(t *testing.T) {
	t.Parallel()
	all := size(1_000, 2_000, 10_000)
	server := start(t, t.TempDir())
	c := signedIn(t, server)
	c.grow("/admin/dept", all, func(n int, parent int64) string {
		return object("name", fmt.Sprintf("Department %d.", n), "parent_id", parent, "sort", n)
	})
	c.grow("/admin/rule", all, func(n int, parent int64) string {
		kind := 2
		if n < all/10 {
			kind = 0
		}
		return object("name", fmt.Sprintf("Permission %d.", n), "key", fmt.Sprintf("h%d", n),
			"parent_id", parent, "type", kind, "show", 0, "sort", 1000+n)
	})
	role := c.create("/admin/role", "name", "Holder")
	leaf := fmt.Sprintf(" %d.", all-1)
	deepest := 9 // the last one on the screen
	for deepest*10+19 < all {
		deepest = deepest*10 + 19
	}

	last := fmt.Sprintf(" %d.", deepest)

	for path, noun := range map[string]string{
		"/admin/dept": "Department",
		"/admin/rule": "Permission",
	} {
		t.Run(noun, func(t *testing.T) {
			p := huge(t, server, c)
			p.load(path, func() { p.find("button", "Expand all"); p.in(".tree").see("") })
			p.raw(path)
			p.act("open all", func() { p.click("button", "Expand all") })
			p.act("go to the end", func() { p.end(noun + last) })
			p.act("search", func() {
				p.fill("Search", noun+leaf)
				p.in(".tree").gone(noun + last)
				p.row(noun + leaf).see(noun)
			})
		})
	}

	t.Run("rights of a role", func(t *testing.T) {
		p := huge(t, server, c)
		p.load(fmt.Sprintf("/admin/role/%d", role), func() { p.in(".tree").see("") })
		p.act("search", func() {
			p.fill("Search Permissions", "Permission"+leaf)
			p.row("Permission" + leaf).see("Permission")
		})
		p.act("check", func() {
			p.row("Permission" + leaf).in(".ant-checkbox").tap()
			p.see("Permissions (1)")
		})
		p.act("check all below", func() {
			p.fill("Search Permissions", "Permission 0.")
			p.click("button", "Permission 0. and everything below it")
			p.gone("Permissions (1)")
		})
		p.act("search for what all have", func() {
			p.fill("Search Permissions", "permission ")
			p.row("Permission 10.").see("Permission")
		})
		p.act("go to the end", func() { p.end("Permission" + last) })
	})
	t.Run("departments beside users", func(t *testing.T) {
		p := huge(t, server, c)
		p.load("/admin/list", func() { p.in(".depts").see("Department 0.") })
		p.act("search", func() {
			p.fill("Find a department", "Department"+leaf)
			p.in(".depts").see("Department" + leaf)
		})
		p.act("search for what all have", func() {
			p.fill("Find a department", "department")
			p.in(".depts").see("Department 0.")
		})
		p.act("scroll to the end", func() {
			p.until("scroll to Department"+last, func() error { // again, in case the tree was still being filled
				return evaluate(p, fmt.Sprintf(`(() => {
					const list = css(root, '.depts .ant-tree-list-holder')
					list.scrollTop = 1e9
					if (!list.innerText.includes(%s)) throw new Error('it is not there')
				})()`, quote("Department"+last)), nil)
			})
		})
		p.act("choose in a form", func() {
			p.click("button", "New user")
			p.click("combobox", "Department")
			p.write("Department" + leaf)
			p.in(".ant-select-tree").see("Department" + leaf)
		})
	})
}

// TestConsoleOverHugeLists does the same for long lists.
func TestConsoleOverHugeLists(t *testing.T) {
	t.Parallel()
	all := size(500, 5_000, 5_000)
	server := start(t, t.TempDir())
	c := signedIn(t, server)
	path := c.dict("huge", "tag")
	c.many(0, all, func(n int) (string, string) {
		return path + "/item", object("label", fmt.Sprintf("Item %d.", n), "value", fmt.Sprint(n),
			"sort", n*10)
	}, func(int, int64) {})
	group := c.group("huge")
	c.many(0, 300, func(n int) (string, string) {
		return "/system/setting", define(group, fmt.Sprintf("key%d", n),
			[]string{"input", "textarea", "number", "switch", "json"}[n%5], "1")
	}, func(int, int64) {})
	c.importCSV("username,nickname", 1, 1000, func(n int) string {
		return fmt.Sprintf("user%d,Person %d", n, n)
	})

	t.Run("dictionary", func(t *testing.T) {
		p := huge(t, server, c)
		p.load(path, func() { p.see("Item 0.") })
		p.act("a hundred rows", func() {
			p.open(path + "?pageSize=100")
			p.see("Item 99.")
		})
		p.act("search", func() {
			p.fill("Search items", fmt.Sprintf("Item %d.", all-1))
			p.row(fmt.Sprintf("Item %d.", all-1)).see("Item")
		})
	})
	t.Run("settings", func(t *testing.T) {
		p := huge(t, server, c)
		p.load("/system/setting/huge", func() { p.see("huge.key299") })
		p.act("type", func() { p.fill("key0", "something else") })
		p.see("Unsaved changes")
	})
	t.Run("users", func(t *testing.T) {
		p := huge(t, server, c)
		p.load("/admin/list?pageSize=10", func() { p.see("1,001 total") })
		p.load("/admin/list?pageSize=100", func() { p.see("1,001 total") })
	})
}
