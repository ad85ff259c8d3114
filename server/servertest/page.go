package servertest

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"io/fs"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"reeve/embed"
	"reeve/server/mails"
	"reeve/server/openapi"
	"reeve/server/pages"
)

// NewSecret is a password other than OwnerPassword.
const NewSecret = "long enough it is"

// Register sends the form of a registration.
func (v *guestBrowser) Register(username, email string, more ...string) *Reply {
	v.In.T.Helper()
	return v.Post(pages.RegisterPath,
		append([]string{"username", username, "email", email, "nickname", "", "password",
			NewSecret, "password_again", NewSecret}, more...)...)
}

// ProfileVersion returns the version in the form of a profile.
func (a *Reply) ProfileVersion() string {
	a.T.Helper()
	found := regexp.MustCompile(`<input type="hidden" name="version" value="([0-9]+)">`).FindStringSubmatch(a.Body)
	if found == nil {
		a.T.Fatalf("%s: no version: %s", a.Sent, a.Body)
	}
	return found[1]
}

// guestBrowser is a browser at the pages for app users, without scripts.
type guestBrowser struct {
	In       *Instance
	Cookies  map[string]string
	Language string
}

// GuestBrowser returns a browser without cookies.
func (in *Instance) GuestBrowser() *guestBrowser {
	return &guestBrowser{In: in, Cookies: map[string]string{}, Language: "en"}
}

// Hosted turns the pages on, with other settings.
func (in *Instance) Hosted(settings ...string) {
	in.T.Helper()
	in.OK("PUT", "/system/setting",
		`{"values":{`+strings.Join(append(settings, `"app.pages":1`), ",")+`}}`, "owner")
}

func (v *guestBrowser) Do(r *http.Request) *Reply {
	v.In.T.Helper()
	r.Header.Set("Accept", "text/html,application/xhtml+xml,*/*;q=0.8")
	r.Header.Set("Accept-Language", v.Language)
	for name, value := range v.Cookies {
		r.AddCookie(&http.Cookie{Name: name, Value: value})
	}

	a := v.In.Send(r)
	for _, c := range (&http.Response{Header: a.Header}).Cookies() {
		if !c.HttpOnly ||
			c.SameSite != http.SameSiteLaxMode && c.SameSite != http.SameSiteStrictMode {
			v.In.T.Errorf("%s: cookie %s", a.Sent, c)
		}
		if c.MaxAge < 0 {
			delete(v.Cookies, c.Name)
		} else {
			v.Cookies[c.Name] = c.Value
		}
	}

	return a
}

func (v *guestBrowser) Get(path string) *Reply {
	v.In.T.Helper()
	return v.Do(v.In.Request("GET", path, "", "nobody"))
}

// Form builds the request with which a browser sends a form, from fields and their values.
func (v *guestBrowser) Form(path string, fields ...string) *http.Request {
	v.In.T.Helper()
	values := url.Values{"confirm": {"1"}}
	for i := 0; i < len(fields); i += 2 {
		if !strings.HasSuffix(fields[i], "[]") {
			values.Del(fields[i])
		}
		values.Add(fields[i], fields[i+1])
	}
	r := v.In.Request("POST", path, values.Encode(), "nobody")
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	r.Header.Set("Origin", "http://"+r.Host)
	return r
}

func (v *guestBrowser) Post(path string, fields ...string) *Reply {
	v.In.T.Helper()
	return v.Do(v.Form(path, fields...))
}

// Leads fails unless the response leads to a path.
func (a *Reply) Leads(to string) {
	a.T.Helper()
	if got := a.Header.Get("Location"); a.Code != http.StatusSeeOther || got != to {
		a.T.Errorf("%s: %d to %q, want %q: %s", a.Sent, a.Code, got, to, a.Body)
	}
}

// SignedIn returns a GuestBrowser who has signed in as a new app user.
func (in *Instance) SignedIn(name string) *guestBrowser {
	in.T.Helper()
	in.AppUser(name)
	v := in.GuestBrowser()
	v.Post(pages.SignInPath, "username", name, "password", OwnerPassword).Leads(pages.AccountPath)
	return v
}

// TestBase is a base path.
const TestBase = "/admin-tool"

// BelowBase returns an instance below a path, with the console.
func BelowBase(t *testing.T, options ...func(*Setup)) *Instance {
	t.Helper()
	files, err := fs.Sub(embed.Console, "dist")
	Must(t, err)
	return Start(t, append(options, func(su *Setup) {
		su.Config.BasePath, su.Config.Console = TestBase, files
		su.Config.PublicURL += TestBase
		su.Config.Forward.URL += TestBase
	})...)
}

// SolvedChallenge gets a challenge and solves it as a widget does, without this package.
func (in *Instance) SolvedChallenge() string {
	in.T.Helper()
	c := DecodeObject(in.T, in.OK("GET", "/api/challenge", "", "nobody").Body)
	for n := range 100_001 {
		sum := sha256.Sum256([]byte(fmt.Sprintf("%s%d", c["salt"], n)))
		if hex.EncodeToString(sum[:]) == c["challenge"] {
			return base64.StdEncoding.EncodeToString(EncodeJSON(in.T, openapi.Object{
				"algorithm": "SHA-256",
				"challenge": c["challenge"],
				"number":    n,
				"salt":      c["salt"],
				"signature": c["signature"],
				"took":      7,
			}))
		}
	}

	in.T.Fatal("there is no solution")
	return ""
}

// AppOrigin is an origin of the configuration in tests.
const AppOrigin = "https://app.example.org"

// Submit sends the form of a link's page.
func (in *Instance) Submit(token string, form url.Values) *Reply {
	in.T.Helper()
	r := in.Request("POST", mails.LinkPath+token, form.Encode(), "nobody")
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	return in.Send(r)
}

// Passwords returns the fields of a form with a new password.
func Passwords(one, other string) url.Values {
	return url.Values{"password": {one}, "password_again": {other}}
}

// Confirmed opens the registration with addresses that are confirmed, and returns the mail server.
func (in *Instance) Confirmed(settings ...string) *mailbox {
	in.T.Helper()
	box := in.OpenMailbox()
	all := append([]string{`"app.registration":1,"app.registration_confirm":1,"security.login_tries":50`}, settings...)
	in.OK("PUT", "/system/setting", `{"values":{`+strings.Join(all, ",")+`}}`, "owner")
	return box
}

const confirmationSent = `{"data":{"confirmation_sent":true},"success":true,"msg":"ok","showType":0}`

// ConfirmationSent checks that a page says that a mail was sent.
func (a *Reply) ConfirmationSent() {
	a.T.Helper()
	if a.Code != 200 || strings.TrimSpace(a.Body) != confirmationSent ||
		a.Header.Get("Set-Cookie") != "" {
		a.T.Errorf("%d %s", a.Code, a.Body)
	}
}
