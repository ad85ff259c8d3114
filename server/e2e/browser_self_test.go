package e2e

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestWitness checks that forbidden behavior of a page is detected: otherwise all other
// tests of the console would pass regardless of it.
func TestWitness(t *testing.T) {
	t.Parallel()
	server := start(t, t.TempDir())
	for _, c := range []struct{ name, script, fault string }{
		{"an error in the console", `console.error('one', { two: 2 })`,
			"console.error: \"one\" Object"},
		{"a warning in the console", `console.warn('careful')`, "console.warning: \"careful\""},
		{"an exception", `void setTimeout(() => { throw new Error('thrown here') })`,
			"thrown: Error: thrown here"},
		{"a promise that nobody took", `void Promise.reject(new Error('rejected'))`,
			"thrown: Error: rejected"},
		{"a style that the policy forbids",
			`document.head.append(document.createElement('style'))`,
			"policy: style-src-elem | inline"},
		{"a script that the policy forbids",
			`(() => { const s = document.createElement('script'); s.textContent = '1'; document.head.append(s) })()`, "policy: script-src-elem | inline"},
		{"a request to another place", `void (location.href = 'http://127.0.0.1:65000/')`,
			"a request to another place: http://127.0.0.1:65000/"},
		{"a picture that is not there", `void (new Image().src = '/media/none')`,
			"GET /media/none: 404"},
		{"a token in a header",
			`void fetch('/health', { headers: { authorization: 'Bearer x' } })`,
			"the header authorization in GET /health"},
		{"an answer that nobody expected", `void fetch('/admin/info').then((r) => r.text())`,
			"GET /admin/info: 401"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			p := console(t, server)
			p.open("/")
			p.settle()
			if err := evaluate(p, c.script, nil); err != nil {
				t.Fatal(err)
			}

			p.until("be seen", func() error {
				p.watch.mu.Lock()
				defer p.watch.mu.Unlock()
				if all := strings.Join(p.watch.faults, "\n"); !strings.Contains(all, c.fault) {
					return fmt.Errorf("only this was: %s", all)
				}
				return nil
			})
			p.open("/")
			p.settle()
			p.watch.verdict()
		})
	}
}

// TestExpected checks that only the failure that a test expects is accepted, and that it
// must occur.
func TestExpected(t *testing.T) {
	t.Parallel()
	p := console(t, start(t, t.TempDir()))
	p.open("/")
	p.settle()
	p.expect(401, "/admin/info")
	p.expect(404, "/media/")
	p.expect(403, "/admin/info")
	if err := evaluate(p,
		`Promise.all(['/admin/info', '/media/none', '/admin/role'].map((path) => fetch(path).then((r) => r.text())))`, nil); err != nil {
		t.Fatal(err)
	}

	want := []string{"GET /admin/role: 401 ", "/admin/info was never answered with 403"}
	if got := p.watch.verdict(); !slices.Equal(got, want) {
		t.Errorf("held against the page: %q, want %q", got, want)
	}
}

// TestPage checks helpers for features that no page of the console may use at present:
// files that are chosen, dropped and saved, switches, keys, and being offline.
func TestPage(t *testing.T) {
	t.Parallel()
	server := start(t, t.TempDir())
	p := console(t, server)
	p.open("/")
	p.settle()
	if err := evaluate(p, `(() => {
		document.body.innerHTML = '<h1>Here</h1><p id="said"></p><input type="file" hidden multiple><div id="zone">Zone</div>' +
			'<label>Care <input type="checkbox"></label><button role="switch" aria-checked="false" aria-label="Power">Power</button><button>Save</button><input aria-label="Name" value="before">'
		const say = (text) => { document.querySelector('#said').textContent += text + ';' }
		const names = (files) => [...files].map((f) => f.name + ' ' + f.size).join()
		document.querySelector('[type=file]').onchange = (e) => say('given ' + names(e.target.files))
		const zone = document.querySelector('#zone')
		zone.onclick = () => say('tapped')
		zone.ondragover = (e) => e.preventDefault()
		zone.ondrop = (e) => { e.preventDefault(); say('dropped ' + names(e.dataTransfer.files)) }
		document.querySelector('[role=switch]').onclick = (e) => e.target.ariaChecked = String(e.target.ariaChecked !== 'true')
		onkeydown = (e) => { if (e.ctrlKey && e.key === 'k' || e.key === 'ArrowDown') { e.preventDefault(); say('key ' + e.key) } }
		const save = [...document.querySelectorAll('button')].at(-1)
		save.onclick = () => Object.assign(document.createElement('a'), { href: URL.createObjectURL(new Blob(['saved'])), download: 'a name.txt' }).click()
	})()`, nil); err != nil {
		t.Fatal(err)
	}

	file := filepath.Join(t.TempDir(), "five.txt")
	if err := os.WriteFile(file, []byte("bytes"), 0o600); err != nil {
		t.Fatal(err)
	}

	p.upload(file)
	p.see("given five.txt 5")
	p.in("#zone").drop(file)
	p.see("dropped five.txt 5")
	p.toggle("Power", true)
	p.toggle("Power", true)
	p.toggle("Care", true)
	p.toggle("Care", false)
	p.press("Ctrl+K")
	p.press("ArrowDown")
	p.see("key k;key ArrowDown")
	p.fill("Name", "Größe 中文 & A+b")
	if got := p.value("Name"); got != "Größe 中文 & A+b" {
		t.Errorf("the field has %q", got)
	}
	if name, content := p.download(func() {
		p.click("button", "Save")
	}); name != "a name.txt" || string(content) != "saved" {
		t.Errorf("saved as %q: %q", name, content)
	}

	p.in("#zone").tap()
	if got := p.in("#said").text(); !strings.HasSuffix(got, "key ArrowDown;tapped;") {
		t.Errorf("it says %q", got)
	}

	p.offline(true)
	if err := evaluate(p,
		"(async () => { if (navigator.onLine) throw new Error('it is online'); await fetch('/health') })()", nil); err == nil || !strings.Contains(err.Error(), "Failed to fetch") {
		t.Errorf("offline: %v", err)
	}

	p.offline(false)
	if err := evaluate(p,
		"(async () => { if (!navigator.onLine) throw new Error('it is offline'); await fetch('/health') })()", nil); err != nil {
		t.Errorf("online again: %v", err)
	}
}
