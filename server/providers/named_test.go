package providers_test

import (
	"fmt"
	"strings"
	"testing"

	"reeve/server/account"
	"reeve/store"
)

// Whatever tells of a sign-in names the provider, and of one with a password none.
func TestSignIn_ProviderIsNamed(t *testing.T) {
	t.Parallel()
	w := newWorld(t, `"creates":"always"`)
	w.Flush() // monitoring records from now on
	box := w.OpenMailbox()
	who := w.browser().known()
	b := w.browser()
	b.arrives()
	if a := b.send("POST", "/admin/login/provider", `{"cookie":1}`); a.Code != 200 { // of a browser: without, it is a program's
		t.Fatalf("%d %s", a.Code, a.Body)
	}

	type row struct {
		Provider string `json:"provider_name"`
	}
	list := func(path, as string) (rows []row) {
		var out struct{ Data []row }
		w.OK("GET", path, "", as).Data(&out)
		return out.Data
	}
	for path, as := range map[string]string{
		"/admin/session":        "person",
		"/admin/account/device": "person",
		"/admin/loginlog":       "person",
		fmt.Sprint("/system/session?user_id=", who.Info.ID):  "owner",
		fmt.Sprint("/system/loginlog?user_id=", who.Info.ID): "owner",
	} {
		rows := list(path, as)
		if len(rows) != 2 || rows[0].Provider != "The provider" || rows[1].Provider != "The provider" {
			t.Errorf("%s: %+v", path, rows)
		}
	}
	for _, one := range list("/system/session?user_id=1", "owner") {
		if one.Provider != "" {
			t.Errorf("a session of a password names %q", one.Provider)
		}
	}

	var told struct{ Notices []account.Notice }
	w.OK("GET", "/admin/info", "", "person").Data(&told)
	if n := told.Notices; len(n) != 1 || n[0].Kind != store.NewDevice || n[0].Provider != "The provider" {
		t.Errorf("notices %+v", n)
	}
	w.Flush()
	w.SendMails()
	if mails := box.All(); len(mails) != 1 || !strings.Contains(fmt.Sprint(mails[0]), "Signed in with: The provider") {
		t.Errorf("mails %v", mails)
	}
	for as, want := range map[string]string{"ann": "The provider", "admin": ""} {
		for _, one := range list("/system/monitor/auth?type=login&username="+as, "owner") {
			if one.Provider != want {
				t.Errorf("monitoring of a sign-in of %s names %q", as, one.Provider)
			}
		}
	}
	if n := len(list("/system/monitor/auth?type=login&username=ann", "owner")); n != 2 {
		t.Errorf("%d sign-ins in monitoring", n)
	}
	log := w.OK("GET", "/system/audit?collection=session", "", "owner").Body
	if n := strings.Count(log, `"The provider"`); n != 2 {
		t.Errorf("the change log names the provider %d times: %s", n, log)
	}
}

// A sign-in that fails is in monitoring with the provider, also if the person has no account.
func TestPerson_FailedSignInNamesProvider(t *testing.T) {
	t.Parallel()
	w := newWorld(t, `"creates":"never"`)
	w.Flush() // monitoring records from now on
	if code := w.browser().arrived().refused(); code != "provider_no_account" {
		t.Errorf("without an account: %s", code)
	}
	w.set(`"creates":"always"`)
	id := w.browser().known().Info.ID
	w.OK("PUT", fmt.Sprintf("/admin/list/%d/status", id), `{"status":0}`, "owner")
	if code := w.browser().arrived().refused(); code != "user_disabled" {
		t.Errorf("a disabled user: %s", code)
	}
	w.Flush()
	var out struct {
		Data []struct {
			Username string `json:"username"`
			Reason   string `json:"reason"`
			Provider string `json:"provider_name"`
		}
	}
	w.OK("GET", "/system/monitor/auth?type=login_failed", "", "owner").Data(&out)
	if got := fmt.Sprint(out.Data); got != "[{ann user_disabled The provider} { provider_no_account The provider}]" {
		t.Error(got)
	}
}

// The data of a person has the connections, and deleting or erasing the person removes them.
func TestPerson_ConnectionsGo(t *testing.T) {
	t.Parallel()
	for _, app := range []bool{false, true} {
		for _, erase := range []bool{false, true} {
			w := newWorld(t, `"creates":"always"`, `"app_users":1`)
			w.Flush() // monitoring records from now on
			who := w.connected(app)
			list := "/admin/list/"
			if app {
				list = "/user/list/"
			}
			list += who.ID.String()
			files := w.FilesOf(list+"/data", "owner")
			for _, part := range []string{`"provider_name": "The provider"`, `"issuer": "` + w.idp.URL,
				`"subject": "subject-1"`, `"email": "ann@example.org"`, `"created_at": "2`, `"last_login": "2`} {
				if !strings.Contains(files["providers.json"], part) {
					t.Errorf("%s: %s is missing: %s", list, part, files["providers.json"])
				}
			}
			if log := files["change-log.jsonl"]; !strings.Contains(log, `"subject-1"`) {
				t.Errorf("%s: the change log lacks the connection: %s", list, log)
			}

			if erase {
				w.OK("POST", list+"/erase", `{"username":"ann"}`, "owner")
			} else {
				w.OK("DELETE", list, "", "owner")
			}
			dump := w.Dump()
			for name, record := range dump {
				if strings.HasPrefix(name, "identity ") || strings.HasPrefix(name, "provider_session ") {
					t.Errorf("%s, erased %v: %s is left: %s", list, erase, name, record)
				}
				if erase && (strings.Contains(record, "subject-1") || strings.Contains(record, "ann@example.org")) {
					t.Errorf("%s: the person is in %s: %s", list, name, record)
				}
			}
			if body := w.OK("GET", "/system/audit", "", "owner").Body; erase && strings.Contains(body, "subject-1") {
				t.Errorf("%s: the change log still tells the subject: %s", list, body)
			}
			w.Flush()
			for _, kind := range []string{"request", "auth"} {
				if body := w.OK("GET", "/system/monitor/"+kind, "", "owner").Body; erase && strings.Contains(body, `"username":"ann"`) {
					t.Errorf("%s: monitoring still names the person: %s", list, body)
				}
			}
		}
	}
}

// connected signs somebody in with the provider, who gets an account.
func (w *world) connected(app bool) (who store.Account) {
	w.T.Helper()
	if !app {
		return store.Account{ID: w.browser().known().Info.ID}
	}
	w.ShowPages()
	b := w.browser()
	b.returns(w.idp.Authorize(b.send("GET", "/auth/provider/idp/start?app=1", "").Header.Get("Location")))
	if a := b.send("GET", "/app/sign-in/provider", ""); a.Code != 303 {
		w.T.Fatalf("%d %s", a.Code, a.Body)
	}
	w.View(func(tx *store.Tx) error {
		u, err := store.AppUserByName.Get(tx, "ann")
		if err == nil {
			who = store.Account{App: true, ID: u.ID}
		}
		return err
	})
	return who
}
