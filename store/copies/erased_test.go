package copies

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"filippo.io/age"

	"reeve/store"
)

// erasedAt returns what a target says about the people who were erased, as a restore reads it.
func erasedAt(t *testing.T, in *installation, target Target) (lines []string, unread int, err error) {
	t.Helper()
	identities := []age.Identity{in.identity}
	all, _, err := List(t.Context(), target, identities)
	if err != nil {
		t.Fatal(err)
	}
	return Erased(t.Context(), target, in.db.Instance(), all, identities, store.ErasedIn)
}

// erase erases a new user, and returns the line of the list of erasures.
func (in *installation) erase(name string) string {
	in.t.Helper()
	u := &store.User{Username: name, Status: true}
	err := in.db.Update(store.System, func(tx *store.Tx) error { return store.Users.Create(tx, u) })
	if err == nil {
		_, _, err = store.Erase(in.db.WithRecorder(nil), store.System, store.Account{ID: u.ID}, name)
	}
	if err != nil {
		in.t.Fatal(err)
	}
	list, err := store.ErasedList(in.db)
	if err != nil {
		in.t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(string(list)), "\n")
	return lines[len(lines)-1]
}

// TestErased_Lost erases people before, between and after copies. Each is known without any one object; without two,
// it is said that people may be back.
func TestErased_Lost(t *testing.T) {
	in, target := newInstallation(t, 0), directory(t)
	r := in.repository(target, Options{Erased: func() ([]byte, error) { return store.ErasedList(in.db) }})
	var lists, parts []string // objects
	add := func(all *[]string, what string, known map[string]int64) {
		for name := range objects(t, target) {
			if _, there := known[name]; !there && strings.Contains(name, what) {
				*all = append(*all, name)
			}
		}
	}
	var people []string
	for i := range 3 {
		before := objects(t, target)
		people = append(people, in.erase(fmt.Sprint("person", i)))
		in.ship(r)
		add(&parts, streamName, before)
		in.copy(r)
		add(&lists, erasedSuffix, before)
	}
	people = append(people, in.erase("last"))
	before := objects(t, target)
	in.ship(r)
	add(&parts, streamName, before)
	if len(lists) != 3 || len(parts) != 4 {
		t.Fatal(lists, parts)
	}

	for _, damage := range []bool{false, true} {
		for name, test := range map[string]struct {
			lost    []string
			unknown []int // people
			unread  int
		}{
			"nothing":                     {nil, nil, 0},
			"the first list":              {lists[:1], nil, 0},
			"all lists but the newest":    {lists[:2], nil, 0},
			"the newest list":             {lists[2:], nil, 0},
			"the newer lists":             {lists[1:], nil, 0},
			"earlier commits":             {parts[:3], nil, 0},
			"the newest commits":          {parts[3:], []int{3}, 1},
			"the newest list and commits": {[]string{lists[2], parts[2]}, []int{2}, 2},
			"all lists":                   {lists, nil, 3},
		} {
			t.Run(fmt.Sprint(name, " ", damage), func(t *testing.T) {
				if !damage && name == "the newest commits" {
					test.unread = 0 // commits that may never have been stored
				}
				for _, object := range test.lost {
					text, err := os.ReadFile(target.path(object))
					if err != nil {
						t.Fatal(err)
					}
					defer func() {
						if err := os.WriteFile(target.path(object), text, 0o600); err != nil {
							t.Error(err)
						}
					}()
					if err = os.Remove(target.path(object)); damage {
						text[len(text)/2] ^= 1
						err = os.WriteFile(target.path(object), text, 0o600)
						text[len(text)/2] ^= 1
					}
					if err != nil {
						t.Fatal(err)
					}
				}
				lines, unread, err := erasedAt(t, in, target)
				if err != nil {
					t.Fatal(err)
				}
				for i, line := range people {
					if slices.Contains(lines, line) == slices.Contains(test.unknown, i) {
						t.Errorf("person %d, %s: in the list %t", i, line, slices.Contains(lines, line))
					}
				}
				if unread != test.unread {
					t.Errorf("%d objects may have others, not %d", unread, test.unread)
				}
			})
		}
	}
}

// TestErased_Proof damages and removes the list beside a copy, which is not proven then.
func TestErased_Proof(t *testing.T) {
	in, target := newInstallation(t, 0), directory(t)
	in.erase("leaving")
	r := in.repository(target, Options{Erased: func() ([]byte, error) { return store.ErasedList(in.db) }})
	c := in.copy(r)
	path := target.path(c.Name + erasedSuffix)
	prove := func() error {
		s := scan(t, r)
		_, err := r.Prove(t.Context(), s, s.Copies[0], t.TempDir(), 0, examine)
		return err
	}
	text, err := os.ReadFile(path)
	if err = errors.Join(err, prove()); err != nil {
		t.Fatal(err)
	}
	short, err := sealJSON(erasures{formatNumber, ""}, with(r.options.Recipients, r.server))
	if err != nil {
		t.Fatal(err)
	}
	for _, damaged := range [][]byte{short, text[:len(text)-1], {}} {
		if err := os.WriteFile(path, damaged, 0o600); err != nil {
			t.Fatal(err)
		}
		if err := prove(); !isDamage(err) || !strings.Contains(err.Error(), erasedSuffix) {
			t.Errorf("%d bytes: %v", len(damaged), err)
		}
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	if err := prove(); err == nil || !strings.Contains(err.Error(), erasedSuffix) {
		t.Errorf("without the list: %v", err)
	}
	r = in.repository(target, Options{}) // which has not read the copy
	if c := scan(t, r).Copies[0]; c.Fault != nil {
		t.Errorf("the records are whole: %v", c.Fault)
	}
}

// TestErased_KeptByLaterCopies has the list of a server be shorter than those at the target, as after a restore of a
// file, and lists of an earlier version there: later copies have all lines.
func TestErased_KeptByLaterCopies(t *testing.T) {
	in, target := newInstallation(t, 0), directory(t)
	list := "one\ntwo\n"
	o := Options{Erased: func() ([]byte, error) { return []byte(list), nil }}
	r := in.repository(target, o)
	in.copy(r)
	w := r.quietly()
	if _, err := w.storeJSON(t.Context(), r.anotherStart()+erasedName+"old", erasures{formatNumber, "earlier\n"}); err != nil {
		t.Fatal(err)
	}
	list = "three\n"
	r = in.repository(target, o)
	first := in.copy(r)
	for name := range objects(t, target) {
		if (strings.Contains(name, erasedName) || strings.HasSuffix(name, erasedSuffix)) && !strings.HasPrefix(name, first.Name) {
			if err := os.Remove(target.path(name)); err != nil {
				t.Fatal(err)
			}
		}
	}
	lines, unread, err := erasedAt(t, in, target)
	slices.Sort(lines)
	if err != nil || unread > 0 || !slices.Equal(lines, []string{"earlier", "one", "three", "two"}) {
		t.Errorf("%q, %d, %v", lines, unread, err)
	}
}
