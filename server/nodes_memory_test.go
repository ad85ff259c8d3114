package server_test

import (
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"reeve/auth"
	"reeve/server/account"
	"reeve/server/files"
	"reeve/server/servertest"
	"reeve/store"
)

// TestNodes_SignedLinks opens a file by a link that another node has signed, and the stream of flags.
func TestNodes_SignedLinks(t *testing.T) {
	t.Parallel()
	first := everyone(t)
	file := first.Keep("owner", "x", "signed for")
	s := servertest.NodesOf(first, 3)
	c := &servertest.Traveller{Nodes: s, Token: s.All[0].Tokens["owner"]}
	var link files.LinkOut
	c.OK("POST", "/file/list/"+file.ID.String()+"/link", "").Data(&link)
	nobody := &servertest.Traveller{Nodes: s, Position: c.Position, At: c.At}
	for range s.All {
		if a := nobody.OK("GET", link.URL, ""); a.Body != "signed for" {
			t.Errorf("%s: %q", a.Sent, a.Body)
		}
	}
	if a := nobody.Call("GET", strings.Replace(link.URL, "signature=", "signature=A", 1), ""); a.Code == 200 {
		t.Errorf("a wrong signature: %d", a.Code)
	}
}

// TestNodes_SecondFactor signs in with a password and a code, a recovery code or a passkey, with each
// request at another node.
func TestNodes_SecondFactor(t *testing.T) {
	t.Parallel()
	first := everyone(t)
	p := servertest.NewAuthenticator()
	app, recovery := first.SetUpFactor("owner")
	first.AddPasskey(p, "Laptop", "owner")
	s := servertest.NodesOf(first, 3)
	c := &servertest.Traveller{Nodes: s}
	step := func() (out account.LoginOut) {
		t.Helper()
		c.OK("POST", "/admin/login", `{"username":"admin","password":"`+servertest.OwnerPassword+`"}`).Data(&out)
		return out
	}
	code := func(token, code string) *servertest.Reply {
		t.Helper()
		return c.Call("POST", "/admin/login/totp", fmt.Sprintf(`{"login_token":%q,"otp":%q}`, token, code))
	}

	token := step().LoginToken
	for range 3 {
		code(token, "000000").Brief(401, "wrong_code")
	}
	next := app.Code()
	code(token, next).Brief(200, `"token":"rv_`)
	code(token, recovery[0]).Brief(401, "sign_in_again")
	code(step().LoginToken, next).Brief(401, "wrong_code")
	code(step().LoginToken, recovery[1]).Brief(200, `"token":"rv_`)
	code(step().LoginToken, recovery[1]).Brief(401, "wrong_code")

	out := step()
	c.OK("POST", "/admin/login/passkey", fmt.Sprintf(`{"credential":%s,"login_token":%q}`, p.Get(out.PublicKey), out.LoginToken))
	alone := c.OK("GET", "/admin/login/passkey", "").Options()
	var grant account.LoginOut
	c.OK("POST", "/admin/login/passkey", fmt.Sprintf(`{"credential":%s}`, p.Get(alone))).Data(&grant)

	c.Token = grant.Token
	var how account.ReauthOut
	c.OK("GET", "/admin/reauth", "").Data(&how)
	var done account.ReauthDone
	c.OK("POST", "/admin/reauth", fmt.Sprintf(`{"passkey":%s}`, p.Get(how.PublicKey))).Data(&done)
	c.Token = done.Token
	var id struct{ ID store.ID }
	c.OK("POST", "/admin/list", `{"username":"ann","password":"long enough it is"}`).Data(&id)
	c.OK("POST", fmt.Sprintf("/admin/list/%d/act-as", id.ID), `{"reason":"ticket 7"}`)
	as := []string{"X-Act-As", id.ID.String()}
	for range s.All {
		c.OK("GET", "/admin/info", "", as...).Brief(200, `"username":"ann"`)
	}
	c.OK("DELETE", "/admin/act-as", "")
	c.Call("GET", "/admin/info", "", as...).Brief(403)
}

// TestNodes_WrongCodes sends wrong codes to all nodes at once: no more are compared than at one.
func TestNodes_WrongCodes(t *testing.T) {
	t.Parallel()
	first := everyone(t)
	app, _ := first.SetUpFactor("owner")
	first.OK("PUT", "/system/setting", `{"values":{"security.login_tries":50}}`, "owner")
	s := servertest.NodesOf(first, 3)
	token := s.All[0].FirstStep("admin", "")
	send := func(in *servertest.Instance, code string) string {
		a := in.Call("POST", "/admin/login/totp", fmt.Sprintf(`{"login_token":%q,"otp":%q}`, token, code), "nobody")
		return a.Body
	}
	var compared atomic.Int64
	s.AtOnce(func(in *servertest.Instance) bool {
		for range 5 {
			if strings.Contains(send(in, "000000"), `"errorCode":"wrong_code"`) {
				compared.Add(1)
			}
		}
		return true
	})
	if n := compared.Load(); n != 5 {
		t.Errorf("%d codes were compared", n)
	}
	right := app.Code()
	for _, in := range s.All {
		if got := send(in, right); !strings.Contains(got, "sign_in_again") {
			t.Errorf("the right code after too many wrong ones: %s", got)
		}
	}
}

