package store

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"reeve/store/errs"
	"reeve/store/fold"
	"reeve/store/kv"
)

// newField returns a field of app users that everybody can write.
func newField(key, kind string) *CustomField {
	return &CustomField{
		Realm:         AppRealm,
		Key:           key,
		Title:         key,
		Type:          kind,
		SelfAccess:    FieldWritable,
		BackendAccess: FieldWritable,
		ProgramAccess: FieldWritable,
	}
}

// applyAll makes all records follow the declarations.
func applyAll(t *testing.T, db *DB) {
	t.Helper()
	if err := applyFields(db); err != nil {
		t.Fatal(err)
	}
}

// applyFields makes the records follow the declarations, as the server does.
func applyFields(db *DB) error {
	handle := db.WithRecorder(nil)
	for {
		var work *Applying
		err := db.View(System, func(tx *Tx) (err error) {
			work, err = UnappliedFields(tx)
			return err
		})
		if err != nil || work == nil {
			return err
		}

		for more := true; more && err == nil; {
			more, err = work.Step(handle)
		}
		if err == nil {
			err = work.Finish(handle)
		}
		if err != nil {
			return err
		}
	}
}

// withFields creates fields, and app users whose values alternate.
func withFields(t *testing.T, n int, fields ...*CustomField) *DB {
	t.Helper()
	db := open(t, t.TempDir(), Options{})
	update(t, db, func(tx *Tx) error {
		err := errors.Join(Roles.Create(tx,
			&Role{Name: "Owner", Status: true, DataScope: ScopeAll}),
			Users.Create(tx, &User{Username: "boss", Status: true, RoleIDs: []ID{OwnerRole}}))
		if err != nil {
			return err
		}
		for _, f := range fields {
			if err := CustomFields.Create(tx, f); err != nil {
				return err
			}
		}
		return nil
	})
	update(t, db, func(tx *Tx) error {
		for i := range n {
			u := &AppUser{Username: fmt.Sprint("user", i), Status: true}
			for _, f := range fields {
				u.Fields = u.Fields.With(f.ID, valueFor(f, i))
			}
			if err := AppUsers.Create(tx, u); err != nil {
				return err
			}
		}
		return nil
	})
	return db
}

// owner returns the owner of withFields. The program's own changes do not count as those of a
// declaration.
func owner() *Actor { return &Actor{ID: 1, Username: "boss", RoleIDs: []ID{OwnerRole}} }

func valueFor(f *CustomField, i int) string {
	switch f.Type {
	case "select":
		return f.Options[i%len(f.Options)].Value
	case "checkbox":
		return []string{`["a"]`, `["a","b"]`, `["b"]`}[i%3]
	case "number":
		return fmt.Sprint(i*3 - 10)
	}
	return fmt.Sprint("Value ", i)
}

// found returns the IDs of the app users that meet a condition.
func found(t *testing.T, db *DB, key string, values ...string) (ids []ID) {
	t.Helper()
	view(t, db, func(tx *Tx) error {
		f, err := FilteredField(tx, AppRealm, FieldBackend, key)
		if err != nil {
			return err
		}
		c, err := FieldCondition(AppUserByField, f, values)
		if err == nil {
			ids, err = AppUsers.FindIDs(tx, kv.Query[AppUser]{Where: []kv.Condition{c}, Limit: 100})
		}
		return err
	})
	return ids
}

func want(t *testing.T, what string, ids []ID, want ...ID) {
	t.Helper()
	if !slices.Equal(ids, want) {
		t.Errorf("%s: %d, want %d", what, ids, want)
	}
}

