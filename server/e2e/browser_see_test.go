package e2e

import (
	"errors"
	"fmt"
	"hash/crc32"
	"strings"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/network"
	cdpage "github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"
)

// prepare sets the witness and the preferences of a new page.
func (p *page) prepare() {
	p.t.Helper()
	send(p, emulation.SetFocusEmulationEnabled,
		emulation.SetFocusEmulationEnabledParams{Enabled: true})
	p.before(tellViolations)
	p.watch.enable(p)
	p.width(1440)
	p.dark(false)
}

// before runs a script in every document that the page loads, before its own scripts.
func (p *page) before(script string) {
	p.t.Helper()
	send(p, cdpage.AddScriptToEvaluateOnNewDocument,
		cdpage.AddScriptToEvaluateOnNewDocumentParams{Source: script})
}

// as gives the page the cookie of a session and, when it next opens, the mark of one. This happens
// once: after signing out the page stays signed out.
func (p *page) as(token string) {
	p.t.Helper()
	p.asIn(sessionCookie, token)
}

// asIn is as with a cookie of a name.
func (p *page) asIn(cookie, token string) {
	p.t.Helper()
	send(p, network.SetCookie, network.SetCookieParams{
		URL:      p.base,
		Path:     "/",
		Name:     cookie,
		Value:    token,
		HTTPOnly: yes,
		SameSite: network.CookieSameSiteLax,
	})
	mark := fmt.Sprint(crc32.ChecksumIEEE([]byte(token))) // the same in all tabs of a session
	p.before(fmt.Sprintf(`if (location.protocol === 'http:' && !sessionStorage.getItem('given')) {
		sessionStorage.setItem('given', 'yes')
		localStorage.setItem('reeve.signed_in', %s)
	}`, quote(mark)))
}

// sessionCookie is how the name of the cookie of a user's session begins, over plain HTTP. The mark
// of the installation follows. The server takes the cookie of this name, too, as from an earlier
// version, and moves it.
const sessionCookie = "reeve_session"

// signIn signs in through the sign-in page, which must be open.
func (p *page) signIn(username, password string) {
	p.t.Helper()
	p.watch.mu.Lock()
	p.watch.ended = false
	p.watch.mu.Unlock()
	p.fill("Username", username)
	p.fill("Password", password)
	p.click("button", "Sign in")
}

// open loads a path of the console, such as /system/session?page=2, with a full page load.
func (p *page) open(path string) {
	p.t.Helper()
	if err := chromedp.Do(p.ctx, chromedp.Navigate(p.base+"/console"+path)); err != nil {
		p.fatalf("open %s: %v", path, err)
	}
}

// at waits until the page is at a path of the console, with its query, and rendered: the
// URL changes before the page does.
func (p *page) at(path string) {
	p.t.Helper()
	p.until("be at "+path, func() error {
		var is struct{ At, Drawn string }
		if err := evaluate(p,
			`({ At: location.href, Drawn: document.getElementById('main')?.dataset.at ?? '' })`,
			&is); err != nil {
			return err
		}
		if is.At != p.base+"/console"+path {
			return errors.New("it is not there")
		}
		drawn, _, _ := strings.Cut(path, "#")
		if is.Drawn != "" && is.Drawn != "/"+strings.TrimPrefix(drawn, "/") { // the pages for sign-in and a new password have no frame
			return fmt.Errorf("%s is still drawn", is.Drawn)
		}
		return nil
	})
}

// text returns the visible text.
func (p *page) text() string {
	p.t.Helper()
	var text string
	p.until("read the page", func() error { return evaluate(p, "root.innerText", &text) })
	return text
}

// see waits until a text is visible.
func (p *page) see(text string) {
	p.t.Helper()
	p.until(fmt.Sprintf("see %q", text), func() error {
		return evaluate(p,
			fmt.Sprintf("(() => { if (!root.innerText.includes(%s)) throw new Error('it is not there') })()", quote(text)), nil)
	})
}

// gone waits until a text is not visible.
func (p *page) gone(text string) {
	p.t.Helper()
	p.until(fmt.Sprintf("not see %q", text), func() error {
		return evaluate(p,
			fmt.Sprintf("(() => { if (root.innerText.includes(%s)) throw new Error('it is there') })()", quote(text)), nil)
	})
}

// find waits for the only element with a role and a name.
func (p *page) find(role, name string) {
	p.t.Helper()
	p.until(fmt.Sprintf("find the %s %q", role, name), func() error {
		_, err := locate(p, name, role)
		return err
	})
}

// missing waits until there is no element with a role and a name.
func (p *page) missing(role, name string) {
	p.t.Helper()
	p.until(fmt.Sprintf("have no %s %q", role, name), func() error {
		_, err := locate(p, name, role)
		switch {
		case err == nil:
			return errors.New("there is one")
		case errors.Is(err, errNone):
			return nil
		}
		return err
	})
}

// row returns the page limited to the only row of a table, list or tree that contains a
// text. It waits for the row.
func (p *page) row(text string) *page {
	p.t.Helper()
	row := p.within("row(%s, %s)", p.scope, quote(text))
	p.until(fmt.Sprintf("have a row with %q", text), func() error {
		_, err := element(row, "root")
		return err
	})
	return row
}

// in returns the page limited to the only visible element of a CSS selector.
func (p *page) in(selector string) *page {
	return p.within("css(%s, %s)", p.scope, quote(selector))
}

// dialog returns the page limited to the topmost layer: a confirmation, dialog or drawer.
func (p *page) dialog() *page { return p.within("dialog()") }

// within returns the page limited to an element, which is found again for each action.
func (p *page) within(format string, args ...any) *page {
	inner := *p
	inner.scope = fmt.Sprintf(format, args...)
	return &inner
}

// settle waits until the page has its title and content, and no animation is running.
func (p *page) settle() {
	p.t.Helper()
	quiet := 0
	p.until("settle", func() error {
		var why string
		err := evaluate(p, "unsettled()", &why)
		if n := p.watch.loading(); err == nil && n > 0 {
			why = fmt.Sprintf("%d requests are under way", n)
		}
		if err == nil && why != "" {
			err = errors.New(why)
		}
		if quiet++; err != nil {
			quiet = 0
		}
		if err == nil && quiet < 3 { // between a response and the request that follows it, everything is idle too
			err = errors.New("it has only just been quiet")
		}

		return err
	})
}

// serverReturns starts the server of the page again, with the data in dir. At the end of the test, the page
// comes to rest before that server ends: it may still be loading scripts.
func (p *page) serverReturns(server *process, dir string) *process {
	p.t.Helper()
	back := start(p.t, dir, "--listen", strings.TrimPrefix(server.url, "http://"))
	p.t.Cleanup(func() {
		if !p.t.Failed() {
			p.settle()
		}
	})
	return back
}
