package servertest

import (
	"github.com/google/go-cmp/cmp"
	"maps"
	"strings"
	"testing"
	"time"

	"reeve/store"
)

// Case is a request with the expected response.
type Case = struct {
	Name   string
	Method string
	URL    string
	Body   string
	As     string
	Status int
	Has    []string // must be in the body
	Not    []string // must not be in the body
}

// RunCases sends each request to one instance; no case depends on another. A rejected
// request must not change any record.
func RunCases(t *testing.T, in *Instance, cases []Case) {
	t.Helper()
	proved := time.Now()
	for _, c := range cases {
		t.Run(c.Name, func(t *testing.T) {
			if time.Since(proved) > 20*time.Second { // the shortest proof lasts a minute
				in.prove()
				proved = time.Now()
			}

			before := in.Dump()
			here := in.In(t)
			a := here.Call(c.Method, c.URL, c.Body, c.As)
			a.Brief(c.Status, c.Has...)
			for _, text := range c.Not {
				if strings.Contains(a.Body, text) {
					t.Errorf("%s: %s must not be in %s", a.Sent, text, a.Body)
				}
			}

			if a.Code >= 400 {
				here.Unchanged(before)
			}
		})
	}
}

// prove renews the proof of every session, which expires while a slow test runs.
func (in *Instance) prove() {
	in.T.Helper()
	in.Update(func(tx *store.Tx) error {
		var ids []store.ID
		for s, err := range store.Sessions.All(tx) {
			Must(in.T, err)
			ids = append(ids, s.ID)
		}
		for _, id := range ids {
			_, err := store.Sessions.UpdateQuietly(tx, id, func(s *store.Session) error {
				s.ProvedAt = tx.Now()
				return nil
			})
			Must(in.T, err)
		}
		return nil
	})
}

// In is the same instance, reporting to another test.
func (in *Instance) In(t testing.TB) *Instance {
	return &Instance{
		T:        t,
		Dir:      in.Dir,
		DB:       in.DB,
		Auth:     in.Auth,
		Server:   in.Server,
		Tokens:   maps.Clone(in.Tokens),
		lastDump: in.lastDump,
	}
}

// Unchanged fails if a record differs from the earlier dump.
func (in *Instance) Unchanged(before map[string]string) {
	in.T.Helper()
	now := in.Dump()
	if maps.Equal(before, now) {
		return
	}
	if diff := cmp.Diff(before, now); diff != "" {
		in.T.Errorf("something was changed (- before, + after):\n%s", diff)
	}
}
