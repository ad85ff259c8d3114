package e2e

import (
	"errors"
	"html"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"
)

// foreignProgram returns the path of a program of others, which a variable names: .ci/run builds them.
// Without the variable, the test is skipped.
func foreignProgram(t testing.TB, variable string) string {
	t.Helper()
	path := os.Getenv(variable)
	if path == "" {
		if os.Getenv("CI") == "true" {
			t.Fatalf("%s does not name a program", variable)
		}
		t.Skipf("%s does not name a program; .ci/run has the command that builds it", variable)
	}
	return path
}

// serving starts a program of others and waits until an address answers.
func serving(t testing.TB, cmd *exec.Cmd, address string) *process {
	t.Helper()
	p := begin(t, cmd)
	eventually(t, address+" answers", func() bool {
		select {
		case <-p.done:
			t.Fatalf("%s ended:\n%s%s", cmd.Path, &p.out, &p.log)
		default:
		}
		resp, err := http.Get(address)
		if err != nil {
			return false
		}
		resp.Body.Close()
		return resp.StatusCode == http.StatusOK
	})
	return p
}

// surfer is a browser without scripts: it keeps cookies, and follows redirects.
type surfer struct {
	*client
	stopAt string // beginning of an address to which it does not go
}

// surfer returns a new browser.
func (p *process) surfer() *surfer {
	v := &surfer{client: newClient(p.t, p)}
	jar, err := cookiejar.New(nil)
	noErr(p.t, err)
	v.extra["Origin"] = p.url
	v.http.Jar = jar
	v.http.CheckRedirect = func(r *http.Request, from []*http.Request) error {
		if len(from) > 20 {
			return errors.New("more than 20 redirects")
		}
		if v.stopAt != "" && strings.HasPrefix(r.URL.String(), v.stopAt) {
			return http.ErrUseLastResponse
		}
		return nil
	}
	return v
}

// visited is where a surfer has come to.
type visited struct {
	url    *url.URL
	status int
	text   string
	next   string // address at which it stopped
}

func (v *surfer) goes(r *http.Request, err error) visited {
	v.t.Helper()
	noErr(v.t, err)
	r.Header.Set("Accept", "text/html")
	resp, err := v.http.Do(r)
	noErr(v.t, err)
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	noErr(v.t, err)
	return visited{resp.Request.URL, resp.StatusCode, string(text), resp.Header.Get("Location")}
}

func (v *surfer) opens(address string) visited {
	v.t.Helper()
	return v.goes(http.NewRequest("GET", address, nil))
}

var (
	formTag    = regexp.MustCompile(`(?s)<form[^>]*>.*?</form>`)
	formAction = regexp.MustCompile(`<form[^>]* action="([^"]*)"`)
	hiddenTag  = regexp.MustCompile(`<input type="hidden" name="([^"]*)" value="([^"]*)"`)
)

// submits fills in the first form of a page, with alternating names and values, and sends it.
func (v *surfer) submits(at visited, fields ...string) visited {
	v.t.Helper()
	form := formTag.FindString(at.text)
	if form == "" {
		v.t.Fatalf("%s has no form: %d %s", at.url, at.status, at.text)
	}
	to, values := at.url, url.Values{}
	if action := formAction.FindStringSubmatch(form); action != nil {
		var err error
		to, err = at.url.Parse(html.UnescapeString(action[1]))
		noErr(v.t, err)
	}
	for _, hidden := range hiddenTag.FindAllStringSubmatch(form, -1) {
		values.Set(hidden[1], html.UnescapeString(hidden[2]))
	}
	for i := 0; i < len(fields); i += 2 {
		if !strings.Contains(form, `name="`+fields[i]+`"`) {
			v.t.Fatalf("the form of %s has no %s: %s", at.url, fields[i], form)
		}
		values.Set(fields[i], fields[i+1])
	}
	r, err := http.NewRequest("POST", to.String(), strings.NewReader(values.Encode()))
	if err == nil {
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	return v.goes(r, err)
}

// signedAs is an account in GET /admin/info.
type signedAs struct {
	ID            int64   `json:"id"`
	Username      string  `json:"username"`
	Nickname      string  `json:"nickname"`
	Email         string  `json:"email"`
	EmailVerified int     `json:"email_verified"`
	RoleIDs       []int64 `json:"role_ids"`
}

// completes signs in with what the provider has said, and returns the account.
func (v *surfer) completes() signedAs {
	v.t.Helper()
	v.token = into[grant](v.t, v.want(200, "POST", "/admin/login/provider", "{}")).Token
	return into[struct{ Info signedAs }](v.t, v.want(200, "GET", "/admin/info", "")).Info
}

// wantCode is call with a required code of an error.
func (v *surfer) wantCode(code, method, path, body string) *answer {
	v.t.Helper()
	a := v.call(method, path, body)
	if a.ErrorCode != code {
		v.t.Fatalf("%s %s %s: %d %s, want %s", method, path, body, a.status, a.raw, code)
	}
	return a
}

// at checks where a surfer has come to.
func (v *surfer) at(page visited, path string) {
	v.t.Helper()
	if got := page.url.RequestURI(); page.status != 200 || got != path {
		v.t.Fatalf("the browser is at %s, want %s: %d %.2000s", got, path, page.status, page.text)
	}
}
