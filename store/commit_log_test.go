package store

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"testing"
	"time"

	"reeve/store/disk/disktest"
	"reeve/store/errs"
	"reeve/store/kv"
	"reeve/store/stream/streamtest"
)

// TestCommitLog_CachesFollow makes random changes of users, roles, permissions, departments, keys,
// settings and dictionaries at one of three nodes after another: the caches of each are those that it
// would compute from its records, the head of the change log and what users may do are the same.
func TestCommitLog_CachesFollow(t *testing.T) {
	r := disktest.Random(t)
	options := Options{Seed: crowdSeed(r), drainFrom: 100, indexFrom: 10}
	first := open(t, t.TempDir(), options)
	head, err := first.BeginCommitLog()
	if err != nil {
		t.Fatal(err)
	}
	log := streamtest.New(head.Epoch)
	shut(t, first)
	var nodes []*DB
	for i := range 3 {
		dir := filepath.Join(t.TempDir(), "data")
		if err := os.CopyFS(dir, os.DirFS(first.Dir())); err != nil {
			t.Fatal(err)
		}
		o := options
		o.CommitLog = &kv.CommitLogOptions{Log: log, Author: fmt.Sprint("node ", i)}
		nodes = append(nodes, open(t, dir, o))
	}
	wait := func(db *DB) {
		t.Helper()
		last, _ := log.Head(t.Context())
		for end := time.Now().Add(30 * time.Second); ; time.Sleep(100 * time.Microsecond) {
			state, _ := db.CommitLog()
			switch {
			case state.At.Number >= last.Number:
				return
			case state.Refused != nil:
				t.Fatal(state.Refused)
			case time.Now().After(end):
				t.Fatalf("entry %d was not applied within 30 s", last.Number)
			}
		}
	}

	done := 0
	for serial := range disktest.Size(600, 2000, 40_000) {
		db := nodes[r.IntN(len(nodes))]
		wait(db)
		err := db.Update(System, func(tx *Tx) (err error) {
			switch r.IntN(6) {
			case 0:
				err = randomSetting(tx, r)
			case 1:
				err = randomDict(tx, r)
			default:
				reach, err2 := reachOf(tx)
				if err2 != nil || len(reach.actors) == 0 {
					return err2
				}
				tx.ActAs(reach.actors[r.IntN(len(reach.actors))])
				_, err = wander(tx, r, serial)
			}
			return err
		})
		if err == nil {
			done++
		} else if !errors.As(err, new(*errs.Error)) {
			t.Fatal(err)
		}
		if serial%20 > 0 {
			continue
		}
		var reach *reach
		for i, db := range nodes {
			wait(db)
			view(t, db, func(tx *Tx) error {
				now, err := reachOf(tx)
				if i == 0 {
					reach = now
				} else if !reflect.DeepEqual(now, reach) {
					t.Errorf("users of node %d may do something else", i)
				}
				return errors.Join(err, settingsHold(tx), dictsHold(tx), rulesHold(tx), othersHold(tx))
			})
			disktest.Equal(t, fmt.Sprintf("head of the change log of node %d", i), db.LogHead(), nodes[0].LogHead())
		}
		if t.Failed() {
			t.Fatalf("after change %d", serial)
		}
	}
	if done < 50 {
		t.Errorf("only %d changes were made", done)
	}
}

// othersHold returns an error unless the caches that rulesHold, settingsHold and dictsHold don't compare
// are those computed from the records.
func othersHold(tx *Tx) error {
	apps, err1 := AppPolicyCache.Build(tx)
	tree, err2 := PermissionTree.Build(tx)
	fields, err3 := CustomFieldCache.Build(tx)
	if err := errors.Join(err1, err2, err3); err != nil {
		return err
	}
	kept := AppPolicyCache.Get(tx)
	keptTree, err1 := PermissionTree.Get(tx).All()
	freshTree, err2 := tree.All()
	if err := errors.Join(err1, err2); err != nil {
		return err
	}
	for what, same := range map[string]bool{
		"roles of app users":       sameRecords(kept.roles, apps.roles),
		"permissions of app users": sameRecords(kept.permissions, apps.permissions),
		"permissions":              bytes.Equal(keptTree, freshTree),
		"custom fields":            reflect.DeepEqual(CustomFieldCache.Get(tx), fields),
	} {
		if !same {
			return fmt.Errorf("the %s in memory are not those in the file", what)
		}
	}
	return nil
}
