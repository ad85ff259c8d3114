package copies

import (
	"testing"
)

// TestShip_OpenedAgain opens a target again in the same process, as after a change of the configuration.
// The commits at the target are those of this process, so that its epoch goes on, and those that wait
// are stored.
func TestShip_OpenedAgain(t *testing.T) {
	in, target := newInstallation(t, 1), directory(t)
	r := in.repository(target, Options{})
	scan(t, r)
	in.copy(r)
	in.put("stored")
	in.ship(r)
	in.put("waiting")
	before := in.log().Head()

	r = in.repository(target, Options{})
	scan(t, r)
	in.ship(r)
	if now := in.log().Head(); now != before || !r.Continued() {
		t.Errorf("the commits are at %v, not %v, or no copy leads to them", now, before)
	}
	dir, _, err := restoreMoment(t, target, Moment{}, in.identity)
	if err != nil {
		t.Fatal(err)
	}
	if got := contentsIn(t, dir); len(got) != len(in.contents) {
		t.Errorf("%d files, not %d", len(got), len(in.contents))
	}
}
