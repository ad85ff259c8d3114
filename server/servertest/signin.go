package servertest

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/pquerna/otp/totp"

	"reeve/auth/passkeytest"
	"reeve/server/account"
	"reeve/server/openapi"
	"reeve/server/web"
	"reeve/store"
)

// Login signs in through the interface, each time from a new address.
func (in *Instance) Login(username, password string) *Reply {
	in.T.Helper()
	r := in.Request("POST", "/admin/login",
		string(EncodeJSON(in.T, openapi.Object{"username": username, "password": password})),
		"nobody")
	r.RemoteAddr = fmt.Sprintf("198.51.100.%d:4000", in.Last.Add(1))
	return in.Send(r)
}

// Enter signs in and stores the session's token under a name.
func (in *Instance) Enter(as, username, password string) {
	in.T.Helper()
	a := in.Login(username, password)
	var out struct{ Token string }
	a.Brief(http.StatusOK)
	a.Data(&out)
	in.Tokens[as] = out.Token
}

// CallAs calls as somebody who acts as a user.
func (in *Instance) CallAs(method, url, body, by string, user store.ID) *Reply {
	in.T.Helper()
	r := in.Request(method, url, body, by)
	r.Header.Set(web.ActAsHeader, user.String())
	return in.Send(r)
}

// BeginActing lets somebody act as a user.
func (in *Instance) BeginActing(by string, user store.ID, writes int) *Reply {
	in.T.Helper()
	return in.Call("POST", fmt.Sprintf("/admin/list/%d/act-as", user),
		fmt.Sprintf(`{"reason":"ticket 7","writes":%d}`, writes), by)
}

// Actors returns an instance with a boss who may act as others, and a clerk who may do less, in the
// same department.
func Actors(t *testing.T) (in *Instance, clerk store.ID) {
	in = Start(t)
	in.Dept("One", 0)
	few := []string{"admin.list.query", "system.audit.query", "system.dict.query",
		"admin.key.query"}
	in.Member("boss", 1, in.Role("Boss", func(r *store.Role) { r.DataScope = store.ScopeDept },
		append(few, "admin.list.act_as", "admin.list.act_as_write", "system.dict.create",
			"system.dict.delete", "system.job.query")...))
	return in, in.Member("clerk", 1, in.Role("Clerk", nil, append(few, "system.dict.create")...))
}

// OwnID returns the ID of a user who is signed in.
func (in *Instance) OwnID(name string) store.ID {
	in.T.Helper()
	var out struct{ Info struct{ ID store.ID } }
	in.OK("GET", "/admin/info", "", name).Data(&out)
	return out.Info.ID
}

// SetUpAppFactor sets up an authenticator app for an app user who is signed in with OwnerPassword.
func (in *Instance) SetUpAppFactor(as string) (app *Authenticator, recovery []string) {
	in.T.Helper()
	app = in.AppOf(in.OK("POST", "/api/user/totp", `{"password":"`+OwnerPassword+`"}`, as))
	var out account.RecoveryCodesOut
	in.OK("PUT", "/api/user/totp", `{"otp":"`+app.Code()+`"}`, as).Data(&out)
	if len(out.Codes) != 10 {
		in.T.Errorf("recovery codes: %q", out.Codes)
	}
	return app, out.Codes
}

// AppFirstStep signs an app user in with the password, and returns the token for the second step.
func (in *Instance) AppFirstStep(name, device string) string {
	in.T.Helper()
	var out account.LoginOut
	in.OK("POST", "/api/login",
		fmt.Sprintf(`{"username":%q,"password":%q,"device_token":%q}`, name, OwnerPassword, device), "nobody").Data(&out)
	if out.Token != "" || out.LoginToken == "" || strings.Join(out.Methods, " ") != "otp recovery" {
		in.T.Errorf("the first step: %+v", out)
	}
	return out.LoginToken
}

// ownName matches the names of cookies: with the mark of an installation, or on the origin of a
// program, with its port.
var ownName = regexp.MustCompile(`^(__(Host|Secure)-)?(reeve_[a-z_]+_([a-z2-7]{8}_)?[0-9a-f]{8}|reeve-(forward|state)(-[0-9]+)?)$`)

// checkCookieNames checks the name of each cookie that a response sets. Every request that a test
// sends is checked.
func checkCookieNames(t testing.TB, sent string, h http.Header) {
	t.Helper()
	for _, c := range (&http.Response{Header: h}).Cookies() {
		if !ownName.MatchString(c.Name) && c.MaxAge >= 0 {
			t.Errorf("%s: two installations on one host share the cookie %s", sent, c.Name)
		}
	}
}

// CookieOf returns the only cookie that a response sets.
func (r *Reply) CookieOf() *http.Cookie {
	r.T.Helper()
	all := (&http.Response{Header: r.Header}).Cookies()
	if len(all) != 1 {
		r.T.Fatalf("%s: %d cookies", r.Sent, len(all))
	}
	return all[0]
}

// NewAuthenticator returns an authenticator that makes passkeys.
func NewAuthenticator() *passkeytest.Authenticator {
	return passkeytest.New("https://reeve.example.org", "reeve.example.org")
}

// Options returns the options for a browser in a response.
func (a *Reply) Options() []byte {
	var out account.PasskeyOptions
	a.Data(&out)
	return out.PublicKey
}

// AddPasskey gives a signed-in user a passkey in an authenticator.
func (in *Instance) AddPasskey(p *passkeytest.Authenticator,
	name, as string) (id store.ID, recovery []string) {
	in.T.Helper()
	made := p.Create(in.OK("GET", "/admin/account/passkey-options", "", as).Options())
	var out account.NewPasskey
	in.OK("POST", "/admin/account/passkey", fmt.Sprintf(`{"name":%q,"credential":%s}`, name, made),
		as).Data(&out)
	return out.ID, out.Codes
}