func TestCustomField_Filter(t *testing.T) {
	t.Parallel()
	team, tags, age := newField("team", "select"), newField("tags", "checkbox"), newField("age",
		"number")
	team.Options, tags.Options = []Option{{"A", "a"}, {"B", "b"}}, []Option{{"A", "a"}, {"B", "b"}}
	team.Filterable, tags.Filterable, age.Filterable = true, true, true
	db := withFields(t, 6, team, tags, age)
	want(t, "team a", found(t, db, "team", "a"), 1, 3, 5)
	want(t, "team A", found(t, db, "team", "A"), 1, 3, 5)
	want(t, "tags b", found(t, db, "tags", "b"), 2, 3, 5, 6)
	want(t, "age -4 or 5", found(t, db, "age", "-4", "5.0"), 3, 6)
	for _, r := range []struct {
		low, high string
		want      []ID
	}{{"-7", "2", []ID{2, 3, 4, 5}}, {"", "-7", []ID{1, 2}}, {"-4.5", "", []ID{3, 4, 5, 6}},
		{"100", "", nil}} {
		view(t, db, func(tx *Tx) error {
			c, err := FieldRange(tx, AppUserByField, age, r.low, r.high)
			if err != nil {
				return err
			}
			ids, err := AppUsers.FindIDs(tx,
				kv.Query[AppUser]{Where: []kv.Condition{c}, Limit: 100})
			want(t, "age from "+r.low+" to "+r.high, ids, r.want...)
			return err
		})
	}

	mustVerify(t, db)
}

