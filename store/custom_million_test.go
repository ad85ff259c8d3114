package store

import (
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"reeve/store/disk/disktest"
	"reeve/store/kv"
)

// fieldsOfAMillion declares five custom fields of app users: a tier, a number, a date, a unique
// code and a text.
func fieldsOfAMillion() []*CustomField {
	tier, points, born, code, note := newField("tier", "select"), newField("points", "number"), newField("born", "date"), newField("code", "input"), newField("note", "textarea")
	tier.Options = []Option{{Label: "Gold", Value: "gold"}, {Label: "Silver", Value: "silver"}, {
		Label: "Basic",
		Value: "basic",
	}}
	for _, f := range []*CustomField{tier, points, born, code} {
		f.Filterable = true
	}
	code.Unique, code.Searchable = true, true
	return []*CustomField{tier, points, born, code, note}
}

// millionthAppUser returns app user i of a million. The IDs of the fields are 1 to 5. One in ten is
// gold.
func millionthAppUser(i int, r *rand.Rand) *AppUser {
	first, last := firstNames[r.IntN(len(firstNames))], lastNames[r.IntN(len(lastNames))]
	name := fmt.Sprintf("%s.%s%d", strings.ToLower(first), strings.ToLower(last), i)
	var fields FieldValues
	for id, value := range []string{
		[]string{"gold", "silver", "silver", "silver", "basic", "basic", "basic", "basic", "basic",
			"basic"}[r.IntN(10)],
		fmt.Sprint(r.IntN(10_000)),
		time.Unix(r.Int64N(1_000_000_000), 0).UTC().Format(time.DateOnly),
		fmt.Sprintf("C-%07d", i),
		firstNames[r.IntN(len(firstNames))] + " sent " + lastNames[r.IntN(len(lastNames))],
	} {
		fields = fields.With(ID(id+1), value)
	}

	return &AppUser{
		Username: name,
		Nickname: first + " " + last,
		Email:    name + "@example.com",
		Status:   r.IntN(10) > 0,
		Fields:   fields,
	}
}

