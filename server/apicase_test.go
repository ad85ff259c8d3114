package server

import (
	"maps"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"reeve/store"
)

// apiCase is a request with the expected response.
type apiCase struct {
	name   string
	method string
	url    string
	body   string
	as     string
	status int
	has    []string // must be in the body
	not    []string // must not be in the body
}

// runCases sends each request to one instance; no case depends on another. A rejected
// request must not change any record.
func runCases(t *testing.T, in *instance, cases []apiCase) {
	t.Helper()
	proved := time.Now()
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			if time.Since(proved) > 20*time.Second { // the shortest proof lasts a minute
				in.prove()
				proved = time.Now()
			}
			before := in.dump()
			here := in.in(t)
			a := here.call(c.method, c.url, c.body, c.as)
			a.brief(c.status, c.has...)
			for _, text := range c.not {
				if strings.Contains(a.Body, text) {
					t.Errorf("%s: %s must not be in %s", a.sent, text, a.Body)
				}
			}
			if a.Code >= 400 {
				here.unchanged(before)
			}
		})
	}
}

// prove renews the proof of every session, which expires while a slow test runs.
func (in *instance) prove() {
	in.t.Helper()
	in.update(func(tx *store.Tx) error {
		var ids []store.ID
		for s, err := range store.Sessions.All(tx) {
			must(in.t, err)
			ids = append(ids, s.ID)
		}
		for _, id := range ids {
			_, err := store.Sessions.UpdateQuietly(tx, id, func(s *store.Session) error { s.ProvedAt = tx.Now(); return nil })
			must(in.t, err)
		}
		return nil
	})
}

// in is the same instance, reporting to another test.
func (in *instance) in(t testing.TB) *instance {
	return &instance{
		t: t, dir: in.dir, db: in.db, auth: in.auth, server: in.server, tokens: maps.Clone(in.tokens), lastDump: in.lastDump,
	}
}

// unchanged fails if a record differs from the earlier dump.
func (in *instance) unchanged(before map[string]string) {
	in.t.Helper()
	now := in.dump()
	if maps.Equal(before, now) {
		return
	}
	if diff := cmp.Diff(before, now); diff != "" {
		in.t.Errorf("something was changed (- before, + after):\n%s", diff)
	}
}
