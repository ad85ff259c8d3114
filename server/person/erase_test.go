package person_test

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"reeve/server/files"
	"reeve/server/people"
	"reeve/server/person"
	"reeve/server/servertest"
	"reeve/server/webhook"
	"reeve/store"
)

// withLeaver returns an instance with a user who has records everywhere, and the user's ID.
func withLeaver(t *testing.T) (*servertest.Instance, store.ID) {
	in := servertest.Start(t)
	id := in.Member("leaver", 0)
	in.OK("PUT", fmt.Sprint("/admin/list/", id),
		`{"nickname":"Lea Ver","email":"lea@example.org","mobile":"5550001"}`, "owner")
	in.Login("leaver", servertest.OwnerPassword).Brief(200)
	in.Login("leaver", "wrong password").Brief(401)
	in.Clerk("uploader", "file.list.create", "file.list.update")
	in.Update(func(tx *store.Tx) error {
		u, err := store.UserByName.Get(tx, "uploader")
		if err != nil {
			return err
		}
		_, err = store.Users.Update(tx, id, func(l *store.User) error {
			l.RoleIDs = u.RoleIDs
			return nil
		})
		return err
	})
	in.Upload("/file/list", "a text", "leaver")
	in.Update(func(tx *store.Tx) error {
		return store.Jobs.Create(tx, &store.Job{
			Kind:     people.UserRealm.ImportJob,
			State:    store.JobDone,
			UserID:   id,
			Username: "leaver",
		})
	})
	return in, id
}

func TestEraseRoutes(t *testing.T) {
	t.Parallel()
	in, id := withLeaver(t)
	in.Clerk("deleter", "admin.list.delete", "admin.list.query")
	in.Clerk("eraser", "admin.list.erase", "file.list.create", "file.list.update")
	scoped := in.Role("scoped", nil, "admin.list.erase", "admin.list.data")
	in.Member("scoped", 0, scoped)
	url, body := fmt.Sprintf("/admin/list/%d/erase", id), `{"username":"leaver"}`
	before := in.Dump()
	for _, c := range []struct {
		url, body, as string
		status        int
		code          string
	}{
		{url, body, "deleter", 403, "denied"},
		{url, body, "nobody", 401, "unauthenticated"},
		{url, body, "scoped", 404, "not_found"},
		{url, `{"username":"Leaver"}`, "owner", 422, "invalid"},
		{url, `{}`, "owner", 422, "invalid"},
		{"/admin/list/1/erase", `{"username":"admin"}`, "owner", 409, "erase_self"},
		{"/admin/list/1/erase", `{"username":"admin"}`, "eraser", 403, "beyond_ceiling"},
		{"/user/list/1/erase", body, "owner", 404, "not_found"},
	} {
		a := in.Call("POST", c.url, c.body, c.as)
		if a.Code != c.status || a.Envelope().ErrorCode != c.code {
			t.Errorf("%s %s as %s: %d %s", c.url, c.body, c.as, a.Code, a.Body)
		}
	}

	in.Unchanged(before)

	var out person.Erasure
	in.OK("POST", url, body, "eraser").Data(&out)
	if !out.Complete || out.MonitoringUntil != 0 || out.ErasedAt == 0 ||
		out.BackupsBefore != out.ErasedAt {
		t.Errorf("%+v", out)
	}
	if r := out.Removed; r.Sessions != 2 || r.Devices != 1 || r.SignIns != 2 || r.Files != 1 ||
		r.Jobs != 1 {
		t.Errorf("removed %+v", r)
	}

	in.Call("POST", url, body, "owner").Brief(404)
	in.Call("GET", "/admin/info", "", "leaver").Brief(401)
	in.Login("leaver", servertest.OwnerPassword).Brief(401)
	for name, record := range in.Dump() {
		for _, text := range []string{"leaver", "Lea Ver", "lea@example.org", "5550001"} {
			if strings.Contains(record, text) {
				t.Errorf("%s is still in %s: %s", text, name, record)
			}
		}
	}
}