// AddAppPasskey adds a passkey of an app user, whose password is OwnerPassword.
func (in *Instance) AddAppPasskey(p *passkeytest.Authenticator, as string) (id store.ID) {
	in.T.Helper()
	made := p.Create(in.OK("GET", "/api/user/passkey-options", "", as).Options())
	var out account.Passkey
	in.OK("POST", "/api/user/passkey", fmt.Sprintf(`{"name":"Phone","credential":%s,"password":%q}`, made, OwnerPassword), as).Data(&out)
	return out.ID
}

// Stale makes the last proof of the sessions of a user old.
func (in *Instance) Stale(name string) {
	in.T.Helper()
	in.Update(func(tx *store.Tx) error {
		u, err := store.UserByName.Get(tx, name)
		if err != nil {
			return err
		}
		open, err := store.SessionsOf(tx, store.Account{ID: u.ID})
		for _, id := range open {
			if err == nil {
				_, err = store.Sessions.UpdateQuietly(tx, id, func(s *store.Session) error {
					s.ProvedAt = tx.Now().Add(-time.Hour)
					return nil
				})
			}
		}
		return err
	})
}

// Reauth confirms the identity of a caller with the password.
func (in *Instance) Reauth(as string) {
	in.T.Helper()
	var out account.ReauthDone
	in.OK("POST", "/admin/reauth", `{"password":"`+OwnerPassword+`"}`, as).Data(&out)
	in.Tokens[as] = out.Token
}

// Authenticator is the app of a user that has a second factor.
type Authenticator struct {
	T      testing.TB
	Secret string
	Next   time.Time // of the next code
}

// Code returns a code that was not used. Two are valid at once for long enough: those of the first
// time step and of the next one.
func (a *Authenticator) Code() string {
	a.T.Helper()
	if time.Until(a.Next) > store.TOTPStep {
		a.T.Fatal("no other code is valid now")
	}
	code, err := totp.GenerateCode(a.Secret, a.Next)
	Must(a.T, err)
	a.Next = a.Next.Add(store.TOTPStep)
	return code
}

// BeginFactor makes an authenticator app for a user who is signed in with OwnerPassword.
func (in *Instance) BeginFactor(as string) *Authenticator {
	in.T.Helper()
	return in.AppOf(in.OK("POST", "/admin/account/totp", "", as))
}

// AppOf returns the authenticator app of the response that has its secret.
func (in *Instance) AppOf(a *Reply) *Authenticator {
	in.T.Helper()
	var made account.AuthenticatorAppOut
	a.Data(&made)
	if !strings.HasPrefix(made.URI, "otpauth://totp/") ||
		!strings.Contains(made.URI, "secret="+made.Secret) {
		in.T.Errorf("URI %s", made.URI)
	}
	return &Authenticator{in.T, made.Secret, time.Now()}
}

// SetUpFactor sets up an authenticator app for a user who is signed in with OwnerPassword.
func (in *Instance) SetUpFactor(as string) (app *Authenticator, recovery []string) {
	in.T.Helper()
	app = in.BeginFactor(as)
	var out account.RecoveryCodesOut
	in.OK("PUT", "/admin/account/totp", `{"otp":"`+app.Code()+`"}`, as).Data(&out)
	if len(out.Codes) != 10 || len(slices.Compact(slices.Sorted(slices.Values(out.Codes)))) != 10 {
		in.T.Errorf("recovery codes: %q", out.Codes)
	}
	return app, out.Codes
}

// FirstStep signs a user in with the password, from a device with a token, and returns the token
// for the second step.
func (in *Instance) FirstStep(name, device string) string {
	in.T.Helper()
	var out account.LoginOut
	a := in.OK("POST", "/admin/login",
		fmt.Sprintf(`{"username":%q,"password":%q,"device_token":%q}`, name, OwnerPassword, device), "nobody")
	a.Data(&out)
	if out.Token != "" || out.DeviceToken != "" || out.LoginToken == "" ||
		len(a.Header["Set-Cookie"]) > 0 {
		in.T.Errorf("the first step: %s %q", a.Body, a.Header["Set-Cookie"])
	}
	return out.LoginToken
}

// Handled returns the response to a request whose cookies a test checks itself.
func (in *Instance) Handled(r *http.Request) *http.Response {
	in.T.Helper()
	w := httptest.NewRecorder()
	in.Server.Handler().ServeHTTP(w, r)
	checkCookieNames(in.T, r.Method+" "+r.URL.Path, w.Header())
	return w.Result()
}

// CookieNamed returns the cookie of a name; nil if there is none.
func CookieNamed(all []*http.Cookie, name string) *http.Cookie {
	i := slices.IndexFunc(all, func(c *http.Cookie) bool { return c.Name == name })
	if i < 0 {
		return nil
	}
	return all[i]
}

// EndFormerTokens ends the minute in which tokens are accepted that were replaced.
func (in *Instance) EndFormerTokens() {
	in.T.Helper()
	in.Update(func(tx *store.Tx) error {
		for token, err := range store.SessionTokens.All(tx) {
			if err == nil && token.EndsAt != 0 {
				_, err = store.SessionTokens.Update(tx, token.ID,
					func(t *store.SessionToken) error {
						t.EndsAt = tx.Now()
						return nil
					})
			}
			if err != nil {
				return err
			}
		}
		return nil
	})
}
