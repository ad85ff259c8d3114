package providers_test

import (
	"fmt"
	"net/url"
	"strings"
	"testing"

	"reeve/server/provider/providertest"
	"reeve/store"
)

// counts returns how many users, people of providers and sessions there are.
func (w *world) counts() (n [3]int) {
	w.View(func(tx *store.Tx) error {
		for i, count := range []func(*store.Tx) (int, error){store.Users.Count, store.Identities.Count, store.Sessions.Count} {
			var err error
			if n[i], err = count(tx); err != nil {
				return err
			}
		}
		return nil
	})
	return n
}

// What is refused leaves nothing behind: no user, no person and no session.
func TestHostile_LeavesNothing(t *testing.T) {
	t.Parallel()
	w := newWorld(t, `"creates":"always"`)
	other := providertest.New(t)
	w.adds("other", other, `"creates":"always"`)
	before := w.counts()
	mixed := func(b *browser, back *url.URL) { // from the one, to the address of the other
		back.Path = "/auth/provider/other/callback"
		b.returns(back)
	}
	for name, c := range map[string]struct {
		alter func(map[string]any)
		back  func(*browser, *url.URL)
		code  string
	}{
		"nonce":    {alter: func(c map[string]any) { delete(c, "nonce") }, code: "provider_token token_nonce"},
		"audience": {alter: func(c map[string]any) { c["aud"] = "x" }, code: "provider_token token_client"},
		"issuer":   {alter: func(c map[string]any) { c["iss"] = other.URL }, code: "provider_token token_issuer"},
		"type":     {alter: func(c map[string]any) { c["name"] = 5 }, code: "provider_token token_type"},
		"mixed up": {back: mixed, code: "provider_state"},
		"answer of another": {back: func(b *browser, back *url.URL) {
			q := other.Authorize(b.starts("other")).Query()
			q.Set("state", back.Query().Get("state"))
			back.RawQuery = q.Encode()
			b.returns(back)
		}, code: "provider_mixed_up"},
		"other browser": {back: func(b *browser, back *url.URL) {
			clear(b.cookies)
			b.returns(back)
		}, code: "provider_state"},
		"state": {back: func(b *browser, back *url.URL) {
			back.RawQuery = url.Values{"code": {"x"}, "state": {"x"}}.Encode()
			b.returns(back)
		}, code: "provider_state"},
	} {
		w.idp.Alter = c.alter
		b := w.browser()
		back := w.idp.Authorize(b.starts("idp"))
		if c.back == nil {
			c.back = func(b *browser, back *url.URL) { b.returns(back) }
		}
		c.back(b, back)
		if code := b.refused(); code != c.code {
			t.Errorf("%s: %s, want %s", name, code, c.code)
		}
		if after := w.counts(); after != before {
			t.Errorf("%s: users, people and sessions are %v, were %v", name, after, before)
		}
	}
}

// A callback works once, and so does what it has brought.
func TestHostile_ReplayedCallback(t *testing.T) {
	t.Parallel()
	w := newWorld(t, `"creates":"always"`)
	b := w.browser()
	back := w.idp.Authorize(b.starts("idp"))
	kept := map[string]string{}
	for name, value := range b.cookies {
		kept[name] = value
	}
	b.returns(back)
	for name, value := range b.cookies {
		kept[name] = value
	}
	if a := b.signsIn(); a.Code != 200 {
		t.Fatalf("%d %s", a.Code, a.Body)
	}
	before := w.counts()
	thief := &browser{w, kept}
	if code := thief.refused(); code != "provider_expired" {
		t.Errorf("an arrival that was used: %s", code)
	}
	thief.returns(back)
	if code := thief.refused(); code != "provider_state" {
		t.Errorf("a callback that was used: %s", code)
	}
	if after := w.counts(); after != before {
		t.Errorf("users, people and sessions are %v, were %v", after, before)
	}
}

// The page to open afterwards is one of this server.
func TestHostile_OpenRedirect(t *testing.T) {
	t.Parallel()
	w := newWorld(t, `"creates":"always"`)
	for _, to := range []string{"//evil.example", "/\\evil.example", "\\\\evil.example", "https://evil.example",
		"/\t/evil.example", "/\n/evil.example", "/\x7f/evil.example", "javascript:alert(1)", "evil.example", " //evil.example"} {
		b := w.browser()
		a := b.send("GET", "/auth/provider/idp/start?to="+url.QueryEscape(to), "")
		if a.Code == 400 || a.Code == 422 {
			continue // refused before
		}
		if a.Code != 303 {
			t.Errorf("%q: %d %s", to, a.Code, a.Body)
			continue
		}
		if page := b.returns(w.idp.Authorize(a.Header.Get("Location"))); page != "/console/?arrived=1" {
			t.Errorf("%q: the browser goes on at %s", to, page)
		}
	}
}

// Names of any form make an account with a plain one.
func TestHostile_Names(t *testing.T) {
	t.Parallel()
	w := newWorld(t, `"creates":"always"`)
	for n, c := range []struct{ name, username string }{
		{"<img src=x onerror=alert(1)>", "<script>"},
		{"\u202eecila", "\u202eecila"},
		{"a\x00b\r\nc", "a\x00b"},
		{strings.Repeat("n", 60<<10), "\u0430dmin"},
	} {
		w.idp.Claims["sub"], w.idp.Claims["email"] = fmt.Sprint("subject-", n), fmt.Sprintf("p%d@example.org", n)
		w.idp.Claims["name"], w.idp.Claims["preferred_username"] = c.name, c.username
		who := w.browser().known().Info
		for _, r := range who.Username + who.Nickname {
			if r < ' ' || r == '\u202e' || r == '\u0430' {
				t.Errorf("row %d: %q, %q", n, who.Username, who.Nickname)
			}
		}
		if len(who.Nickname) > 256 || len(who.Username) > 32 {
			t.Errorf("row %d: %d and %d bytes", n, len(who.Nickname), len(who.Username))
		}
	}
}