// TestCustomField_MillionAppUsers logs how long lists, filters and searches take, and how long
// writes wait while a field becomes searchable.
func TestCustomField_MillionAppUsers(t *testing.T) {
	if os.Getenv("REEVE_TEST_LONG") != "1" {
		t.Skip("a million app users are made only under REEVE_TEST_LONG=1")
	}

	dir := t.TempDir()
	r := disktest.Random(t)
	db, err := Open(dir, Options{})
	noErr(t, err)
	update(t, db, func(tx *Tx) error {
		for _, f := range fieldsOfAMillion() {
			if err := CustomFields.Create(tx, f); err != nil {
				return err
			}
		}
		return nil
	})
	applyAll(t, db)
	began := time.Now()
	for i := 0; i < millionUsers; i += millionBatch {
		update(t, db, func(tx *Tx) error {
			for j := i; j < i+millionBatch; j++ {
				if err := AppUsers.Create(tx, millionthAppUser(j, r)); err != nil {
					return err
				}
			}
			return nil
		})
	}

	t.Logf("%d app users are made in %v", millionUsers, time.Since(began).Round(time.Second))
	followed := func() bool {
		for _, x := range db.SearchIndexes() {
			if x.Collection == AppUsers.Name() {
				return x.Err == nil && x.Pending < 32
			}
		}
		return false
	}

	waitUntil := func(what string, done func() bool) {
		t.Helper()
		for end := time.Now().Add(20 * time.Minute); !done(); time.Sleep(10 * time.Millisecond) {
			if time.Now().After(end) {
				t.Fatal(what)
			}
		}
	}
	waitUntil("the search index does not follow", followed)
	shut(t, db)
	if err := exec.Command("sync").Run(); err != nil {
		t.Log(err) // without sync, the setup is still being written during the measurement
	}

	began = time.Now()
	db, err = Open(dir, Options{})
	noErr(t, err)
	took := time.Since(began)
	info, err := os.Stat(filepath.Join(dir, dataName))
	noErr(t, err)
	t.Logf("open: %v; data.db has %d MiB, the index %d MiB", took.Round(time.Millisecond),
		info.Size()>>20, indexSize(t, dir)>>20)
	defer func() { noErr(t, db.Close()) }()
	waitUntil("the records are not verified", func() bool { return !db.Checking() && followed() })

	find := func(what string, q kv.Query[AppUser], where ...func(*Tx) (kv.Condition, error)) {
		t.Helper()
		for _, page := range []int{1, 100} {
			q.Limit, q.Offset = 10, (page-1)*10
			total := 0
			took := median(t, 7, func() error {
				return db.View(System, func(tx *Tx) error {
					q := q
					for _, w := range where {
						condition, err := w(tx)
						if err != nil {
							return err
						}
						q.Where = append(slices.Clone(q.Where), condition)
					}
					_, n, err := AppUsers.Find(tx, q)
					total = n
					return err
				})
			})
			t.Logf("%-60s %12v (%d match)", fmt.Sprint(what, ", page ", page),
				took.Round(time.Microsecond), total)
		}
	}

	equal := func(key string, values ...string) func(*Tx) (kv.Condition, error) {
		return func(tx *Tx) (kv.Condition, error) {
			f, err := FilteredField(tx, AppRealm, FieldBackend, key)
			if err != nil {
				return kv.Condition{}, err
			}
			return FieldCondition(AppUserByField, f, values)
		}
	}

	between := func(key, low, high string) func(*Tx) (kv.Condition, error) {
		return func(tx *Tx) (kv.Condition, error) {
			f, err := FilteredField(tx, AppRealm, FieldBackend, key)
			if err != nil {
				return kv.Condition{}, err
			}
			return FieldRange(tx, AppUserByField, f, low, high)
		}
	}

	find("all, by ID", kv.Query[AppUser]{})
	find("all, by username", kv.Query[AppUser]{Order: AppUserByName.Order()})
	find("status 0, by username", kv.Query[AppUser]{
		Order: AppUserByName.Order(),
		Where: []kv.Condition{AppUserByStatus.AnyOf("0")},
	})
	find("tier gold, by ID", kv.Query[AppUser]{}, equal("tier", "gold"))
	find("tier gold, by username", kv.Query[AppUser]{Order: AppUserByName.Order()},
		equal("tier", "gold"))
	find("tier gold or silver, by ID", kv.Query[AppUser]{}, equal("tier", "gold", "silver"))
	find("code, by ID", kv.Query[AppUser]{}, equal("code", "c-0000777"))
	find("points from 100 to 109, by ID", kv.Query[AppUser]{}, between("points", "100", "109"))
	find("points from 0 to 999, by username", kv.Query[AppUser]{Order: AppUserByName.Order()},
		between("points", "0", "999"))
	find("born in 1990, tier gold, by ID", kv.Query[AppUser]{},
		between("born", "1990-01-01", "1990-12-31"), equal("tier", "gold"))
	find("search C-0000777", kv.Query[AppUser]{Search: "c-0000777"})
	find("search chen", kv.Query[AppUser]{Search: "chen"})

	// Another app user is changed all the time, alone and while a field becomes searchable.
	stalls := func(what string, done func() bool) {
		t.Helper()
		var took []time.Duration
		for began := time.Now(); !done() &&
			time.Since(began) < 20*time.Minute; time.Sleep(2 * time.Millisecond) {
			at := time.Now()
			update(t, db, func(tx *Tx) error {
				_, err := AppUsers.Update(tx, ID(r.IntN(millionUsers)+1), func(u *AppUser) error {
					u.Nickname += "x"
					return nil
				})
				return err
			})
			took = append(took, time.Since(at))
		}

		slices.Sort(took)
		slow, _ := slices.BinarySearch(took, 50*time.Millisecond)
		t.Logf("%s: %d writes, %d of them of 50 ms or more, median %v, p99.9 %v, longest %v", what,
			len(took), len(took)-slow, took[len(took)/2].Round(time.Microsecond),
			took[len(took)*999/1000].Round(time.Microsecond),
			took[len(took)-1].Round(time.Microsecond))
	}

	end := time.Now().Add(2 * time.Minute)
	stalls("undisturbed", func() bool { return time.Now().After(end) })
	applied := make(chan error, 1)
	began = time.Now()
	update(t, db, func(tx *Tx) error {
		_, err := CustomFields.Update(tx, 5, func(f *CustomField) error {
			f.Searchable, f.Applied = true, false
			return nil
		})
		return err
	})
	go func() { applied <- applyFields(db) }()
	stalls("while a field becomes searchable", func() bool {
		select {
		case err := <-applied:
			noErr(t, err)
			return true
		default:
			return false
		}
	})
	t.Logf("the records follow after %v", time.Since(began).Round(time.Second))
	stalls("while the search index follows", followed)
	find("search sent Chen", kv.Query[AppUser]{Search: "sent chen"})
}