// TestNodes_UsedOnce sends each value that can be used once to all nodes at the same time.
func TestNodes_UsedOnce(t *testing.T) {
	t.Parallel()
	first := everyone(t)
	p, q := servertest.NewAuthenticator(), servertest.NewAuthenticator()
	first.AddPasskey(p, "Laptop", "owner")
	first.Clerk("clerk")
	first.OpenRegistration()
	first.OK("PUT", "/system/setting", `{"values":{"app.registration_challenge":1}}`, "owner")
	s := servertest.NodesOf(first, 3)
	in := s.All[0]
	_, recovery := in.SetUpFactor("clerk")
	added := q.Create(in.OK("GET", "/admin/account/passkey-options", "", "clerk").Options())
	solved := in.SolvedChallenge()
	alone := p.Get(in.OK("GET", "/admin/login/passkey", "", "nobody").Options())
	pending := in.FirstStep("clerk", "")
	var session *auth.Session
	in.View(func(tx *store.Tx) (err error) {
		session, err = in.Auth.Inspect(tx, in.Tokens["customer"])
		return err
	})
	verifier := strings.Repeat("v", 43)
	sum := sha256.Sum256([]byte(verifier))
	to := auth.Return{To: "https://shop.example.org/", State: "s", Challenge: base64.RawURLEncoding.EncodeToString(sum[:])}
	returned, err := in.Auth.NewReturnCode(session, to)
	servertest.Must(t, err)
	state := auth.NewForwardState()
	forwarded, err := in.Auth.NewForwardCode(session, servertest.AppOrigin, auth.HashState(state))
	servertest.Must(t, err)

	for name, use := range map[string]func(in *servertest.Instance) bool{
		"a passkey": func(in *servertest.Instance) bool {
			return in.Call("POST", "/admin/login/passkey", fmt.Sprintf(`{"credential":%s}`, alone), "nobody").Code == 200
		},
		"a new passkey": func(in *servertest.Instance) bool {
			return in.Call("POST", "/admin/account/passkey", fmt.Sprintf(`{"name":"Phone","credential":%s}`, added), "clerk").Code == 200
		},
		"a pending sign-in with a recovery code": func(in *servertest.Instance) bool {
			return in.Call("POST", "/admin/login/totp", fmt.Sprintf(`{"login_token":%q,"otp":%q}`, pending, recovery[slices.Index(s.All, in)]), "nobody").Code == 200
		},
		"a solved challenge": func(in *servertest.Instance) bool {
			body := fmt.Sprintf(`{"username":"ben%d","password":"long enough it is","altcha":%q}`, in.Last.Add(1), solved)
			return in.Call("POST", "/api/register", body, "nobody").Code == 200
		},
		"a code of a program": func(in *servertest.Instance) bool {
			_, err := in.Auth.ExchangeForwardCode(forwarded, servertest.AppOrigin, state)
			return err == nil
		},
		"a code of a product": func(in *servertest.Instance) bool {
			_, _, err := in.Auth.ExchangeReturnCode(returned, to.To, to.State, verifier)
			return err == nil
		},
	} {
		if n := s.AtOnce(use); n != 1 {
			t.Errorf("%s was used %d times", name, n)
		}
	}
}

// visitor is a browser at a program behind a proxy, whose requests go to one node after another.
type visitor struct {
	all     []*servertest.Instance
	cookies map[string]string
	at      int // node of the next request
}

// visit sends a request as a proxy passes it on, with a form if it is not "".
func (v *visitor) visit(method, address, form string) *http.Response {
	in := v.all[v.at%len(v.all)]
	v.at++
	r := httptest.NewRequest(method, address, strings.NewReader(form))
	for name, value := range map[string]string{"Proto": "https", "Host": "app.example.org", "Uri": "/orders", "Method": "GET"} {
		r.Header.Set("X-Forwarded-"+name, value)
	}
	r.Header.Set("Accept", "text/html")
	if method == "POST" {
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		r.Header.Set("Origin", servertest.AppOrigin)
	}
	for name, value := range v.cookies {
		r.AddCookie(&http.Cookie{Name: name, Value: value})
	}
	w := httptest.NewRecorder()
	in.Server.Handler().ServeHTTP(w, r)
	for _, c := range w.Result().Cookies() {
		v.cookies[c.Name] = c.Value
	}
	return w.Result()
}

