package store

import (
	"fmt"
	"maps"
	"reflect"
	"testing"

	"reeve/store/disk/disktest"
	"reeve/store/errs"
	"reeve/store/kv"
)

// rulesHold returns an error unless the amended rules equal those computed from the records.
func rulesHold(tx *Tx) error {
	kept := PolicyCache.Get(tx)
	read, err := PolicyCache.Build(tx)
	if err != nil {
		return err
	}

	for what, same := range map[string]bool{
		"roles":                    sameRecords(kept.roles, read.roles),
		"permissions":              sameRecords(kept.permissions, read.permissions),
		"departments":              sameRecords(kept.depts, read.depts),
		"departments below others": sameRecords(kept.below, read.below),
		"keys":                     maps.Equal(kept.allKeys(), read.allKeys()),
	} {
		if !same {
			return fmt.Errorf("the %s in memory are not those in the file", what)
		}
	}

	return keysHold(tx)
}

func sameRecords[T any](a, b *kv.RecordMap[T]) bool {
	return a.Len() == b.Len() && reflect.DeepEqual(maps.Collect(a.All()), maps.Collect(b.All()))
}

// The Policy follows the changes of departments in one commit in any order, and earlier snapshots
// do not change.
func TestPolicy_FollowsDepartments(t *testing.T) {
	r := disktest.Random(t)
	db := crowd(t, r)
	for range disktest.Size(40, 80, 2000) {
		var before *Policy
		var depts map[ID]*Dept
		view(t, db, func(tx *Tx) error {
			before = PolicyCache.Get(tx)
			depts = maps.Collect(before.depts.All())
			return nil
		})
		update(t, db, func(tx *Tx) error {
			for range 1 + r.IntN(40) {
				var err error
				switch id := ID(r.IntN(600) + 1); r.IntN(4) {
				case 0, 1:
					err = Depts.Create(tx, &Dept{Name: "New", Status: true})
				case 2:
					if err = Depts.Delete(tx, id); errs.Is(err, errs.Conflict) ||
						errs.Is(err, errs.NotFound) {
						err = nil // it has children or users, or does not exist
					}
				default:
					err = editDept(id, func(d *Dept) { d.ParentID = ID(r.IntN(600)) })(tx)
					if errs.Is(err, errs.Invalid) || errs.Is(err, errs.NotFound) {
						err = nil // a cycle, too deep, or no such department
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
		if !reflect.DeepEqual(maps.Collect(before.depts.All()), depts) {
			t.Fatal("rules that were handed out have changed")
		}
	}
}
