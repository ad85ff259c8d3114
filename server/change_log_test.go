package server

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"reeve/server/changes"
	"reeve/server/web"
	"reeve/store"
	"reeve/store/audit"
)

// entriesSince returns the entries of the change log with numbers above seq.
func (in *instance) entriesSince(seq uint64) (entries []audit.Entry) {
	in.t.Helper()
	in.view(func(tx *store.Tx) error {
		return tx.LogRows(seq+1, func(row audit.Row) bool {
			e, err := row.Decode()
			must(in.t, err)
			entries = append(entries, e)
			return true
		})
	})
	return entries
}

// opened returns the text of a value that is sealed for a person.
func (in *instance) opened(v audit.Value) (text string) {
	in.t.Helper()
	in.view(func(tx *store.Tx) error {
		raw, _, err := store.ReadLogged(tx, v)
		if err == nil && raw != nil {
			err = json.Unmarshal(raw, &text)
		}
		return err
	})
	return text
}

// Each operation that matters has one entry, which says who did it, from where and in which session.
func TestChangeLog_EntryPerAction(t *testing.T) {
	t.Parallel()
	in := start(t)
	file := in.keep("owner", "a.txt", "text")
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
		before := in.db.LogHead().Seq
		if a := in.call(c.method, c.url, c.body, "owner"); a.Code != http.StatusOK {
			t.Fatalf("%s %s: %d %.200s", c.method, c.url, a.Code, a.Body)
		}
		entries := in.entriesSince(before)
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
		if e.Actor.Key() != "user:1" || in.opened(e.Actor.Name) != "admin" || in.opened(e.Address) == "" || e.SessionID == 0 || e.RequestID == "" {
			t.Errorf("%s %s: the origin is %+v", c.method, c.url, e)
		}
		if e.Operation.Method != c.method || e.Operation.Title == "" || !strings.HasPrefix(c.url, strings.Split(e.Operation.Route, ":")[0]) {
			t.Errorf("%s %s: the operation is %+v", c.method, c.url, e.Operation)
		}
	}
}

// A sign-in is an entry of the user who signs in, with the new session.
func TestChangeLog_LoginAndLogout(t *testing.T) {
	t.Parallel()
	in := start(t)
	clerk := in.clerk("clerk")
	before := in.db.LogHead().Seq
	in.enter("clerk", "clerk", ownerPassword)
	in.ok("POST", "/admin/logout", "", "clerk")
	var told []string
	for _, e := range in.entriesSince(before) {
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
	in := start(t)
	for sent, want := range map[string]string{
		"asked by the customer":                  "asked by the customer",
		url.PathEscape("客户要求 100%"):              "客户要求 100%",
		"50% off":                                "50% off",
		strings.Repeat("x", 200):                 strings.Repeat("x", 200),
		url.PathEscape(strings.Repeat("客", 200)): strings.Repeat("客", 200),
	} {
		before := in.db.LogHead().Seq
		r := in.request("PUT", "/admin/info", fmt.Sprintf(`{"nickname":%q}`, fmt.Sprint("N", in.last.Add(1))), "owner")
		r.Header.Set("X-Reason", sent)
		in.send(r).brief(200)
		if entries := in.entriesSince(before); len(entries) != 1 || entries[0].Reason != want {
			t.Errorf("%q: %+v", sent, entries)
		}
	}
	for _, bad := range []string{strings.Repeat("x", 201), "a%0Ab", "%ff"} {
		before := in.db.LogHead()
		r := in.request("PUT", "/admin/info", `{"nickname":"bad"}`, "owner")
		r.Header.Set("X-Reason", bad)
		in.send(r).brief(400, "X-Reason")
		if in.db.LogHead() != before {
			t.Errorf("%q: something was changed", bad)
		}
	}
}

// Refused requests and failed sign-ins of known users are counted for one entry each a minute.
func TestChangeLog_DenialsAreGrouped(t *testing.T) {
	t.Parallel()
	in := start(t)
	clerk := in.clerk("clerk")
	in.enter("clerk", "clerk", ownerPassword)
	before := in.db.LogHead().Seq
	for range 5 {
		in.call("GET", "/admin/list", "", "clerk").brief(403)
	}
	in.login("clerk", "wrong")
	in.login("nobody at all", "wrong") // only in the sign-in log
	must(t, changes.LogDenials(in.server.Server))
	must(t, changes.LogDenials(in.server.Server)) // nothing is counted twice
	entries := in.entriesSince(before)
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
		in.server.Denials.Add(web.Denial{Network: fmt.Sprint(i), Route: &in.server.Server.Routes[0]})
	}
	before = in.db.LogHead().Seq
	must(t, changes.LogDenials(in.server.Server))
	if entries := in.entriesSince(before); len(entries) != web.MaxDenials+1 {
		t.Errorf("%d entries", len(entries))
	}
}
