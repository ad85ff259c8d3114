package store

import (
	"fmt"
	"testing"
)

func TestCompletedRequests_ExpireAfterDay(t *testing.T) {
	clock := clockAt(0)
	db := open(t, t.TempDir(), Options{Clock: clock.now})
	must := func(t *testing.T, err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	add := func(key string) {
		must(t, db.Update(System, func(tx *Tx) error {
			return AddCompleted(tx, &CompletedRequest{Caller: "user 1", Key: key})
		}))
	}
	for i := range 5 {
		add(fmt.Sprint(i))
	}

	count := func() (n int) {
		must(t, db.View(System, func(tx *Tx) (err error) {
			n, err = CompletedRequests.Count(tx)
			return err
		}))
		return n
	}

	clock.Add(CompletedFor.Microseconds() + 1)
	for i, want := range []int{4, 3, 3} { // each new one takes two old ones with it
		clock.Add(1)
		if add(fmt.Sprint("new ", i)); count() != want {
			t.Errorf("%d are stored after %d new ones, want %d", count(), i+1, want)
		}
	}

	clock.Add(CompletedFor.Microseconds() + 1)
	must(t, db.Update(System, func(tx *Tx) error {
		if more, err := ForgetCompleted(tx, 2); !more || err != nil {
			t.Errorf("more: %t, %v", more, err)
		}
		if more, err := ForgetCompleted(tx, 2); more || err != nil {
			t.Errorf("more: %t, %v", more, err)
		}
		return nil
	}))
	if n := count(); n != 0 {
		t.Errorf("%d are left", n)
	}
}
