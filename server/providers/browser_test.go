package providers_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"reeve/server/outgoing"
	"reeve/server/provider/providertest"
	"reeve/server/servertest"
	"reeve/store"
)

// world is a server, and a provider that it knows as "idp".
type world struct {
	*servertest.Instance
	idp   *providertest.Provider
	id    store.ID
	nodes *servertest.Nodes // nil for a server that is the only one
	sent  int
}

// newWorld returns a world. settings are JSON members of the provider, such as "creates":"always".
func newWorld(t testing.TB, settings ...string) *world {
	t.Helper()
	in := servertest.Start(t, withProviders(t))
	w := &world{Instance: in, idp: providertest.New(t)}
	w.id = w.adds("idp", w.idp, settings...)
	return w
}

// withProviders lets a server reach a provider of this machine.
func withProviders(t testing.TB) func(*servertest.Setup) {
	return func(su *servertest.Setup) {
		allow, err := outgoing.ParseAllow("providers.allow", []string{"127.0.0.1"})
		servertest.Must(t, err)
		su.Config.ProviderAllow, su.Config.PublicURL = allow, "http://reeve.example.org"
	}
}

// adds makes a provider known under a name.
func (w *world) adds(name string, idp *providertest.Provider, settings ...string) store.ID {
	w.T.Helper()
	var out struct {
		ID store.ID `json:"id"`
	}
	w.OK("POST", "/system/provider", fmt.Sprintf(`{"name":%q,"title":"The provider","issuer":%q,"client_id":%q,"client_secret":%q,"status":1%s}`,
		name, idp.URL, providertest.ClientID, providertest.Secret, strings.Join(append([]string{""}, settings...), ",")), "owner").Data(&out)
	return out.ID
}

func (w *world) set(settings string) {
	w.T.Helper()
	w.OK("PUT", fmt.Sprint("/system/provider/", w.id), "{"+settings+"}", "owner")
}

// browser keeps cookies.
type browser struct {
	w       *world
	cookies map[string]string
}

func (w *world) browser() *browser { return &browser{w, map[string]string{}} }

func (b *browser) send(method, address, body string) *servertest.Reply {
	b.w.T.Helper()
	return b.sendAs(method, address, body, "nobody")
}

func (b *browser) sendAs(method, address, body, as string) *servertest.Reply {
	b.w.T.Helper()
	return b.sendRequest(b.w.Request(method, address, body, as))
}

// sendRequest sends a request with the cookies, and keeps those of the response. Each request goes to
// the next node.
func (b *browser) sendRequest(r *http.Request) *servertest.Reply {
	b.w.T.Helper()
	in := b.w.Instance
	if b.w.nodes != nil {
		in = b.w.nodes.All[b.w.sent%len(b.w.nodes.All)]
		b.w.sent++
	}
	r.Host = "reeve.example.org"
	if r.Method != "GET" {
		r.Header.Set("Origin", "http://reeve.example.org")
	}
	for name, value := range b.cookies {
		r.AddCookie(&http.Cookie{Name: name, Value: value})
	}
	a := in.Send(r)
	for _, c := range (&http.Response{Header: a.Header}).Cookies() {
		if b.cookies[c.Name] = c.Value; c.MaxAge < 0 {
			delete(b.cookies, c.Name)
		}
	}
	return a
}

// starts goes to a provider and returns the address there.
func (b *browser) starts(name string) string {
	b.w.T.Helper()
	a := b.send("GET", "/auth/provider/"+name+"/start?to=/console/home", "")
	if a.Code != 303 {
		b.w.T.Fatalf("%d %s", a.Code, a.Body)
	}
	return a.Header.Get("Location")
}

// returns comes back from a provider and returns the page where the browser goes on.
func (b *browser) returns(back *url.URL) string {
	b.w.T.Helper()
	a := b.send("GET", back.Path+"?"+back.RawQuery, "")
	if a.Code != 303 {
		b.w.T.Fatalf("%d %s", a.Code, a.Body)
	}
	return a.Header.Get("Location")
}

// arrives goes to the provider "idp" and comes back.
func (b *browser) arrives() {
	b.w.T.Helper()
	if to := b.returns(b.w.idp.Authorize(b.starts("idp"))); to != "/console/?arrived=1&back=%2Fconsole%2Fhome" {
		b.w.T.Errorf("the browser goes on at %s", to)
	}
}

// arrived is arrives, for a chain.
func (b *browser) arrived() *browser {
	b.w.T.Helper()
	b.arrives()
	return b
}

// signsIn completes the sign-in.
func (b *browser) signsIn() *servertest.Reply {
	b.w.T.Helper()
	return b.send("POST", "/admin/login/provider", "{}")
}

// comes signs in with the provider, and returns the response.
func (b *browser) comes() *servertest.Reply {
	b.w.T.Helper()
	b.arrives()
	return b.signsIn()
}

// info is GET /admin/info.
type info struct {
	Info struct {
		ID            store.ID   `json:"id"`
		Username      string     `json:"username"`
		Nickname      string     `json:"nickname"`
		Email         string     `json:"email"`
		EmailVerified store.Flag `json:"email_verified"`
		RoleIDs       []store.ID `json:"role_ids"`
		DeptID        store.ID   `json:"dept_id"`
	} `json:"info"`
}

// known signs in with the provider and returns the account.
func (b *browser) known() (out info) {
	b.w.T.Helper()
	a := b.comes()
	if a.Code != 200 {
		b.w.T.Fatalf("%d %s", a.Code, a.Body)
	}
	var login struct {
		Token string `json:"token"`
	}
	a.Data(&login)
	b.w.Tokens["person"] = login.Token
	b.w.View(func(tx *store.Tx) error {
		s, err := b.w.Server.Auth.Inspect(tx, login.Token)
		if err != nil {
			return err
		}
		stored, err := store.Sessions.Get(tx, s.ID)
		if err == nil && stored.Means != store.ByProvider {
			b.w.T.Errorf("the session was opened with %q", stored.Means)
		}
		return err
	})
	b.w.OK("GET", "/admin/info", "", "person").Data(&out)
	return out
}

// refused tries to sign in and returns the code of the error.
func (b *browser) refused() string {
	b.w.T.Helper()
	a := b.signsIn()
	if a.Code == 200 {
		b.w.T.Errorf("signed in: %s", a.Body)
	}
	return codeOf(a)
}

// codeOf returns the code of an error, and that of the reason in it.
func codeOf(a *servertest.Reply) string {
	var e struct {
		Code   string `json:"errorCode"`
		Reason struct {
			Params map[string]struct {
				Code string `json:"code"`
			} `json:"params"`
		} `json:"reason"`
	}
	_ = json.Unmarshal([]byte(a.Body), &e) // without parameters of this form there is no reason
	if inner := e.Reason.Params["reason"].Code; inner != "" {
		return e.Code + " " + inner
	}
	return e.Code
}
