package e2e

import (
	"errors"
	"fmt"
	"strings"

	"github.com/chromedp/cdproto/emulation"
	cdpage "github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"
)

// prepare gives a new page its watch and its looks.
func (p *page) prepare() {
	p.t.Helper()
	send(p, emulation.SetFocusEmulationEnabled, emulation.SetFocusEmulationEnabledParams{Enabled: true})
	p.before(tellViolations)
	p.watch.enable(p)
	p.width(1440)
	p.dark(false)
}

// before runs a script in every document that the page loads, before any of its own.
func (p *page) before(script string) {
	p.t.Helper()
	send(p, cdpage.AddScriptToEvaluateOnNewDocument, cdpage.AddScriptToEvaluateOnNewDocumentParams{Source: script})
}

// as makes the holder of a token signed in from the next open on, once: whoever
// signs out stays so.
func (p *page) as(token string) {
	p.t.Helper()
	p.before(fmt.Sprintf(`if (location.protocol === 'http:' && !sessionStorage.getItem('given')) {
		sessionStorage.setItem('given', 'yes')
		localStorage.setItem('reeve.token', %s)
	}`, quote(token)))
}

// signIn signs in through the sign-in page, which has to be open.
func (p *page) signIn(username, password string) {
	p.t.Helper()
	p.fill("User name", username)
	p.fill("Password", password)
	p.click("button", "Sign in")
}

// open loads a path of the console, such as /system/session?page=2, anew.
func (p *page) open(path string) {
	p.t.Helper()
	if err := chromedp.Do(p.ctx, chromedp.Navigate(p.base+"/console"+path)); err != nil {
		p.fatalf("open %s: %v", path, err)
	}
}

// at waits until the page is at a path of the console, with its query, and drawn: the
// address changes before the page does.
func (p *page) at(path string) {
	p.t.Helper()
	p.until("be at "+path, func() error {
		var is struct{ At, Drawn string }
		if err := evaluate(p, `({ At: location.href, Drawn: document.getElementById('main')?.dataset.at ?? '' })`, &is); err != nil {
			return err
		}
		if is.At != p.base+"/console"+path {
			return errors.New("it is not there")
		}
		if is.Drawn != "" && is.Drawn != "/"+strings.TrimPrefix(path, "/") { // sign-in and the new password have no frame
			return fmt.Errorf("%s is still drawn", is.Drawn)
		}
		return nil
	})
}

// text is what one sees.
func (p *page) text() string {
	p.t.Helper()
	var text string
	p.until("read the page", func() error { return evaluate(p, "root.innerText", &text) })
	return text
}

// see waits until a text is to be seen.
func (p *page) see(text string) {
	p.t.Helper()
	p.until(fmt.Sprintf("see %q", text), func() error {
		return evaluate(p, fmt.Sprintf("(() => { if (!root.innerText.includes(%s)) throw new Error('it is not there') })()", quote(text)), nil)
	})
}

// gone waits until a text is not to be seen.
func (p *page) gone(text string) {
	p.t.Helper()
	p.until(fmt.Sprintf("not see %q", text), func() error {
		return evaluate(p, fmt.Sprintf("(() => { if (root.innerText.includes(%s)) throw new Error('it is there') })()", quote(text)), nil)
	})
}

// find waits for the one element of a role and a name.
func (p *page) find(role, name string) {
	p.t.Helper()
	p.until(fmt.Sprintf("find the %s %q", role, name), func() error {
		_, err := locate(p, name, role)
		return err
	})
}

// missing waits until there is no element of a role and a name.
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

// row is the page within the one row of a table, list or tree that has a text in it,
// for which it waits.
func (p *page) row(text string) *page {
	p.t.Helper()
	row := p.within("row(%s, %s)", p.scope, quote(text))
	p.until(fmt.Sprintf("have a row with %q", text), func() error {
		_, err := element(row, "root")
		return err
	})
	return row
}

// in is the page within the one shown element of a CSS selector.
func (p *page) in(selector string) *page { return p.within("css(%s, %s)", p.scope, quote(selector)) }

// dialog is the page within what lies above the rest: a question, dialog or drawer.
func (p *page) dialog() *page { return p.within("dialog()") }

// within is the page within an element, which is looked for anew at each act.
func (p *page) within(format string, args ...any) *page {
	inner := *p
	inner.scope = fmt.Sprintf(format, args...)
	return &inner
}

// settle waits until the page has its title and what it shows, and nothing moves.
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
		if err == nil && quiet < 3 { // between an answer and what follows from it all is quiet too
			err = errors.New("it has only just been quiet")
		}
		return err
	})
}
