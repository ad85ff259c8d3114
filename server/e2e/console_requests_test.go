package e2e

import (
	"go/format"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// program returns the code that the drawer shows.
func (p *page) program() (code string) {
	p.t.Helper()
	p.until("show a program", func() error {
		return evaluate(p, "only([...dialog().querySelectorAll('pre.code')].filter(shown), 'programs').textContent", &code)
	})
	return code
}

// TestConsoleRequests opens the requests of a page with a key, from the palette and from the menu.
// What it shows runs.
func TestConsoleRequests(t *testing.T) {
	t.Parallel()
	server := start(t, t.TempDir())
	c := signedIn(t, server)
	key := into[struct{ Token string }](t,
		c.want(200, "POST", "/admin/account/key", object("name", "script"))).Token
	p := signedInAt(t, server, c, "/system/loginlog?result=success")
	p.row("Signed in")
	p.settle()
	p.press("a")
	d := p.dialog()
	d.see("GET")
	d.see("/system/loginlog?")
	d.see("List sign-ins")
	shell := p.program()
	if strings.Contains(shell, c.token) || !strings.Contains(shell, "$REEVE_KEY") {
		t.Fatalf("it does not have the key in a variable: %s", shell)
	}
	if _, err := exec.LookPath("curl"); err == nil {
		cmd := exec.CommandContext(t.Context(), "sh", "-c", shell)
		cmd.Env = append(cmd.Environ(), "REEVE_KEY="+key, "NO_PROXY=*")
		if out, err := cmd.Output(); err != nil || !strings.Contains(string(out), `"success":true`) {
			t.Errorf("%s\nanswers %s: %v", shell, out, err)
		}
	}

	d.click("radio", "TypeScript")
	d.see("reeve.call('GET', '/system/loginlog', {")
	d.click("radio", "Go")
	d.see(`client.Call(context.Background(), "GET", "/system/loginlog?`)
	program := p.program()
	if formatted, err := format.Source([]byte(program + "\n")); err != nil || string(formatted) != program+"\n" {
		t.Errorf("the program is not formatted: %v\n%s", err, program)
	}
	p.looksGood("requests")
	d.click("link", "Open in the API reference")
	p.find("heading", "List sign-ins")
	p.at("/help/reference/listSignIns")

	p.open("/admin/role")
	p.row("Owner")
	p.settle()
	p.press("Ctrl+K")
	p.focused("e.getAttribute('role') === 'combobox'")
	p.write("curl")
	p.press("Enter")
	p.dialog().see("/admin/role")
	p.dialog().gone("/system/loginlog") // of another page
	p.press("Escape")
	p.missing("dialog", "API requests")
	p.click("button", "Administrator")
	p.click("menuitem", "API requests")
	p.dialog().see("/admin/role")

	zh := signedInAt(t, server, c, "/admin/dept", inChinese)
	zh.settle()
	zh.press("a")
	zh.dialog().see("此页面最近的请求")
	zh.looksGood("zh-requests")
}

// TestConsoleRequests_NoSecrets makes requests with secrets, and finds none of them in the drawer.
func TestConsoleRequests_NoSecrets(t *testing.T) {
	t.Parallel()
	server := start(t, t.TempDir())
	c := signedIn(t, server)
	c.roleWith("Dictionary reader", "system.dict", "system.dict.query")
	g := c.group("g")
	c.want(200, "POST", "/system/setting",
		object("key", "vault", "title", "The vault", "type", "secret", "group_id", g))
	p := signedInAt(t, server, c, "/system/setting/g")
	const secret = "hunter2 and more"
	p.fill("The vault", secret)
	p.click("button", "Save")
	p.see("Saved")
	p.without("PUT", "/system/setting", secret)

	p.open("/admin/key")
	p.click("button", "New API key")
	d := p.dialog()
	d.fill("Name", "deploy")
	d.choose("Roles", "Dictionary reader")
	p.press("Escape")
	d.click("button", "Create")
	d = p.dialog()
	d.see("You won’t be able to see it again.")
	key := d.value("API key")
	d.click("button", "Done")
	p.missing("button", "Done")
	p.row("deploy")
	p.without("POST", "/admin/key", key)

	p.typesUser("kay")
	endElsewhere(signedIn(t, server))
	p.expires()
	p.signIn("admin", password)
	p.missing("button", "Sign in")
	p.dialog().click("button", "Create")
	first := p.noted("kay")
	p.row("kay").see("Kept")
	p.without("POST", "/admin/list", password, first)

	p.open("/account/security#password")
	const fresh = "a fresh password of mine"
	p.fill("Current password", password)
	p.fill("New password", fresh)
	p.fill("Confirm new password", fresh)
	p.click("button", "Change password")
	p.see("Password changed")
	p.without("PUT", "/admin/password", password, fresh)
}

// without opens the drawer, and looks for a request and for secrets in all of its programs.
func (p *page) without(method, path string, secrets ...string) {
	p.t.Helper()
	p.settle()
	p.in("main").focus()
	p.press("a")
	d := p.dialog()
	d.see(method)
	d.see(path)
	var requests int
	if err := evaluate(p, "dialog().querySelectorAll('details').length", &requests); err != nil || requests == 0 {
		p.fatalf("%d requests: %v", requests, err)
	}
	for i := range requests {
		if i > 0 {
			p.until("open a request", func() error {
				return evaluate(p, "dialog().querySelectorAll('summary')["+strconv.Itoa(i)+"].click()", nil)
			})
		}
		for _, language := range []string{"curl", "TypeScript", "Go"} {
			d.click("radio", language)
			text := p.program()
			if at := slices.IndexFunc(secrets, func(s string) bool { return strings.Contains(text, s) }); at >= 0 {
				p.fatalf("the secret %s is there", secrets[at])
			}
		}
	}
	p.press("Escape")
}