// TestCustomField_RecordsFollow changes and deletes custom fields, and compares the records.
func TestCustomField_RecordsFollow(t *testing.T) {
	t.Parallel()
	db := withFields(t, 4*applyStep+3, newField("nick", "input"))
	searched := func() (ids []ID) {
		view(t, db, func(tx *Tx) (err error) {
			ids, err = AppUsers.FindIDs(tx, kv.Query[AppUser]{
				Search: fold.Search("VALUE 7"),
				Limit:  100,
			})
			return err
		})
		return ids
	}
	want(t, "before", searched())
	change := func(edit func(*CustomField)) {
		t.Helper()
		err := db.Update(owner(), func(tx *Tx) error {
			_, err := CustomFields.Update(tx, 1, func(f *CustomField) error { edit(f); return nil })
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	change(func(f *CustomField) { f.Searchable, f.Filterable = true, true })
	view(t, db, func(tx *Tx) error {
		if _, err := FilteredField(tx, AppRealm, FieldBackend, "nick"); errs.Of(err).Code != "field_not_ready" {
			t.Errorf("a filter before all records are in the index: %v", err)
		}
		return nil
	})
	applyAll(t, db)
	if ids := searched(); len(ids) != 11 { // 7, 70 to 79
		t.Errorf("a search finds %d", ids)
	}

	want(t, "filtered", found(t, db, "nick", "value 70"), 71)
	mustVerify(t, db)

	change(func(f *CustomField) { f.Searchable = false })
	applyAll(t, db)
	want(t, "not searchable any more", searched())

	if err := db.Update(owner(), func(tx *Tx) error {
		return DeleteCustomField(tx, 1)
	}); err != nil {
		t.Fatal(err)
	}

	applyAll(t, db)
	view(t, db, func(tx *Tx) error {
		if n, err := CustomFields.Count(tx); n != 0 || err != nil {
			t.Errorf("%d declarations are left: %v", n, err)
		}
		for u, err := range AppUsers.All(tx) {
			if err != nil || u.Fields != nil || u.FieldMarks != nil {
				t.Fatalf("%+v: %v", u, err)
			}
		}
		return nil
	})
	mustVerify(t, db)
}

func TestUniqueCustomFields(t *testing.T) {
	t.Parallel()
	db := withFields(t, 3, newField("code", "input"))
	give := func(id ID, value string) error {
		return db.Update(System, func(tx *Tx) error {
			_, err := AppUsers.Update(tx, id, func(u *AppUser) error {
				u.Fields = u.Fields.With(1, value)
				return nil
			})
			return err
		})
	}
	if err := give(3, "VALUE 1"); err != nil { // as 2 has it
		t.Fatal(err)
	}

	change := func(fn func(*Tx) error) {
		t.Helper()
		if err := db.Update(owner(), fn); err != nil {
			t.Fatal(err)
		}
		applyAll(t, db)
	}
	change(func(tx *Tx) error {
		_, err := CustomFields.Update(tx, 1, func(f *CustomField) error {
			f.Unique, f.Filterable = true, true
			return nil
		})
		return err
	})
	view(t, db, func(tx *Tx) error {
		f, err := CustomFields.Get(tx, 1)
		want(t, "duplicates", f.Duplicates, 3)
		if !bool(f.Applied) || f.Ready() {
			t.Errorf("%+v", f)
		}
		return err
	})
	if err := give(3, "value 0"); !errs.Is(err, errs.Conflict) ||
		errs.Of(err).Fields["fields.code"].String() == "" {
		t.Errorf("a second user with the value: %v", err)
	}
	if err := give(3, "another"); err != nil {
		t.Fatal(err)
	}
	if err := give(2, "value 1"); err != nil { // its own, in another case
		t.Fatal(err)
	}

	change(func(tx *Tx) error { _, err := ApplyAgain(tx, 1); return err })
	want(t, "another", found(t, db, "code", "another"), 3)
	mustVerify(t, db)
}

// TestCustomField_DuplicatesChange checks that changed duplicates are compared once more at the
// end. A search still finds a duplicate value.
func TestCustomField_DuplicatesChange(t *testing.T) {
	t.Parallel()
	db := withFields(t, 4, newField("code", "input"))
	give := func(id ID, value string) {
		t.Helper()
		update(t, db, func(tx *Tx) error {
			_, err := AppUsers.Update(tx, id, func(u *AppUser) error {
				u.Fields = u.Fields.With(1, value)
				return nil
			})
			return err
		})
	}
	give(2, "same")
	give(3, "Same")
	give(4, "SAME")
	declare := func(edit func(f *CustomField)) *Applying {
		t.Helper()
		err := db.Update(owner(), func(tx *Tx) error {
			_, err := CustomFields.Update(tx, 1, func(f *CustomField) error { edit(f); return nil })
			return err
		})
		noErr(t, err)
		var work *Applying
		view(t, db, func(tx *Tx) (err error) { work, err = UnappliedFields(tx); return err })
		return work
	}
	declare(func(f *CustomField) { f.Filterable, f.Searchable = true, true })
	applyAll(t, db) // all are in the index
	work := declare(func(f *CustomField) { f.Unique = true })
	more, err := work.Step(db.WithRecorder(nil))
	if more || err != nil {
		t.Fatal(more, err)
	}

	give(4, "other")
	noErr(t, work.Finish(db.WithRecorder(nil)))
	view(t, db, func(tx *Tx) error {
		f, err := CustomFields.Get(tx, 1)
		if err == nil && (!bool(f.Applied) || len(f.Duplicates) != 1) {
			t.Errorf("duplicates: %v", f.Duplicates) // one of 2 and 3
		}
		ids, err2 := AppUsers.FindIDs(tx,
			kv.Query[AppUser]{Search: fold.Search("same"), Limit: 100})
		want(t, "a search", ids, 2, 3)
		return errors.Join(err, err2)
	})
	mustVerify(t, db)
}

// TestCustomField_UnlistedDuplicates: when those that were found are resolved before the run ends,
// it begins again.
func TestCustomField_UnlistedDuplicates(t *testing.T) {
	t.Parallel()
	db := withFields(t, 2*applyStep, newField("code", "input"))
	give := func(tx *Tx, id ID, value string) error {
		_, err := AppUsers.Update(tx, id, func(u *AppUser) error {
			u.Fields = u.Fields.With(1, value)
			return nil
		})
		return err
	}

	last := ID(2 * applyStep)
	update(t, db, func(tx *Tx) error {
		for id := ID(1); id <= maxDuplicates+1; id++ {
			if err := give(tx, id, "early"); err != nil {
				return err
			}
		}
		return errors.Join(give(tx, last-1, "late"), give(tx, last, "late"))
	})
	noErr(t, db.Update(owner(), func(tx *Tx) error {
		_, err := CustomFields.Update(tx, 1, func(f *CustomField) error {
			f.Unique, f.Filterable = true, true
			return nil
		})
		return err
	}))
	var work *Applying
	view(t, db, func(tx *Tx) (err error) { work, err = UnappliedFields(tx); return err })
	for more, err := true, error(nil); more; {
		if more, err = work.Step(db.WithRecorder(nil)); err != nil {
			t.Fatal(err)
		}
	}

	update(t, db, func(tx *Tx) error {
		for id := ID(1); id <= maxDuplicates+1; id++ {
			if err := give(tx, id, ""); err != nil {
				return err
			}
		}
		return nil
	})
	noErr(t, work.Finish(db.WithRecorder(nil)))
	applyAll(t, db)
	view(t, db, func(tx *Tx) error {
		f, err := CustomFields.Get(tx, 1)
		if err == nil && (!bool(f.Applied) || len(f.Duplicates) != 1 || f.Duplicates[0] < last-1) {
			t.Errorf("applied %v, duplicates %v", f.Applied, f.Duplicates)
		}
		return err
	})
	mustVerify(t, db)
}

func TestCustomField_WriteAccess(t *testing.T) {
	t.Parallel()
	own, internal := newField("own", "input"), newField("internal", "number")
	own.BackendAccess, own.Required = FieldReadable, true
	internal.SelfAccess = FieldHidden
	db := withFields(t, 1, own, internal)
	for _, c := range []struct {
		who      FieldAudience
		creating bool
		in       map[string]any
		field    string // with a fault; "" for none
	}{
		{FieldSelf, false, map[string]any{"own": "x"}, ""},
		{FieldSelf, false, map[string]any{"internal": "1"}, "fields.internal"},
		{FieldSelf, true, map[string]any{}, "fields.own"},
		{FieldSelf, true, map[string]any{"own": nil}, "fields.own"},
		{FieldBackend, true, map[string]any{}, ""},
		{FieldBackend, false, map[string]any{"own": "x"}, "fields.own"},
		{FieldBackend, false, map[string]any{"own": "Value 0", "internal": nil}, ""}, // as it was read
		{FieldProgram, false, map[string]any{"internal": "no"}, "fields.internal"},
		{FieldProgram, false, map[string]any{"none": "1"}, "fields.none"},
	} {
		view(t, db, func(tx *Tx) error {
			var values FieldValues
			if !c.creating {
				u, err := AppUsers.Get(tx, 1)
				if err != nil {
					return err
				}
				values = u.Fields
			}

			text := func(_ *Setting, v any) (string, error) { return v.(string), nil }
			_, err := AssignFields(tx, AppRealm, c.who, c.creating, values, FieldInput{c.in, text})
			_, fault := errs.Of(err).Fields[c.field]
			if c.field == "" && err != nil || c.field != "" && !fault {
				t.Errorf("%+v: %v", c, err)
			}

			return nil
		})
	}

	err := db.Update(&Actor{ID: 1, App: true, Username: "user0"}, func(tx *Tx) error {
		_, err := AppUsers.Update(tx, 1, func(u *AppUser) error {
			u.Fields = u.Fields.With(2, "7")
			return nil
		})
		return err
	})
	if !errs.Is(err, errs.Denied) {
		t.Errorf("an app user changes a hidden field: %v", err)
	}
}

// TestCustomField_TypeUsesMatchConsole: the console has a table of its own of how the values of a
// type can be found.
func TestCustomField_TypeUsesMatchConsole(t *testing.T) {
	source, err := os.ReadFile("../embed/console/src/pages/fields/uses.ts")
	noErr(t, err)
	_, table, _ := strings.Cut(string(source), "const uses")
	table, _, _ = strings.Cut(table, "\n}\n")
	for name, u := range fieldUses {
		var uses []string
		for i, possible := range []bool{u.search, u.filter, u.unique} {
			if possible {
				uses = append(uses, []string{"'searchable'", "'filterable'", "'unique'"}[i])
			}
		}
		if want := fmt.Sprintf("\n  %s: [%s],", name, strings.Join(uses, ", ")); !strings.Contains(table, want) {
			t.Errorf("uses.ts does not have the line %q", want)
		}
	}

	if n := strings.Count(table, "\n  "); n != len(fieldUses) {
		t.Errorf("uses.ts has %d types, not %d", n, len(fieldUses))
	}
}
