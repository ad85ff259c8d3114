package e2e

import (
	"errors"
	"fmt"
	"strings"
	"testing"
)

// meterLimit is the maximum size of the strength meter's scripts, compressed with zstd. Nearly all
// of it are common passwords.
const meterLimit = 236_000

// meter returns the bytes of the meter's scripts that the page has loaded.
func (p *page) meter() (bytes int) {
	p.t.Helper()
	for _, s := range p.loaded() {
		if strings.HasSuffix(s.URL, "-Meter.js") {
			bytes += s.Bytes
		}
	}
	return bytes
}

// strength waits until the meter tells a level and a hint; none if it is empty.
func (p *page) strength(level, hint string) {
	p.t.Helper()
	p.until("have a password that is "+level, func() error {
		return evaluate(p, fmt.Sprintf(`(() => {
			const told = document.querySelector('[aria-live=polite] [data-level]')
			if (told?.dataset.level !== %q || told.innerText.trim().split('. ').slice(1).join('. ') !== %s) throw new Error('it tells ' + told?.innerText)
		})()`, level, quote(hint)), nil)
	})
}

// TestConsoleStrength of a new password is shown once something is typed, and blocks nothing.
func TestConsoleStrength(t *testing.T) {
	t.Parallel()
	server := start(t, t.TempDir())
	c := signedIn(t, server)
	p := signedInAt(t, server, c, "/account/security")
	p.see("Use at least 8 characters")
	if n := p.meter(); n != 0 {
		t.Errorf("%d bytes of it are loaded before anything is typed", n)
	}

	p.fill("New password", "password1")
	p.strength("weak", "It resembles a common password.")
	if n := p.meter(); n == 0 || n > meterLimit {
		t.Errorf("it is %d bytes large, at most %d are right", n, meterLimit)
	}

	p.looksGood("strength-weak")
	p.fill("New password", "Administrator")
	p.strength("weak", "Don’t use your name or email address.")
	p.fill("New password", "an entirely new phrase")
	p.strength("strong", "")
	p.fill("New password", "12345678901")
	p.fill("Confirm new password", "12345678901")
	p.fill("Current password", password)
	p.expect(422, "/admin/password")
	p.click("button", "Change password")
	p.see("Too common.")

	q := signedInAt(t, server, c, "/account/security", inChinese)
	q.fill("新密码", "password1")
	q.strength("weak", "")
	q.see("强度：弱。 与常见密码相似。")
	q.looksGood("zh-strength")
}

// TestConsolePasswordLength is that of the setting.
func TestConsolePasswordLength(t *testing.T) {
	t.Parallel()
	server := start(t, t.TempDir())
	c := signedIn(t, server)
	c.want(200, "PUT", "/system/setting", values("security.password_length", 30))
	id := c.create("/admin/list", "username", "ben", "password", strings.Repeat("a long one ", 3))
	c.want(200, "PUT", fmt.Sprintf("/admin/list/%d/password", id),
		object("password", strings.Repeat("temporary ", 3)))
	p := signedInAt(t, server, c, "/account/security")
	p.see("Use at least 30 characters")
	p.fill("New password", "an entirely new phrase")
	p.strength("weak", "Add a word or two.")
	p.open("/admin/list")
	p.click("button", "More actions for ben")
	p.click("menuitem", "Reset password")
	p.click("radio", "Set manually")
	p.dialog().see("Use at least 30 characters.")

	q := console(t, server)
	q.open("/")
	q.signIn("ben", strings.Repeat("temporary ", 3))
	q.see("Use at least 30 characters")
	q.fill("New password", "an entirely new phrase")
	q.strength("weak", "Add a word or two.")
}

// TestConsoleStrength_RequiredPassword is shown where a password must be changed, with the names of
// the account.
func TestConsoleStrength_RequiredPassword(t *testing.T) {
	t.Parallel()
	server := start(t, t.TempDir())
	c := signedIn(t, server)
	id := c.create("/admin/list", "username", "annabella", "password", password)
	c.want(200, "PUT", fmt.Sprintf("/admin/list/%d/password", id),
		object("password", "a temporary phrase"))
	p := console(t, server)
	p.open("/")
	p.signIn("annabella", "a temporary phrase")
	p.see("Set a new password to continue.")
	if n := p.meter(); n != 0 {
		t.Errorf("%d bytes of it are loaded before anything is typed", n)
	}

	p.fill("New password", "annabella")
	p.strength("weak", "Don’t use your name or email address.")
	p.looksGood("strength-required")
	p.fill("New password", "an entirely new phrase")
	p.strength("strong", "")
	p.fill("Confirm new password", "an entirely new phrase")
	p.click("button", "Change password")
	p.find("button", "annabella")
}

// TestConsoleStrength_MeterMissing changes a password although the meter can't be loaded.
func TestConsoleStrength_MeterMissing(t *testing.T) {
	t.Parallel()
	server := start(t, t.TempDir())
	c := signedIn(t, server)
	p := signedInAt(t, server, c, "/account/security")
	p.see("Use at least 8 characters")
	p.settle()
	p.offline(true)
	p.fill("New password", "an entirely new phrase")
	p.settle()
	p.offline(false)
	p.until("have no meter", func() error {
		var shown bool
		if err := evaluate(p, `document.querySelector('[data-level]') !== null`, &shown); err != nil || shown {
			return errors.Join(err, errNone)
		}
		return nil
	})
	p.fill("Confirm new password", "an entirely new phrase")
	p.fill("Current password", password)
	p.click("button", "Change password")
	p.see("Password changed.")
}
