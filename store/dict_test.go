package store

import (
	"fmt"
	"testing"
)

// BenchmarkDictSet computes the dictionaries in memory from 10,000 items in 100
// dictionaries, which every commit that changes one of them waits for.
func BenchmarkDictSet(b *testing.B) {
	db := open(b, b.TempDir(), Options{})
	update(b, db, func(tx *Tx) error {
		for d := range 100 {
			if err := Dicts.Create(tx, &Dict{Code: fmt.Sprint("dict_", d), Name: "Dictionary", Type: "tag", Status: true}); err != nil {
				return err
			}
			for i := range 100 {
				item := &DictItem{DictID: ID(d + 1), Label: fmt.Sprint("Label ", i), Value: fmt.Sprint(i), Sort: int64(i % 7), Switch: true, Status: "success"}
				if err := DictItems.Create(tx, item); err != nil {
					return err
				}
			}
		}
		return nil
	})
	view(b, db, func(tx *Tx) error {
		for b.Loop() {
			if _, err := DictSet.build(tx); err != nil {
				return err
			}
		}
		return nil
	})
}
