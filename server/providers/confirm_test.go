package providers_test

import (
	"errors"
	"maps"
	"net/url"
	"strings"
	"testing"
	"time"

	"reeve/store"
)

// begins begins to confirm the session of a caller with the provider "idp", and returns the address
// there.
func (b *browser) begins(as string) string {
	b.w.T.Helper()
	a := b.sendAs("POST", "/admin/reauth/provider/idp", "", as)
	var out struct {
		URL string `json:"url"`
	}
	if a.Data(&out); a.Code != 200 {
		b.w.T.Fatalf("%d %s", a.Code, a.Body)
	}
	return out.URL
}

// confirms confirms a session, and returns the code of the error; "" for none. The caller has the new
// token then.
func (b *browser) confirms(as string) string {
	b.w.T.Helper()
	a := b.sendAs("POST", "/admin/reauth", `{"provider":1}`, as)
	var out struct {
		Token string `json:"token"`
	}
	if a.Code == 200 {
		a.Data(&out)
		b.w.Tokens[as] = out.Token
		return ""
	}
	return codeOf(a)
}

// older makes the provider say that people signed in there some time ago.
func (w *world) older(by time.Duration) {
	w.idp.Alter = func(claims map[string]any) { claims["auth_time"] = time.Now().Add(-by).Unix() }
}

// needed reports whether a caller has to confirm the session now.
func (w *world) needed(as string) bool {
	w.T.Helper()
	a := w.Call("POST", "/admin/account/provider/idp", "", as)
	if a.Code != 200 && codeOf(a) != "reauth_required" {
		w.T.Errorf("%d %s", a.Code, a.Body)
	}
	return a.Code != 200
}

// People without a password and a second factor confirm a session with a new sign-in at the provider,
// which has to say that it was just now.
func TestConfirm_WithProvider(t *testing.T) {
	t.Parallel()
	w := newWorld(t, `"creates":"always"`)
	w.older(0)
	b := w.browser()
	b.known()
	if w.needed("person") {
		t.Error("a sign-in at the provider just now has to be confirmed")
	}

	w.older(time.Hour)
	b.known()
	if !w.needed("person") {
		t.Error("a sign-in at the provider an hour ago counts as now")
	}
	var how struct {
		Method   string `json:"method"`
		Provider string `json:"provider"`
		Title    string `json:"provider_name"`
	}
	w.OK("GET", "/admin/reauth", "", "person").Data(&how)
	if how.Method != "provider" || how.Provider != "idp" || how.Title != "The provider" {
		t.Errorf("the way to confirm is %+v", how)
	}
	if code := b.confirms("person"); code != "provider_not_back" {
		t.Errorf("not at the provider: %q", code)
	}

	address, err := url.Parse(b.begins("person"))
	if q := address.Query(); err != nil || q.Get("prompt") != "login" || q.Get("max_age") != "0" {
		t.Errorf("the provider is asked with %s: %v", address, err)
	}
	w.older(10 * time.Second)
	if to := b.returns(w.idp.Authorize(address.String())); to != "/console/?confirmed=1" {
		t.Errorf("the browser goes on at %s", to)
	}
	kept := maps.Clone(b.cookies)
	if code := b.confirms("person"); code != "" || w.needed("person") {
		t.Errorf("confirmed: %q", code)
	}
	b.cookies = kept
	if code := b.confirms("person"); code != "provider_expired" {
		t.Errorf("a second time: %q", code)
	}
}

func TestConfirm_RefusedByProvider(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		change func(claims map[string]any)
		want   string
	}{
		"not asked to sign in": {func(c map[string]any) { c["auth_time"] = time.Now().Add(-time.Hour).Unix() }, "provider_token"},
		"no time":              {func(c map[string]any) { delete(c, "auth_time") }, "provider_token"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, `"creates":"always"`)
			w.older(time.Hour)
			b := w.browser()
			b.known()
			address := b.begins("person")
			w.idp.Alter = c.change
			b.returns(w.idp.Authorize(address))
			if code := b.confirms("person"); !strings.HasPrefix(code, c.want) || !w.needed("person") {
				t.Errorf("%q, want %q", code, c.want)
			}
		})
	}
}

// Another person at the provider confirms nothing, also one who is connected to another account.
func TestConfirm_AnotherPerson(t *testing.T) {
	t.Parallel()
	w := newWorld(t, `"creates":"always"`)
	w.older(time.Hour)
	b := w.browser()
	b.known()
	w.older(0)
	b.returns(w.idp.Authorize(b.begins("person")))
	w.set(`"status":0`)
	if code := b.confirms("person"); code == "" {
		t.Error("confirmed with a provider that was disabled on the way")
	}
	w.set(`"status":1`)
	w.idp.Claims["sub"], w.idp.Claims["email"] = "subject-2", "bob@example.org"
	for _, account := range []string{"no account", "another account"} {
		w.older(0)
		b.returns(w.idp.Authorize(b.begins("person")))
		if code := b.confirms("person"); code != "provider_other_person" || !w.needed("person") {
			t.Errorf("%s: %q", account, code)
		}
		mine := w.Tokens["person"]
		w.browser().known()
		w.Tokens["person"] = mine
	}
}

// An arrival is good for what it was begun for, and for the session that has begun it.
func TestConfirm_OtherArrivals(t *testing.T) {
	t.Parallel()
	w := newWorld(t, `"creates":"always"`)
	w.older(time.Hour)
	thief, b := w.browser(), w.browser()
	thief.known()
	w.Tokens["thief"] = w.Tokens["person"]
	b.known()

	w.older(0)
	b.arrives()
	if code := b.confirms("person"); code != "provider_expired" {
		t.Errorf("with a sign-in: %q", code)
	}
	b.returns(w.idp.Authorize(b.begins("person")))
	if a := b.signsIn(); a.Code == 200 {
		t.Error("a confirmation signs in")
	}
	b.returns(w.idp.Authorize(b.begins("person")))
	thief.cookies = b.cookies
	if code := thief.confirms("thief"); code != "provider_expired" || !w.needed("thief") {
		t.Errorf("in another session: %q", code)
	}
}

// Without a provider that confirms, only a new sign-in does.
func TestConfirm_NoWay(t *testing.T) {
	t.Parallel()
	w := newWorld(t, `"creates":"always"`)
	w.older(time.Hour)
	b := w.browser()
	who := b.known()
	w.set(`"status":0`)
	var how struct {
		Method   string `json:"method"`
		Provider string `json:"provider"`
	}
	w.OK("GET", "/admin/reauth", "", "person").Data(&how)
	if how.Method != "sign_in" || how.Provider != "" {
		t.Errorf("the way to confirm is %+v", how)
	}
	if code := b.confirms("person"); code != "provider_not_back" {
		t.Errorf("with a provider: %q", code)
	}
	if code := codeOf(w.Call("POST", "/admin/reauth", `{}`, "person")); code != "proof_sign_in" {
		t.Errorf("with nothing: %q", code)
	}
	if a := w.Call("POST", "/admin/reauth/provider/idp", "", "person"); codeOf(a) != "provider_off" {
		t.Errorf("begun: %s", a.Body)
	}

	// With a password, that is the way.
	w.Update(func(tx *store.Tx) error {
		account := store.Account{ID: who.Info.ID}
		open, err := store.SessionsOf(tx, account)
		return errors.Join(err, store.SetHash(tx, account, "not used", false, open[0]))
	})
	w.OK("GET", "/admin/reauth", "", "person").Data(&how)
	if how.Method != "password" {
		t.Errorf("with a password, the way is %+v", how)
	}
}
