package e2e

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	reeve "reeve/embed/sdk/go"
)

// formOfOwn is a server where a program signs ann in, who has a verified address and a second factor.
type formOfOwn struct {
	owner           *client
	post            *postOffice
	url, key, other string   // other is a key without the permission auth.login
	recovery        []string // recovery codes of ann
	mailed          string   // last code from a mail
}

func newFormOfOwn(t *testing.T) *formOfOwn {
	t.Helper()
	server, post := start(t, t.TempDir(), "REEVE_SERVER__PUBLIC_URL=https://reeve.example.org"), newPostOffice(t)
	c := signedIn(t, server)
	c.want(200, "PUT", "/system/setting",
		values("app.code_sign_in", true, "app.second_factor", true, "mail.enabled", true, "mail.host", "127.0.0.1",
			"mail.port", post.Addr().(*net.TCPAddr).Port, "mail.security", "none", "mail.from", "reeve@example.org"))
	c.create("/user/list", "username", "ann", "password", password, "email", "ann@example.org")
	ann := newClient(t, server)
	ann.token = into[grant](t, ann.want(200, "POST", "/api/login", object("username", "ann", "password", password))).Token
	ann.want(200, "POST", "/api/user/email", object())
	ann.want(200, "POST", "/api/verify", object("token", post.find(t, linkInMail)))
	made := into[struct{ Secret string }](t, ann.want(200, "POST", "/api/user/totp", object("password", password)))
	codes := into[struct {
		Codes []string `json:"recovery_codes"`
	}](t, ann.want(200, "PUT", "/api/user/totp", object("otp", codeOf(t, made.Secret, false))))
	return &formOfOwn{
		owner:    c,
		post:     post,
		url:      server.url,
		key:      c.programKey("shop", "auth.login"),
		other:    c.programKey("other", "auth.check"),
		recovery: codes.Codes,
	}
}

// code returns the code from the next mail.
func (f *formOfOwn) code(t *testing.T) string {
	t.Helper()
	last := f.mailed
	eventually(t, "the next code is sent", func() bool {
		f.mailed = f.post.find(t, codeInMail)
		return f.mailed != last
	})
	return f.mailed
}

// logged checks address and browser of the last sign-in.
func (f *formOfOwn) logged(t *testing.T, address string) {
	t.Helper()
	row := string(f.owner.want(200, "GET", "/system/loginlog?pageSize=1", "").Data)
	for _, want := range []string{`"username":"ann"`, `"result":"success"`, `"ip":"` + address + `"`, `"browser":"Chrome 140.0"`} {
		if !strings.Contains(row, want) {
			t.Errorf("the last sign-in lacks %s: %s", want, row)
		}
	}
}

// mailedIn checks the language of the last mail.
func (f *formOfOwn) mailedIn(t *testing.T, language string) {
	t.Helper()
	if row := string(f.owner.want(200, "GET", "/system/mail?pageSize=1", "").Data); !strings.Contains(row, `"language":"`+language+`"`) {
		t.Errorf("the last mail is not in %s: %s", language, row)
	}
}

// annsBrowser is the client that both client libraries pass on.
var annsBrowser = reeve.Device{
	Address:   "203.0.113.7:1234",
	UserAgent: "Mozilla/5.0 (X11; Linux x86_64) Chrome/140.0",
	Language:  "zh-CN,zh;q=0.9",
}