func TestErasure_IsContinued(t *testing.T) {
	t.Parallel()
	in, id := withLeaver(t)
	_, _, err := store.Erase(in.DB.WithRecorder(nil), store.System, store.Account{ID: id}, "leaver")
	servertest.Must(t, err)
	in.Server.Person.ResumeErasures()
	in.Server.Person.ResumeErasures()
	for name, record := range in.Dump() {
		if strings.Contains(record, "leaver") {
			t.Errorf("the name is still in %s: %s", name, record)
		}
	}
}

func TestPersonData_EverythingButSecrets(t *testing.T) {
	t.Parallel()
	in, id := withLeaver(t)
	in.Clerk("reader", "admin.list.data")
	url := fmt.Sprintf("/admin/list/%d/data", id)
	in.OK("PUT", fmt.Sprint("/admin/list/", id), `{"nickname":"Lea"}`, "owner")
	servertest.Must(t,
		in.DB.WithRecorder(nil).From(&store.Origin{User: store.Account{ID: id}, RequestID: "x"}).Update(store.System, func(tx *store.Tx) error {
			u, err := store.UserByName.Get(tx, "uploader")
			if err != nil {
				return err
			}
			_, err = store.Users.Update(tx, u.ID, func(u *store.User) error {
				u.Nickname = "Someone Else"
				return nil
			})
			return err
		}))
	in.Create("/system/webhook", `{"url":"https://example.org/x","types":["*"]}`)
	in.Key(id, servertest.PersonalKey, func(k *store.APIKey) { k.Name = "laptop of Lea" })
	in.Update(func(tx *store.Tx) error {
		return store.TellSignIn(tx, id, store.Notice{Kind: store.NewNetwork, IP: "198.51.100.7"},
			"en")
	})
	boss := in.Member("boss", 0, store.OwnerRole)
	in.BeginActing("boss", id, 0).Brief(200)
	invited := servertest.NewTestLink(store.Invitation, false, id)
	in.Plant(invited, "lea@example.org")
	in.Update(func(tx *store.Tx) error {
		return store.QueueMail(tx, store.Invitation, invited.Who, "", "en")
	})
	in.Update(func(tx *store.Tx) error {
		who := store.Account{ID: id}
		servertest.Must(t, store.BeginTOTP(tx, who, "JBSWY3DPEHPK3PXP"))
		app, err := store.TOTPOf(tx, who)
		servertest.Must(t, err)
		return errors.Join(store.UseTOTP(tx, app.ID, 1),
			store.SetRecoveryCodes(tx, who, []string{"hash of a code"}))
	})
	in.Update(func(tx *store.Tx) error {
		return store.Views.Create(tx, &store.View{List: "/admin/list", Name: "Late people", UserID: id, Query: "status=0"})
	})
	in.View(func(tx *store.Tx) error {
		keys, err := store.WebhookKeysOf(tx, 1)
		for _, person := range []store.ID{id, id + 1} {
			in.Server.Sender.Keep(keys.Deliveries, webhook.Delivery{
				At:      time.Now(),
				Webhook: 1,
				Event:   fmt.Sprint("about ", person),
				Type:    "user.updated",
				Request: `{"hash":"$2a$"}`,
				Persons: []string{store.Account{ID: person}.Person()},
			})
		}
		return err
	})
	plans := []*files.File{in.Keep("owner", "plan.txt", "a plan"), in.Keep("owner", "list.txt", "a list")}
	for _, f := range plans {
		in.Upload(fmt.Sprintf("/file/list/%d/version", f.ID), "by the leaver", "leaver").Brief(200)
	}
	in.Upload(fmt.Sprintf("/file/list/%d/version", plans[0].ID), "a plan again", "owner").Brief(200)
	written := in.FilesOf(url, "reader")
	for name, want := range map[string][]string{
		"README.txt":    {"change-log.jsonl", "sign-ins.jsonl"},
		"user.json":     {`"username": "leaver"`, `"email": "lea@example.org"`},
		"sessions.json": {`"ip": "192.0.2.1"`},
		"devices.json":  {`"expires_at"`},
		"notices.json": {`"kind": "new_network"`, `"ip": "198.51.100.7"`,
			`"kind": "acted_as"`, `"by": "boss"`, `"reason": "ticket 7"`},
		"second-factor.json":  {`"recovery_codes": 1`},
		"mails.jsonl":         {`"purpose":"invitation"`, `"email":"lea@example.org"`},
		"invitation.json":     {`"links": 1`},
		"keys.json":           {`"name": "laptop of Lea"`, `"hint": "rv_k_`},
		"views.json":          {`"name": "Late people"`, `"query": "status=0"`},
		"sign-ins.jsonl":      {`"result":"success"`, `"result":"failed"`},
		"files.jsonl":         {`"size":6`, `"name":"list.txt"`},
		"file-versions.jsonl": {`"file_id":2`, `"size":13`},
		"jobs.jsonl":          {`"kind":"user_import"`},
		"webhooks.jsonl":      {`"host":"example.org"`, fmt.Sprint("about ", id)},
		"change-log.jsonl": {`"Lea Ver"`, `"old":"Lea Ver","new":"Lea"`, person.AnotherPerson,
			`"name":"leaver"`, `"as":{"kind":"user","id":` + id.String() + `,"name":"leaver"}`},
	} {
		for _, text := range want {
			if !strings.Contains(written[name], text) {
				t.Errorf("%s lacks %s: %.2000s", name, text, written[name])
			}
		}
	}

	if len(written) != 17 {
		t.Errorf("%d files", len(written))
	}

	secrets := []string{fmt.Sprint("about ", id+1), "$2a$", "$2b$", `"hash"`, `"token"`,
		`"sealed"`, "password_key", `"key":`, `"box"`, "Someone Else", in.Tokens["leaver"],
		invited.Token, invited.Hash, "JBSWY3DPEHPK3PXP", "hash of a code"}
	in.View(func(tx *store.Tx) error {
		for s, err := range store.SessionTokens.All(tx) {
			servertest.Must(t, err)
			secrets = append(secrets, s.Hash)
		}
		for d, err := range store.Devices.All(tx) {
			servertest.Must(t, err)
			secrets = append(secrets, d.Hash)
		}
		for s, err := range store.KeySecrets.All(tx) {
			servertest.Must(t, err)
			secrets = append(secrets, s.Hash)
		}
		return nil
	})
	for name, text := range written {
		for _, secret := range secrets {
			if strings.Contains(text, secret) {
				t.Errorf("%s has %s: %.2000s", name, secret, text)
			}
		}
	}

	if boss := in.FilesOf(fmt.Sprintf("/admin/list/%d/data", boss), "owner")["change-log.jsonl"]; !strings.Contains(boss, `"as":{"kind":"user","id":`+id.String()+`,"name":"`+person.AnotherPerson+`"}`) {
		t.Errorf("the data of somebody who acted as another user: %s", boss)
	}
	if again := in.FilesOf(url, "reader")["change-log.jsonl"]; !strings.Contains(again,
		`"action":"export_person"`) {
		t.Errorf("the download is not logged: %s", again)
	}
}

