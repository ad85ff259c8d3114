package store

import (
	"fmt"
	"maps"
	"reflect"
	"testing"

	"reeve/store/disk/disktest"
	"reeve/store/errs"
)

// rulesHold tells whether the rules that followed every change are those that the
// records amount to.
func rulesHold(tx *Tx) error {
	kept := RuleBook.Get(tx)
	read, err := RuleBook.build(tx)
	if err != nil {
		return err
	}
	for what, same := range map[string]bool{
		"roles": sameRecords(kept.roles, read.roles), "permissions": sameRecords(kept.permissions, read.permissions),
		"departments": sameRecords(kept.depts, read.depts), "departments below others": sameRecords(kept.below, read.below),
		"keys": maps.Equal(kept.allKeys(), read.allKeys()),
	} {
		if !same {
			return fmt.Errorf("the %s in memory are not those in the file", what)
		}
	}
	return nil
}

func sameRecords[T any](a, b *recordMap[T]) bool {
	return a.n == b.n && reflect.DeepEqual(maps.Collect(a.all()), maps.Collect(b.all()))
}

// Rules follow what one commit does to departments in any order, and those handed
// out before stay as they were.
func TestRulesFollowDepartments(t *testing.T) {
	r := disktest.Random(t)
	db := crowd(t, r)
	for range disktest.Size(40, 200, 2000) {
		var before *Rules
		var depts map[ID]*Dept
		view(t, db, func(tx *Tx) error {
			before = RuleBook.Get(tx)
			depts = maps.Collect(before.depts.all())
			return nil
		})
		update(t, db, func(tx *Tx) error {
			for range 1 + r.IntN(40) {
				var err error
				switch id := ID(r.IntN(600) + 1); r.IntN(4) {
				case 0, 1:
					err = Depts.Create(tx, &Dept{Name: "New", Status: true})
				case 2:
					if err = Depts.Delete(tx, id); errs.Is(err, errs.Conflict) || errs.Is(err, errs.NotFound) {
						err = nil // it has something below it, or users, or is gone
					}
				default:
					err = editDept(id, func(d *Dept) { d.ParentID = ID(r.IntN(600)) })(tx)
					if errs.Is(err, errs.Invalid) || errs.Is(err, errs.NotFound) {
						err = nil // a circle, too deep, or there is no such department
					}
				}
				if err != nil {
					return err
				}
				if r.IntN(8) == 0 {
					if err := rulesHold(tx); err != nil {
						return err
					}
				}
			}
			return nil
		})
		view(t, db, rulesHold)
		if !reflect.DeepEqual(maps.Collect(before.depts.all()), depts) {
			t.Fatal("rules that were handed out have changed")
		}
	}
}
