package e2e

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

const hydraSecret = "a secret: +/%"

// hydra is the OpenID provider Ory Hydra. It leaves the pages on which people sign in, consent and sign
// out to a program of the operator, which is the test.
type hydra struct {
	*process
	issuer, admin string

	mu      sync.Mutex
	groups  []string // of the person, Ann
	cancels bool     // whether the person cancels
	asked   int      // number of times that the person had to sign in
}

func newHydra(t *testing.T, server *process) *hydra {
	t.Helper()
	h := &hydra{groups: []string{"staff"}}
	program := foreignProgram(t, "REEVE_TEST_HYDRA")
	pages := httptest.NewServer(http.HandlerFunc(h.page))
	t.Cleanup(pages.Close)
	public, admin := freeAddress(t), freeAddress(t)
	h.issuer, h.admin = "http://"+public, "http://"+admin+"/admin"
	cmd := exec.Command(program, "serve", "all", "--dev")
	cmd.Dir = t.TempDir()
	_, publicPort, _ := strings.Cut(public, ":")
	_, adminPort, _ := strings.Cut(admin, ":")
	cmd.Env = []string{"DSN=memory", "SECRETS_SYSTEM=" + strings.Repeat("secret", 5), "SQA_OPT_OUT=true",
		"SERVE_PUBLIC_HOST=127.0.0.1", "SERVE_PUBLIC_PORT=" + publicPort, "URLS_SELF_ISSUER=" + h.issuer,
		"SERVE_ADMIN_HOST=127.0.0.1", "SERVE_ADMIN_PORT=" + adminPort,
		"URLS_LOGIN=" + pages.URL + "/login", "URLS_CONSENT=" + pages.URL + "/consent",
		"URLS_LOGOUT=" + pages.URL + "/logout", "URLS_POST_LOGOUT_REDIRECT=" + pages.URL + "/signed-out"}
	h.process = serving(t, cmd, h.issuer+"/.well-known/openid-configuration")
	h.ask("POST", "/clients", map[string]any{
		"client_id": "reeve", "client_secret": hydraSecret, "scope": "openid profile email",
		"redirect_uris":                       []string{server.url + "/auth/provider/hydra/callback"},
		"post_logout_redirect_uris":           []string{server.url + "/console/", server.url + "/app/sign-in"},
		"backchannel_logout_uri":              server.url + "/auth/provider/hydra/logout",
		"backchannel_logout_session_required": true,
	})
	return h
}

// response has what is used of responses of the API for administrators.
type response struct {
	To   string `json:"redirect_to"` // where the browser goes on
	Skip bool   `json:"skip"`        // the person is signed in already
}

// ask sends a request to the API for administrators.
func (h *hydra) ask(method, path string, body any) (out response) {
	text, err := json.Marshal(body)
	if err != nil {
		h.t.Error(err)
	}
	r, err := http.NewRequest(method, h.admin+path, bytes.NewReader(text))
	if err != nil {
		h.t.Error(err)
		return out
	}
	r.Header.Set("Content-Type", "application/json")
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		h.t.Error(err)
		return out
	}
	defer resp.Body.Close()
	if err = json.NewDecoder(resp.Body).Decode(&out); err != nil || resp.StatusCode/100 != 2 {
		h.t.Errorf("%s %s: %s %v", method, path, resp.Status, err)
	}
	return out
}

