package changes_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"reeve/server/changes"
	"reeve/server/servertest"
	"reeve/server/web"
	"reeve/store"
	"reeve/store/audit"
)

// opened returns the text of a value that is sealed for a person.
func opened(in *servertest.Instance, v audit.Value) (text string) {
	in.T.Helper()
	in.View(func(tx *store.Tx) error {
		raw, _, err := store.ReadLogged(tx, v)
		if err == nil && raw != nil {
			err = json.Unmarshal(raw, &text)
		}
		return err
	})
	return text
}

// Each operation that matters has one entry, which says who did it, from where and in which
// session.
func TestChangeLog_EntryPerAction(t *testing.T) {
	t.Parallel()
	in := servertest.Start(t)
	file := in.Keep("owner", "a.txt", "text")
	for _, c := range []struct {
		method, url, body string
		action            string
		changes           string // collection and operation of each change
	}{
		{"POST", "/system/dict", `{"code":"c","name":"C"}`, "", "dict create"},
		{"PUT", "/admin/info", `{"nickname":"Owner"}`, "", "user update"},
		{"GET", "/admin/list-export", "", "export", ""},
		{"GET", "/system/backup", "", "backup", ""},
		{"POST", fmt.Sprintf("/file/list/%d/link", file.ID), "", "create_link", ""},
		{"DELETE", fmt.Sprintf("/file/list/%d", file.ID), "", "", "file update"},
	} {
		before := in.DB.LogHead().Seq
		if a := in.Call(c.method, c.url, c.body, "owner"); a.Code != http.StatusOK {
			t.Fatalf("%s %s: %d %.200s", c.method, c.url, a.Code, a.Body)
		}

		entries := in.EntriesSince(before)
		if len(entries) != 1 {
			t.Fatalf("%s %s: %d entries", c.method, c.url, len(entries))
		}

		e := entries[0]
		var changes []string
		for _, change := range e.Changes {
			changes = append(changes, change.Collection+" "+change.Operation)
		}

		if e.Action != c.action || strings.Join(changes, ", ") != c.changes {
			t.Errorf("%s %s: action %q, changes %q", c.method, c.url, e.Action, changes)
		}
		if e.Actor.Key() != "user:1" || opened(in, e.Actor.Name) != "admin" ||
			opened(in, e.Address) == "" || e.SessionID == 0 || e.RequestID == "" {
			t.Errorf("%s %s: the origin is %+v", c.method, c.url, e)
		}
		if e.Operation.Method != c.method || e.Operation.Title == "" ||
			!strings.HasPrefix(c.url, strings.Split(e.Operation.Route, ":")[0]) {
			t.Errorf("%s %s: the operation is %+v", c.method, c.url, e.Operation)
		}
	}
}

// A sign-in is an entry of the user who signs in, with the new session.
func TestChangeLog_LoginAndLogout(t *testing.T) {
	t.Parallel()
	in := servertest.Start(t)
	clerk := in.Clerk("clerk")
	before := in.DB.LogHead().Seq
	in.Enter("clerk", "clerk", servertest.OwnerPassword)
	in.OK("POST", "/admin/logout", "", "clerk")
	var told []string
	for _, e := range in.EntriesSince(before) {
		for _, c := range e.Changes {
			if c.Collection == "session" {
				told = append(told, e.Actor.Key()+" "+c.Operation)
			}
		}
	}

	want := fmt.Sprintf("user:%d create user:%[1]d delete", clerk.ID)
	if got := strings.Join(told, " "); got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

func TestChangeLog_Reasons(t *testing.T) {
	t.Parallel()
	in := servertest.Start(t)
	for sent, want := range map[string]string{
		"asked by the customer":                  "asked by the customer",
		url.PathEscape("客户要求 100%"):              "客户要求 100%",
		"50% off":                                "50% off",
		strings.Repeat("x", 200):                 strings.Repeat("x", 200),
		url.PathEscape(strings.Repeat("客", 200)): strings.Repeat("客", 200),
	} {
		before := in.DB.LogHead().Seq
		r := in.Request("PUT", "/admin/info",
			fmt.Sprintf(`{"nickname":%q}`, fmt.Sprint("N", in.Last.Add(1))), "owner")
		r.Header.Set("X-Reason", sent)
		in.Send(r).Brief(200)
		if entries := in.EntriesSince(before); len(entries) != 1 || entries[0].Reason != want {
			t.Errorf("%q: %+v", sent, entries)
		}
	}

	for _, bad := range []string{strings.Repeat("x", 201), "a%0Ab", "%ff"} {
		before := in.DB.LogHead()
		r := in.Request("PUT", "/admin/info", `{"nickname":"bad"}`, "owner")
		r.Header.Set("X-Reason", bad)
		in.Send(r).Brief(400, "X-Reason")
		if in.DB.LogHead() != before {
			t.Errorf("%q: something was changed", bad)
		}
	}
}

// Refused requests and failed sign-ins of known users are counted for one entry each a minute.
func TestChangeLog_DenialsAreGrouped(t *testing.T) {
	t.Parallel()
	in := servertest.Start(t)
	clerk := in.Clerk("clerk")
	in.Enter("clerk", "clerk", servertest.OwnerPassword)
	before := in.DB.LogHead().Seq
	for range 5 {
		in.Call("GET", "/admin/list", "", "clerk").Brief(403)
	}

	in.Login("clerk", "wrong")
	in.Login("nobody at all", "wrong") // only in the sign-in log
	servertest.Must(t, changes.LogDenials(in.Server.Server))
	servertest.Must(t, changes.LogDenials(in.Server.Server)) // nothing is counted twice
	entries := in.EntriesSince(before)
	told := map[string]string{}
	for _, e := range entries {
		told[e.Actor.Key()+" "+e.Operation.Route] = e.Action + " " + string(e.Details)
	}

	want := map[string]string{
		fmt.Sprintf("user:%d /admin/list", clerk.ID): `denied {"count":5}`,
		"anonymous:0 /admin/login":                   `denied {"count":1,"network":"198.51.100.0/24"}`,
	}
	if len(entries) != 2 || fmt.Sprint(told) != fmt.Sprint(want) {
		t.Errorf("%v, want %v", told, want)
	}

	for i := range 3 * web.MaxDenials { // a flood from many networks
		in.Server.Denials.Add(web.Denial{Network: fmt.Sprint(i),
			Route: &in.Server.Server.Routes[0]})
	}

	before = in.DB.LogHead().Seq
	servertest.Must(t, changes.LogDenials(in.Server.Server))
	if entries := in.EntriesSince(before); len(entries) != web.MaxDenials+1 {
		t.Errorf("%d entries", len(entries))
	}
}
