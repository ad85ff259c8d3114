package store

import (
	"slices"

	"reeve/store/errs"
	"reeve/store/kv"
)

// After a declaration has changed, or a field was deleted, the records are changed to follow it, in
// steps that stop other writes only briefly. The declaration says when that is complete, so an
// interrupted run begins again.

// applyStep is the number of records in a commit. Other writes wait for one commit, so they take
// about 1.3 times as long with 25, and 4 times with 100.
const applyStep = 25

// maxDuplicates bounds the records with duplicate values that a declaration names.
const maxDuplicates = 20

// Applying is the work to make the records of a realm follow the declarations.
type Applying struct {
	realm      string
	fields     []*CustomField // current fields of the realm
	ids        []ID           // IDs of the remaining records
	duplicates map[ID][]ID    // records with duplicate values, by field

	Total int // records
}

// Left returns the number of records that were not looked at yet.
func (a *Applying) Left() int { return len(a.ids) }

// UnappliedFields returns the work that is to be done; nil if there is none.
func UnappliedFields(tx *Tx) (*Applying, error) {
	set := CustomFieldCache.Get(tx)
	for _, realm := range []string{AdminRealm, AppRealm} {
		a := &Applying{realm: realm, duplicates: map[ID][]ID{}}
		pending := false
		for _, f := range set.byID {
			if f.Realm == realm {
				a.fields = append(a.fields, f)
				pending = pending || !bool(f.Applied)
			}
		}

		if !pending {
			continue
		}

		var err error
		if realm == AppRealm {
			a.ids, err = AppUsers.FindIDs(tx, kv.Query[AppUser]{Limit: kv.NoLimit})
		} else {
			a.ids, err = Users.FindIDs(tx, kv.Query[User]{Limit: kv.NoLimit})
		}

		a.Total = len(a.ids)
		return a, err
	}
	return nil, nil
}

// Step changes the next records, and reports whether more are left.
func (a *Applying) Step(db Handle) (more bool, err error) {
	few := a.ids[:min(len(a.ids), applyStep)]
	if a.realm == AppRealm {
		err = applyTo(a, db, AppUsers, AppUserByField, few)
	} else {
		err = applyTo(a, db, Users, UserByField, few)
	}
	if err == nil {
		a.ids = a.ids[len(few):]
	}
	return len(a.ids) > 0, err
}

// applyTo makes records follow the declarations. Records that do already are only read.
func applyTo[T any, P MemberOf[T]](a *Applying, db Handle, of *kv.Collection[T],
	by *kv.Many[T, string], ids []ID) error {
	var outdated []ID
	err := db.View(System, func(tx *Tx) error {
		for _, id := range ids {
			v, err := of.Get(tx, id)
			if err != nil && !errs.Is(err, errs.NotFound) {
				return err
			}
			if err == nil && a.follow(tx, id, P(v).Member(), by.Count) {
				outdated = append(outdated, id)
			}
		}
		return nil
	})
	if err != nil || len(outdated) == 0 {
		return err
	}

	return db.Update(System, func(tx *Tx) error {
		return makeFollow[T, P](a, tx, of, by, outdated)
	})
}

// makeFollow makes records follow the declarations.
func makeFollow[T any, P MemberOf[T]](a *Applying, tx *Tx, of *kv.Collection[T],
	by *kv.Many[T, string], ids []ID) error {
	for _, id := range ids {
		_, err := of.UpdateQuietly(tx, id, func(v *T) error {
			a.follow(tx, id, P(v).Member(), by.Count)
			return nil
		})
		if err != nil && !errs.Is(err, errs.NotFound) {
			return err
		}
	}
	return nil
}

