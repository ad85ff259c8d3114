package store

import (
	"slices"
	"testing"
	"time"
)

// A sort looks at one field of a record and at nothing else.
func TestPlaceInAnOrderIsTheIndexesOwnKey(t *testing.T) {
	dir := t.TempDir()
	realistic(t, dir)
	db := open(t, dir, Options{})
	view(t, db, func(tx *Tx) error {
		placesAreKeys(t, tx, Users, UserByName.x, UserByCreated.x, UserByLogin.x)
		placesAreKeys(t, tx, AppUsers, AppUserByName.x, AppUserByCreated.x, AppUserByLogin.x)
		placesAreKeys(t, tx, Roles, RoleByName.x, RoleBySort.x)
		placesAreKeys(t, tx, LoginLogs, LoginLogByCreated.x)
		return nil
	})
}

func placesAreKeys[T any](t *testing.T, tx *Tx, c *Collection[T], indexes ...*index[T]) {
	t.Helper()
	seen := 0
	for v, err := range c.All(tx) {
		if err != nil {
			t.Fatal(err)
		}
		seen++
		for _, x := range indexes {
			got, err := x.keyOf(tx, c.rec(v).ident().ID)
			if err != nil {
				t.Fatal(err)
			}
			equal(t, x.bucket, [][]byte{got}, x.keys(v))
		}
	}
	if seen == 0 {
		t.Errorf("there is no %s to look at", c.noun())
	}
}

func TestMemberOfAnObject(t *testing.T) {
	const object = `{"id":7,"a\"b":"x","text":"a \"quoted\" \\","list":[1,{"text":"no"},[]],"nested":{"text":"no","x":[]},"last":null}`
	for name, want := range map[string]string{
		"id": `7`, "text": `"a \"quoted\" \\"`, "list": `[1,{"text":"no"},[]]`, "nested": `{"text":"no","x":[]}`, "last": `null`,
		"x": "", "no": "", "": "", "a": "",
	} {
		equal(t, name, string(member([]byte(object), name)), want)
	}
	for end := range len(object) { // whatever is cut off, it comes back
		member([]byte(object[:end]), "last")
	}
	equal(t, "of nothing", member(nil, "x"), nil)
	equal(t, "of no members", member([]byte(`{}`), "x"), nil)
}

func TestFixedTimeIsWhatTheParserSays(t *testing.T) {
	r := random(t)
	for range 20_000 {
		moment := Time(r.Int64N(int64(250_000_000_000_000_000)) - 60_000_000_000_000_000)
		text, err := moment.MarshalJSON()
		if err != nil {
			continue // a year of five digits
		}
		if r.IntN(2) == 0 {
			text[1+r.IntN(len(text)-2)] = "0123456789-:.TZ+ "[r.IntN(17)]
		}
		fixed, ok := fixedTime(text)
		parsed, err := time.Parse(time.RFC3339Nano, string(text[1:len(text)-1]))
		if ok && (err != nil || fixed != TimeOf(parsed)) {
			t.Fatalf("%s is %v, the parser says %v, %v", text, fixed, parsed, err)
		}
		if !ok && err == nil && parsed.Day() < 29 && slices.Equal(text, []byte(`"`+TimeOf(parsed).String()+`"`)) {
			t.Fatalf("%s is not recognised", text)
		}
	}
}

func TestIDSet(t *testing.T) {
	r := random(t)
	set, want := newIDSet(), map[ID]bool{}
	for range 5000 {
		id := ID(r.IntN(20_000))
		if r.IntN(100) == 0 {
			id = ID(r.Uint64())
		}
		set.add(id)
		want[id] = true
		if other := ID(r.IntN(20_000)); set.has(other) != want[other] {
			t.Fatalf("%d: %v", other, set.has(other))
		}
	}
	var sorted []ID
	for id := range want {
		sorted = append(sorted, id)
	}
	slices.Sort(sorted)
	equal(t, "ascending", slices.Collect(set.walk(false)), sorted)
	slices.Reverse(sorted)
	equal(t, "descending", slices.Collect(set.walk(true)), sorted)
	equal(t, "number", set.n, len(want))
}
