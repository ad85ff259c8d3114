package monitor

import (
	"bytes"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"reeve/server/redact"
	"reeve/store"
	"reeve/store/disk/disktest"
)

// Forget removes what names a person, whether it is written or still in the queue, and nothing
// else.
func TestForget_EventsAndCounts(t *testing.T) {
	m := open(t)
	list := &Route{Name: "PUT /admin/list/:id", Pattern: "/admin/list/:id"}
	login := &Route{
		Name:    "POST /admin/login",
		Pattern: "/admin/login",
		Hide:    redact.Fields{Usernames: true},
	}

	appLogin := &Route{
		Name:    "POST /api/login",
		Pattern: "/api/login",
		Hide:    redact.Fields{Usernames: true},
	}

	alice, other := &store.Actor{ID: 7, Username: "alice"}, &store.Actor{ID: 8, Username: "malice"}
	as := func(by *store.Actor, id store.ID, name string) *store.Actor {
		return &store.Actor{ID: id, Username: name, By: by}
	}
	requests := func() (hers, others []string) {
		request := func(route *Route, caller *store.Actor, path, query, body string,
			notes ...AuthEvent) string {
			f := answered("PUT", route, 200)
			f.Caller, f.Path, f.Query, f.Notes = caller, path, query, notes
			if body != "" {
				f.Body, f.Header = []byte(body), map[string][]string{"Content-Type": {"application/json"}}
			}
			m.Done(f)
			return f.RequestID
		}

		signIn := func(name string) AuthEvent {
			return AuthEvent{Type: "login", Username: name, Result: "success"}
		}
		hers = []string{
			request(list, alice, "/admin/list/1", "", ""),
			request(list, other, "/admin/list/7", "", `{"nickname":"A."}`),
			request(list, other, "/admin/list", "username=Alice", ""),
			request(list, other, "/admin/list", "", `{"username":"ALICE"}`),
			request(login, store.Anonymous, "/admin/login", "", "", signIn("alice")),
			request(list, as(other, 7, "alice"), "/admin/list/1", "", ""),
			request(list, as(alice, 9, "bob"), "/admin/list/1", "", ""),
		}

		others = []string{
			request(list, other, "/admin/list/70", "", `{"nickname":"B."}`),
			request(list, other, "/admin/list", "", `{"username":"malice"}`),
			request(login, store.Anonymous, "/admin/login", "", "", signIn("malice")),
			request(appLogin, store.Anonymous, "/api/login", "", "", signIn("alice")),
			request(list, as(other, 70, "bob"), "/admin/list/1", "", ""),
			request(list, &store.Actor{ID: 7, Username: "alice", App: true}, "/api/info", "", ""),
		}
		return hers, others
	}
	hers, others := requests()
	m.Flush()
	queuedHers, queuedOthers := requests()
	removed, err := m.Forget(Person{ID: 7, Texts: []string{"alice", "alice@example.org"}})
	must(t, err)
	if removed == 0 {
		t.Error("nothing was removed")
	}

	m.Flush()
	j := m.journal.Load()
	for _, id := range append(hers, queuedHers...) {
		disktest.Equal(t, "events of "+id, len(j.Group(id)), 0)
	}

	for _, id := range append(others, queuedOthers...) {
		if len(j.Group(id)) == 0 {
			t.Errorf("events of %s are missing", id)
		}
	}

	for _, table := range []string{minuteTable, hourTable} {
		for key, row := range j.Rows(table, "", "~") {
			if bytes.Contains(row, []byte("admin alice")) ||
				!bytes.Contains(row, []byte("admin malice")) {
				t.Errorf("%s %s: %s", table, key, row)
			}
		}
	}

	if removed, err = m.Forget(Person{ID: 7, Texts: []string{"alice"}}); err != nil ||
		removed != 0 {
		t.Errorf("the repetition: %d, %v", removed, err)
	}

	segments, err := filepath.Glob(filepath.Join(m.dir(), "0*.db"))
	must(t, err)
	for _, path := range segments {
		b, err := os.ReadFile(path)
		must(t, err)
		if strings.Contains(string(b), "username=Alice") {
			t.Errorf("%s still has bytes of removed events", path)
		}
	}
}

// Forget compares as the rest of the program does: texts that read the same are the same.
func TestForget_TextsThatReadTheSame(t *testing.T) {
	m := open(t)
	list := &Route{Name: "PUT /admin/list/:id", Pattern: "/admin/list/:id"}
	login := &Route{
		Name:    "POST /admin/login",
		Pattern: "/admin/login",
		Hide:    redact.Fields{Usernames: true},
	}

	caller := &store.Actor{ID: 8, Username: "caller"}
	request := func(route *Route, query, name, signIn string) string {
		f := answered("PUT", route, 200)
		f.Caller, f.Path, f.Query = caller, "/admin/list", query
		if name != "" {
			f.Body, f.Header = []byte(`{"username":"`+name+`"}`), map[string][]string{"Content-Type": {"application/json"}}
		}
		if signIn != "" {
			f.Caller, f.Path, f.Notes = store.Anonymous, "/admin/login", []AuthEvent{{
				Type:     "login",
				Username: signIn,
				Result:   "success",
			}}
		}
		m.Done(f)
		return f.RequestID
	}
	for route, app := range map[string]bool{
		"/admin/login": false, "/admin/list/:id": false, "/admin/login/provider": false,
		"/api/login": true, "/app/sign-in": true, "/app/sign-in/provider": true, "/user/list/:id": true,
	} {
		id := request(&Route{Pattern: route}, "", "", "Ann")
		m.Flush()
		for _, realm := range []bool{!app, app} {
			_, err := m.Forget(Person{ID: 7, App: realm, Texts: []string{"Ann"}})
			must(t, err)
			if gone := len(m.journal.Load().Group(id)) == 0; gone != (realm == app) {
				t.Errorf("%s, erased in the app realm %v: gone %v", route, realm, gone)
			}
		}
	}
	for name, writings := range map[string][]string{
		"Straße":  {"STRASSE", "strasse", "straße", "STRAẞE"},
		"İzmir":   {"i\u0307zmir", "İZMIR"},
		"Maria":   {"ｍａｒｉａ", "ＭＡＲＩＡ", "MARIA"},
		"Müller":  {"MU\u0308LLER", "müller"},
		"STRASSE": {"Straße"},
	} {
		var theirs []string
		for _, writing := range writings {
			theirs = append(theirs, request(list, "", writing, ""),
				request(list, "keywordSearch="+url.QueryEscape(writing), "", ""),
				request(login, "", "", writing))
		}

		other := []string{request(list, "", "Stralsund", ""),
			request(list, "keywordSearch=Mario%21", "", ""), request(login, "", "", "izmit")}
		m.Flush()
		_, err := m.Forget(Person{ID: 7, Texts: []string{name}})
		must(t, err)
		j := m.journal.Load()
		for i, id := range theirs {
			if len(j.Group(id)) > 0 {
				t.Errorf("%s: request %d with %s is still there", name, i%3, writings[i/3])
			}
		}

		for i, id := range other {
			if len(j.Group(id)) == 0 {
				t.Errorf("%s: request %d of others is gone", name, i)
			}
		}
	}
}
