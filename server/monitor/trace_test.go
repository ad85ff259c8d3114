package monitor

import (
	"testing"
	"time"

	"reeve/store"
	"reeve/store/disk/disktest"
)

// TestTrace_Impersonation: a request of a user who acts as another one is of both.
func TestTrace_Impersonation(t *testing.T) {
	m := open(t)
	ada, bob := &store.Actor{ID: 7, Username: "ada"}, &store.Actor{ID: 8, Username: "bob"}
	acting := &store.Actor{ID: 8, Username: "bob", By: ada}
	for _, trace := range []Trace{{UserID: 7, CreatedBy: acting.Label()}, {
		UserID:    8,
		CreatedBy: "ada",
	}, {UserID: 9, CreatedBy: "bob"}, {Route: "/x", CreatedBy: "bobby"}} {
		_, err := m.StartTrace(trace, time.Minute)
		must(t, err)
	}

	for _, caller := range []*store.Actor{ada, bob, acting, {ID: 7, Username: "app", App: true},
		store.Anonymous} {
		f := answered("GET", &Route{Pattern: "/admin/info"}, 200)
		f.Caller = caller
		m.Done(f)
	}

	matched, creators := map[store.ID]int64{}, map[store.ID]string{}
	for _, l := range m.Traces() {
		matched[l.UserID] = l.Matched
	}

	disktest.Equal(t, "matched", matched, map[store.ID]int64{0: 0, 7: 2, 8: 2, 9: 0})
	_, err := m.Forget(Person{ID: 8, Texts: []string{"bob"}})
	must(t, err)
	for _, l := range m.Traces() {
		creators[l.UserID] = l.CreatedBy
	}

	disktest.Equal(t, "creators without bob", creators, map[store.ID]string{
		0: "bobby",
		7: "",
		8: "ada",
		9: "",
	})
}