// follow makes the values and marks of a record follow the declarations, and reports whether they
// did not. A value of a unique field that another record has is not put in the index.
func (a *Applying) follow(tx *Tx, id ID, c Member, count func(*Tx, string) (int, error)) bool {
	set, had := CustomFieldCache.Get(tx), fieldKeys(*c.Fields, *c.marks)
	var values FieldValues
	var marks FieldMarks
	for _, v := range *c.Fields {
		f := set.find(a.realm, v.ID)
		if f == nil {
			continue
		}

		values = append(values, v)
		how := f.mark()
		if bool(f.Unique) && isTaken(tx, valueKeysOf(f.ID, how, v.Value), had, count) {
			how = f.searchMark()
			if duplicates := a.duplicates[f.ID]; !slices.Contains(duplicates, id) &&
				len(duplicates) < maxDuplicates {
				a.duplicates[f.ID] = append(duplicates, id)
			}
		}
		if how != "" {
			marks = append(marks, FieldMark{v.ID, how})
		}
	}

	if slices.Equal(values, *c.Fields) && slices.Equal(marks, *c.marks) {
		return false
	}

	*c.Fields, *c.marks = values, marks
	return true
}

// isTaken reports whether another record has one of the keys. This one has the keys had.
func isTaken(tx *Tx, keys, had []string, count func(*Tx, string) (int, error)) bool {
	for _, key := range keys {
		n, err := count(tx, key)
		if slices.Contains(had, key) {
			n--
		}
		if err != nil || n > 0 {
			return true
		}
	}
	return false
}

// compareAgain finds the duplicate values of some records again: these records, or those with the
// same values, may have changed since.
func (a *Applying) compareAgain(tx *Tx, ids []ID) error {
	a.duplicates = map[ID][]ID{}
	if a.realm == AppRealm {
		return makeFollow(a, tx, AppUsers, AppUserByField, ids)
	}
	return makeFollow(a, tx, Users, UserByField, ids)
}

// Finish records in the declarations that the records follow them, and deletes those of deleted
// fields. What has changed since is left for the next run, and so is a field whose duplicates were
// all resolved since, if there may be more.
func (a *Applying) Finish(db Handle) error {
	var found []ID       // before the transaction, which may run again
	cut := map[ID]bool{} // fields that may have more duplicates than were found
	for id, ids := range a.duplicates {
		found = append(found, ids...)
		cut[id] = len(ids) == maxDuplicates
	}

	found = Distinct(found)
	return db.Update(System, func(tx *Tx) error {
		if err := a.compareAgain(tx, found); err != nil {
			return err
		}
		for _, was := range a.fields {
			f, err := CustomFields.Get(tx, was.ID)
			if errs.Is(err, errs.NotFound) {
				continue
			}
			if err == nil &&
				(f.Version != was.Version || cut[f.ID] && len(a.duplicates[f.ID]) == 0) {
				continue
			}
			if err == nil && bool(f.Deleted) {
				err = CustomFields.Delete(tx, f.ID)
			} else if err == nil {
				_, err = CustomFields.UpdateQuietly(tx, f.ID, func(f *CustomField) error {
					f.Applied, f.Duplicates = true, a.duplicates[f.ID]
					return nil
				})
			}
			if err != nil {
				return err
			}
		}
		return nil
	})
}

// ApplyAgain lets the records be compared with the declaration once more, for example after
// duplicate values were changed.
func ApplyAgain(tx *Tx, id ID) (*CustomField, error) {
	return CustomFields.Update(tx, id, func(f *CustomField) error { f.Applied = false; return nil })
}

// CustomValues returns the number of records that have a value of a field. It reads all of them.
func CustomValues(tx *Tx, id ID) (n int, err error) {
	f, err := CustomFields.Get(tx, id)
	switch {
	case err != nil:
		return 0, err
	case f.Realm == AppRealm:
		return countValues(tx, AppUsers, id)
	}
	return countValues(tx, Users, id)
}

func countValues[T any, P MemberOf[T]](tx *Tx, of *kv.Collection[T], id ID) (n int, err error) {
	for v, err := range of.All(tx) {
		if err != nil {
			return n, err
		}
		if P(v).Member().Fields.Get(id) != "" {
			n++
		}
	}
	return n, nil
}