// signsIn comes to the program, and returns there as a user who is signed in at the console.
func (v *visitor) signsIn(owner *servertest.Traveller) {
	t := owner.T
	t.Helper()
	page, err := url.Parse(v.visit("GET", "/auth/verify", "").Header.Get("Location"))
	servertest.Must(t, err)
	q := page.Query()
	var out struct{ URL string }
	owner.OK("POST", "/auth/forward", string(servertest.EncodeJSON(t, map[string]string{
		"origin": q.Get("origin"), "to": q.Get("to"), "state": q.Get("state"),
	}))).Data(&out)
	back, err := url.Parse(out.URL)
	servertest.Must(t, err)
	if a := v.visit("GET", back.RequestURI(), ""); a.StatusCode != 302 {
		t.Fatalf("%d %v", a.StatusCode, a.Header)
	}
}

// TestNodes_Forward goes to a program behind a proxy, with each request at another node.
func TestNodes_Forward(t *testing.T) {
	t.Parallel()
	s := servertest.NodesOf(everyone(t), 3)
	owner := &servertest.Traveller{Nodes: s, Token: s.All[0].Tokens["owner"]}
	v := &visitor{s.All, map[string]string{}, 1}
	v.signsIn(owner)
	for range s.All {
		if a := v.visit("GET", "/auth/verify", ""); a.StatusCode != 204 || a.Header.Get("Remote-User") != "admin" {
			t.Errorf("%d %v", a.StatusCode, a.Header)
		}
	}
}

// withMailedCodes lets the app user customer sign in with codes by mail.
func withMailedCodes(in *servertest.Instance) (who store.Account) {
	in.T.Helper()
	in.TurnMailOn()
	in.OK("PUT", "/system/setting", `{"values":{"app.code_sign_in":1}}`, "owner")
	in.Update(func(tx *store.Tx) error {
		u, err := store.AppUserByName.Get(tx, "customer")
		if err != nil {
			return err
		}
		who = store.Account{App: true, ID: u.ID}
		return store.SetEmail(tx, who, "customer@example.org", true)
	})
	return who
}

// mailedCode waits for the mail with a code for an app user, and returns the code.
func mailedCode(in *servertest.Instance, who store.Account) (code string) {
	in.T.Helper()
	servertest.Until(in.T, "the mail is queued", func() bool {
		in.ResolveRequests()
		in.View(func(tx *store.Tx) error {
			m, err := store.LastMail(tx, store.SignInCode, who)
			if err != nil || m == nil {
				return err
			}
			code, err = store.SignInCodeOf(tx, m)
			return err
		})
		return code != ""
	})
	return code
}

// TestNodes_MailedCode signs an app user in with a code by mail.
func TestNodes_MailedCode(t *testing.T) {
	t.Parallel()
	first := everyone(t)
	who := withMailedCodes(first)
	s := servertest.NodesOf(first, 3)
	c := &servertest.Traveller{Nodes: s}
	var asked struct {
		Token string `json:"login_token"`
	}
	c.OK("POST", "/api/login/email", `{"username":"customer"}`).Data(&asked)
	code := mailedCode(s.All[1], who)
	use := func(code string) *servertest.Reply {
		t.Helper()
		return c.Call("POST", "/api/login/email-code", fmt.Sprintf(`{"login_token":%q,"otp":%q}`, asked.Token, code))
	}
	use("00000000").Brief(401, "wrong_code")
	use(code).Brief(200, `"token":"rv_`)
	use(code).Brief(401, "code_again")
}

// TestNodes_Limits lets a user fail at one node, and unlocks the user at another.
func TestNodes_Limits(t *testing.T) {
	t.Parallel()
	first := everyone(t)
	first.Clerk("clerk")
	s := servertest.NodesOf(first, 2, func(su *servertest.Setup) {
		n := &servertest.Node{}
		n.Others.Store(1)
		su.Config.Cluster = n
	})
	login := func(in *servertest.Instance, password string) int {
		return in.Call("POST", "/admin/login", fmt.Sprintf(`{"username":"clerk","password":%q}`, password), "nobody").Code
	}
	for n := range 4 { // 5 attempts are 3 for each of two nodes
		want := 401
		if n == 3 {
			want = 429
		}
		if code := login(s.All[0], "wrong"); code != want {
			t.Errorf("attempt %d: %d", n+1, code)
		}
	}
	c := &servertest.Traveller{Nodes: s, Token: s.All[0].Tokens["owner"], At: 1}
	c.OK("DELETE", fmt.Sprintf("/admin/list/%d/lockout", s.All[0].OwnID("clerk")), "")
	servertest.Until(t, "the user can sign in at the other node", func() bool {
		return login(s.All[0], servertest.OwnerPassword) == 200
	})
}