// page is the pages of the operator. The person does at once what it is there for.
func (h *hydra) page(w http.ResponseWriter, r *http.Request) {
	what := strings.TrimPrefix(r.URL.Path, "/")
	if what == "signed-out" {
		fmt.Fprintln(w, "You are signed out")
		return
	}
	challenge := what + "_challenge"
	challenge = "?" + url.Values{challenge: {r.FormValue(challenge)}}.Encode()
	request := "/oauth2/auth/requests/" + what
	body, decision := map[string]any{}, "/accept"
	h.mu.Lock()
	defer h.mu.Unlock()
	switch what {
	case "login":
		if !h.ask("GET", request+challenge, nil).Skip {
			h.asked++
		}
		body = map[string]any{"subject": "id of Ann", "remember": true, "remember_for": 3600, "amr": []string{"pwd", "mfa"}}
		if h.cancels {
			body, decision = map[string]any{"error": "access_denied", "error_description": "not now"}, "/reject"
		}
	case "consent":
		body = map[string]any{"grant_scope": []string{"openid", "profile", "email"},
			"session": map[string]any{"id_token": map[string]any{"email": "ann@example.org",
				"email_verified": true, "preferred_username": "ann", "groups": h.groups}}}
	}
	http.Redirect(w, r, h.ask("PUT", request+decision+challenge, body).To, http.StatusFound)
}

// wasAsked returns how often a person had to sign in since the last call.
func (h *hydra) wasAsked() int {
	h.mu.Lock()
	defer h.mu.Unlock()
	n := h.asked
	h.asked = 0
	return n
}

// will sets whether the person cancels, and its groups.
func (h *hydra) will(cancel bool, groups ...string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.cancels, h.groups = cancel, groups
}

const (
	hydraStart = "/auth/provider/hydra/start"
	arrived    = "/console/?arrived=1"
)

// comes signs in with Hydra.
func (h *hydra) comes(v *surfer) signedAs {
	v.t.Helper()
	v.at(v.opens(v.base+hydraStart), arrived)
	return v.completes()
}

// withHydra returns a server that knows Hydra as a provider, and a client of its owner. Who is in the
// group staff there has a role.
func withHydra(t *testing.T) (h *hydra, server *process, owner *surfer, role int64) {
	t.Helper()
	server = providerServer(t)
	h = newHydra(t, server)
	owner = server.surfer()
	owner.signIn(password)
	role = owner.roleWith("Staff", "admin.list.query")
	id := owner.create("/system/provider", "name", "hydra", "title", "Hydra", "issuer", h.issuer, "client_id", "reeve",
		"client_secret", hydraSecret, "app_users", 1, "creates", "always", "ends_session", 1, "factor_values", []string{"mfa"},
		"mappings", []map[string]any{{"claim": "groups", "value": "staff", "role_ids": []int64{role}}})
	provider := fmt.Sprint("/system/provider/", id)
	test := into[struct{ URL string }](t, owner.want(200, "POST", provider+"/test", ""))
	owner.at(owner.opens(test.URL), "/console/system/provider?tested=1")
	result := into[struct {
		Fault    string
		Factor   int
		AuthTime int     `json:"auth_time"`
		RoleIDs  []int64 `json:"role_ids"`
	}](t, owner.want(200, "GET", "/system/provider-test", ""))
	if result.Fault != "" || result.Factor != 1 || result.AuthTime != 1 || !slices.Equal(result.RoleIDs, []int64{role}) {
		t.Errorf("the test says %+v", result)
	}
	owner.want(200, "PUT", provider, object("status", 1))
	h.wasAsked()
	return h, server, owner, role
}