func TestGoClient_SignsInWithTwoSteps(t *testing.T) {
	t.Parallel()
	f, ctx := newFormOfOwn(t), t.Context()
	for n, row := range []struct{ key, address string }{{f.key, "203.0.113.7"}, {f.other, "127.0.0.1"}} {
		program := goClient(t, reeve.Options{URL: f.url, Key: row.key})
		client := program.FromDevice(annsBrowser)
		first, err := client.SignIn(ctx, reeve.App, "ann", password)
		noErr(t, err)
		if first.Token != "" || first.LoginToken == "" || !slices.Equal(first.Methods, []string{"otp", "recovery"}) {
			t.Fatalf("the first step: %+v", first)
		}
		_, err = client.CompleteSignIn(ctx, reeve.App, first.LoginToken, "000000")
		if e := failure(t, err); e.Code != "wrong_code" || !strings.Contains(e.Message, "验证码") {
			t.Errorf("a wrong code: %v", e)
		}
		_, err = program.From("203.0.113.7").CompleteSignIn(ctx, reeve.App, first.LoginToken, f.recovery[n])
		if e := failure(t, err); e.Code != "sign_in_again" {
			t.Errorf("another browser: %v", e)
		}
		session, err := client.CompleteSignIn(ctx, reeve.App, first.LoginToken, f.recovery[n])
		noErr(t, err)
		if session.Token == "" || session.LoginToken != "" || session.DeviceToken == "" {
			t.Errorf("the session: %+v", session)
		}
		f.logged(t, row.address)

		known := annsBrowser
		known.Token = session.DeviceToken
		client = program.FromDevice(known)
		request, err := client.RequestSignInCode(ctx, "ann@example.org")
		noErr(t, err)
		code := f.code(t)
		f.mailedIn(t, "zh")
		_, err = client.SignInWithCode(ctx, request.LoginToken, "00000000")
		if e := failure(t, err); e.Code != "wrong_code" {
			t.Errorf("a wrong code: %v", e)
		}
		_, err = program.FromDevice(annsBrowser).SignInWithCode(ctx, request.LoginToken, code)
		if e := failure(t, err); e.Code != "code_again" {
			t.Errorf("without the device token: %v", e)
		}
		first, err = client.SignInWithCode(ctx, request.LoginToken, code)
		noErr(t, err)
		again, err := client.CompleteSignIn(ctx, reeve.App, first.LoginToken, f.recovery[n+2])
		noErr(t, err)
		if again.Token == "" || again.DeviceToken != session.DeviceToken {
			t.Errorf("the session after a code by mail: %+v", again)
		}
		f.logged(t, row.address)
	}
}

func TestTypeScriptClient_SignsInWithTwoSteps(t *testing.T) {
	t.Parallel()
	f := newFormOfOwn(t)
	for n, row := range []struct{ key, address string }{{f.key, "203.0.113.7"}, {f.other, "127.0.0.1"}} {
		s := startScript(t, "sign_in.mjs", "SERVER="+f.url, "KEY="+row.key, "PASSWORD="+password,
			"RECOVERY="+strings.Join(f.recovery[2*n:], " "))
		s.until("signed in with a password")
		f.logged(t, row.address)
		s.until("code?")
		fmt.Fprintln(s.stdin, f.code(t))
		f.mailedIn(t, "zh")
		s.until("signed in with a code")
		f.logged(t, row.address)
		noErr(t, <-s.done)
	}
}

// oldServer has only some operations, and counts requests by path.
func oldServer(t *testing.T, has string) string {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == has && r.Header.Get("X-Forwarded-For") != "" && r.Header.Get("User-Agent") == annsBrowser.UserAgent {
			io.WriteString(w, `{"success":true,"data":{"token":"of the old server"}}`)
			return
		}
		w.WriteHeader(http.StatusNotFound)
		io.WriteString(w, `{"success":false,"errorCode":"not_found","msg":"no such route"}`)
	}))
	t.Cleanup(s.Close)
	return s.URL
}

// TestClients_SignInAtOldServers checks that steps that a server has work without those for programs, and
// that the error is clear for others.
func TestClients_SignInAtOldServers(t *testing.T) {
	t.Parallel()
	url, ctx := oldServer(t, "/api/login/totp"), t.Context()
	client := goClient(t, reeve.Options{URL: url, Key: "rv_k_x"}).FromDevice(annsBrowser)
	if session, err := client.CompleteSignIn(ctx, reeve.App, "x", "123456"); err != nil || session.Token != "of the old server" {
		t.Errorf("the second step: %+v, %v", session, err)
	}
	_, err := client.RequestSignInCode(ctx, "ann")
	if e := failure(t, err); e.Status != 404 || e.Code != "not_found" || !strings.Contains(e.Error(), "too old") ||
		!strings.Contains(e.Error(), "/api/login/email") {
		t.Errorf("a code by mail: %v", e)
	}
	runScript(t, "sign_in_old.mjs", "SERVER="+url)
}