func TestPersonData_AppUsers(t *testing.T) {
	t.Parallel()
	in := servertest.Start(t)
	u := in.AppUser("shopper")
	in.Clerk("reader", "user.list.data")
	in.Update(func(tx *store.Tx) error {
		return store.LoginLogs.Create(tx, &store.LoginLog{
			AppUserID: u.ID,
			Username:  "shopper",
			Realm:     "app",
			Result:    store.LoginFailed,
		})
	})
	files := in.FilesOf(fmt.Sprintf("/user/list/%d/data", u.ID), "reader")
	if !strings.Contains(files["user.json"], `"shopper"`) ||
		!strings.Contains(files["sign-ins.jsonl"], `"shopper"`) ||
		!strings.Contains(files["sessions.json"], `"shopper"`) ||
		!strings.Contains(files["change-log.jsonl"], `"shopper"`) {
		t.Errorf("%q", files)
	}
}

func TestPersonData_NeedsReadPermission(t *testing.T) {
	t.Parallel()
	in := servertest.FourLevels(t)
	role := in.Role("Scoped", func(r *store.Role) {
		r.DataScope = store.ScopeTree
	}, "admin.list.data", "admin.list.erase")
	in.Member("clerk", 10, role)
	in.Clerk("none", "admin.list.query")
	inside := []string{"in.10", "in.100", "in.101"}
	for id := store.ID(2); id < 9; id++ {
		name, _ := in.Who(id)
		url := fmt.Sprintf("/admin/list/%d/", id)
		in.Call("GET", url+"data", "", "none").Brief(403)
		in.Call("POST", url+"erase", `{"username":"`+name+`"}`, "none").Brief(403)
		if slices.Contains(inside, name) {
			in.FilesOf(url+"data", "clerk")
			in.OK("POST", url+"erase", `{"username":"`+name+`"}`, "clerk")
		} else {
			in.Call("GET", url+"data", "", "clerk").Brief(404)
			in.Call("POST", url+"erase", `{"username":"`+name+`"}`, "clerk").Brief(404)
		}
	}

	in.Call("GET", "/user/list/1/data", "", "owner").Brief(404)
}