// TestHydra_SignIn signs people in with Hydra, and ends their sessions there and here.
func TestHydra_SignIn(t *testing.T) {
	t.Parallel()
	h, server, owner, role := withHydra(t)
	h.will(true)
	v := server.surfer()
	v.at(v.opens(server.url+hydraStart), arrived)
	v.wantCode("provider_denied", "POST", "/admin/login/provider", "{}")
	h.will(false, "all", "staff")

	first := h.comes(v)
	if first.Email != "ann@example.org" || first.Username != "ann" || !slices.Equal(first.RoleIDs, []int64{role}) {
		t.Errorf("created %+v", first)
	}
	h.will(false, "all")
	other := server.surfer()
	if again := h.comes(other); again.ID != first.ID || len(again.RoleIDs) != 0 {
		t.Errorf("without the group: %+v", again)
	}
	h.wasAsked()

	// The session ends at Hydra, which tells it here. That of the other browser stays.
	if at := v.opens(h.issuer + "/oauth2/sessions/logout"); !strings.Contains(at.text, "You are signed out") {
		t.Fatalf("the browser is at %s: %s", at.url, at.text)
	}
	eventually(t, "Hydra ends the session here", func() bool { return v.call("GET", "/admin/info", "").status == 401 })
	other.want(200, "GET", "/admin/info", "")

	// Signing out here leads to Hydra, and back.
	out := into[struct {
		URL string `json:"provider_url"`
	}](t, other.want(200, "POST", "/admin/logout", ""))
	if !strings.HasPrefix(out.URL, h.issuer+"/oauth2/sessions/logout?") {
		t.Errorf("signing out leads to %s", out.URL)
	}
	other.at(other.opens(out.URL), "/console/")
	other.want(401, "GET", "/admin/info", "")
	if again := h.comes(other); h.wasAsked() != 1 || again.ID != first.ID {
		t.Errorf("the session at Hydra has not ended: %+v", again)
	}

	owner.want(200, "PUT", fmt.Sprintf("/admin/list/%d/status", first.ID), object("status", 0))
	other.want(401, "GET", "/admin/info", "")
	other.at(other.opens(server.url+hydraStart), arrived)
	other.wantCode("user_disabled", "POST", "/admin/login/provider", "{}")
}

// TestHydra_AppUser signs an app user in with Hydra, and ends the sessions there and here.
func TestHydra_AppUser(t *testing.T) {
	t.Parallel()
	h, server, owner, _ := withHydra(t)
	owner.want(200, "PUT", "/system/setting", values("app.pages", true))
	v := server.surfer()
	account := func() visited { return v.opens(server.url + "/app/account") }
	v.at(v.opens(server.url+hydraStart+"?app=1"), "/app/account")
	v.opens(h.issuer + "/oauth2/sessions/logout")
	eventually(t, "Hydra ends the session here", func() bool { return account().url.Path == "/app/sign-in" })

	v.at(v.opens(server.url+hydraStart+"?app=1"), "/app/account")
	h.wasAsked()
	_, there, _ := strings.Cut(v.call("POST", "/app/sign-out", "").header.Get("Refresh"), "url=")
	v.at(v.opens(there), "/app/sign-in")
	v.at(account(), "/app/sign-in")
	if v.at(v.opens(server.url+hydraStart+"?app=1"), "/app/account"); h.wasAsked() != 1 {
		t.Error("the session at Hydra has not ended")
	}
}

// TestHydra_Confirm confirms a session: a sign-in without asking the person is none, one with is.
func TestHydra_Confirm(t *testing.T) {
	t.Parallel()
	h, server, owner, _ := withHydra(t)
	v := server.surfer()
	h.comes(v)
	const sensitive = "/admin/account/provider/hydra"
	v.want(200, "POST", sensitive, "")
	owner.want(200, "PUT", "/system/setting", values("security.reauth_minutes", 1))
	until := into[struct{ Until time.Time }](t, v.want(200, "GET", "/admin/reauth", "")).Until
	pause(t, time.Until(until)+time.Second)
	v.wantCode("reauth_required", "POST", sensitive, "")
	h.wasAsked()
	h.comes(v)
	if n := h.wasAsked(); n != 0 {
		t.Errorf("Hydra has asked the person %d times", n)
	}
	v.wantCode("reauth_required", "POST", sensitive, "")

	there := into[struct{ URL string }](t, v.want(200, "POST", "/admin/reauth/provider/hydra", ""))
	v.at(v.opens(there.URL), "/console/?confirmed=1")
	if n := h.wasAsked(); n != 1 {
		t.Errorf("Hydra has asked the person %d times", n)
	}
	v.token = into[grant](t, v.want(200, "POST", "/admin/reauth", object("provider", 1))).Token
	v.want(200, "POST", sensitive, "")
}
