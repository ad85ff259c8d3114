package e2e

import (
	"fmt"
	"testing"

	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/chromedp"
)

// paste pastes the clipboard into the focused element.
func (p *page) paste() {
	p.t.Helper()
	key := input.DispatchKeyEventParams{
		Type:                  input.DispatchKeyEventTypeKeyDown,
		Key:                   "v",
		Code:                  "KeyV",
		WindowsVirtualKeyCode: 86,
		Modifiers:             int64(chromedp.ModifierCtrl),
		Commands:              []string{"paste"},
	}
	send(p, input.DispatchKeyEvent, key)
	key.Type, key.Commands = input.DispatchKeyEventTypeKeyUp, nil
	send(p, input.DispatchKeyEvent, key)
}

// TestConsoleCopy copies a password that is shown once, in a browser with the clipboard API
// and in one without it, as over plain HTTP.
func TestConsoleCopy(t *testing.T) {
	t.Parallel()
	server, c := office(t)
	elsewhere := console(t, server)
	elsewhere.open("/")
	for _, way := range []struct{ name, before string }{
		{"over plain HTTP", "delete Navigator.prototype.clipboard"},
		{"with a clipboard", ""},
		{"with a clipboard that is refused",
			"Clipboard.prototype.writeText = () => Promise.reject(new DOMException('refused', 'NotAllowedError'))"},
	} {
		p := console(t, server)
		p.before(way.before)
		p.as(c.token)
		p.open("/admin/list")
		p.more("ann", "Reset password")
		p.dialog().click("button", "Reset")
		secret := p.dialog().value("Password")
		p.until(way.name+", copy the password", func() error { // the browser's pages share one clipboard
			p.dialog().click("button", "Copy")
			elsewhere.fill("Username", "")
			elsewhere.paste()
			if got := elsewhere.value("Username"); got != secret {
				return fmt.Errorf("%q was copied", got)
			}
			return nil
		})
		p.focused("['Copy', 'Copied'].includes(e.innerText)")
	}

	p := console(t, server)
	p.before("delete Navigator.prototype.clipboard; document.execCommand = () => false")
	p.as(c.token)
	p.open("/admin/list")
	p.more("ann", "Reset password")
	p.dialog().click("button", "Reset")
	p.dialog().click("button", "Copy")
	p.see("Select the text and copy it manually.")
	p.missing("button", "Copied")
}