func TestErasure_MonitoringEvents(t *testing.T) {
	t.Parallel()
	in, id := withLeaver(t)
	in.Flush()
	var out person.Erasure
	in.OK("POST", fmt.Sprintf("/admin/list/%d/erase", id), `{"username":"leaver"}`, "owner").Data(&out)
	if out.Removed.Events == 0 || !out.Complete {
		t.Errorf("%+v", out)
	}

	in.Flush()
	for _, kind := range []string{"request", "auth", "query", "cache"} {
		body := in.OK("GET", "/system/monitor/"+kind+"?pageSize=100", "", "owner").Body
		for _, text := range []string{"leaver", "lea@example.org", "5550001",
			fmt.Sprintf(`"user":{"id":%d,`, id)} {
			if strings.Contains(body, text) {
				t.Errorf("%s is still in the %s events: %s", text, kind, body)
			}
		}
	}

	if body := in.OK("GET", "/system/monitor/request?pageSize=100", "", "owner").Body; !strings.Contains(body, "/erase") {
		t.Error("the request that erased is not recorded")
	}
}

// TestErasure_ImpersonationEvents erases each of the two users.
func TestErasure_ImpersonationEvents(t *testing.T) {
	t.Parallel()
	for _, erased := range []string{"boss", "clerk"} {
		t.Run(erased, func(t *testing.T) {
			t.Parallel()
			in, clerk := servertest.Actors(t)
			id := clerk
			if erased == "boss" {
				id = in.OwnID("boss")
			}

			in.BeginActing("boss", clerk, 1).Brief(200)
			in.CallAs("POST", "/system/dict", `{"name":"N","code":"n"}`, "boss", clerk).Brief(200)
			in.CallAs("DELETE", "/system/dict/1", "", "boss", clerk).Brief(403)
			in.Flush()
			in.CallAs("PUT", "/system/dict/1", `{"name":"M"}`, "boss", clerk).Brief(403) // still in the queue
			in.OK("GET", "/system/monitor/auth?pageSize=100", "", "owner").Brief(200,
				`"username":"boss as clerk"`, fmt.Sprintf(`"as_id":%d}`, clerk))
			var out person.Erasure
			in.OK("POST", fmt.Sprintf("/admin/list/%d/erase", id), `{"username":"`+erased+`"}`,
				"owner").Data(&out)
			if out.Removed.Events == 0 || !out.Complete {
				t.Errorf("%+v", out)
			}

			in.Flush()
			files, err := filepath.Glob(filepath.Join(in.DB.Dir(), "monitor", "*"))
			servertest.Must(t, err)
			found := false
			for _, path := range files {
				text, err := os.ReadFile(path)
				servertest.Must(t, err)
				if bytes.Contains(text, []byte("boss as clerk")) ||
					bytes.Contains(text, []byte(`"username":"`+erased+`"`)) {
					t.Errorf("%s has %s", path, erased)
				}
				found = found || bytes.Contains(text, []byte("/erase"))
			}

			if !found {
				t.Errorf("no events in %v", files)
			}
		})
	}
}
