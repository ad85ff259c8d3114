package store

import (
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"reflect"
	"testing"
	"time"

	"reeve/store/disk/disktest"
	"reeve/store/errs"
	"reeve/store/kv"
)

// settingsHold returns an error unless the amended settings equal those computed from the
// records.
func settingsHold(tx *Tx) error {
	kept := SettingCache.Get(tx)
	read, err := SettingCache.Build(tx)
	if err != nil {
		return err
	}

	keptValues, err1 := kept.Values()
	readValues, err2 := read.Values()
	if err := errors.Join(err1, err2); err != nil {
		return err
	}

	for what, same := range map[string]bool{
		"settings": sameRows(kept.Settings, read.Settings),
		"groups":   sameRows(kept.Groups, read.Groups),
		"values":   reflect.DeepEqual(keptValues, readValues),
		"records":  sameRecords(kept.records, read.records),
		"numbers":  maps.Equal(kept.numbers, read.numbers), "names": maps.Equal(kept.ids, read.ids),
	} {
		if !same {
			return fmt.Errorf("the %s in memory are not those in the file", what)
		}
	}

	return nil
}

func dictsHold(tx *Tx) error {
	kept := DictCache.Get(tx)
	read, err := DictCache.Build(tx)
	if err != nil {
		return err
	}

	keptOpen, err1 := kept.Open()
	readOpen, err2 := read.Open()
	if err := errors.Join(err1, err2); err != nil {
		return err
	}

	for what, same := range map[string]bool{
		"dictionaries": sameRows(kept.Dicts, read.Dicts),
		"items":        sameRecords(kept.items, read.items),
		"records":      sameRecords(kept.records, read.records),
		"enabled ones": reflect.DeepEqual(keptOpen, readOpen),
	} {
		if !same {
			return fmt.Errorf("the %s in memory are not those in the file", what)
		}
	}

	return nil
}

// sameRows treats nil and empty rows as equal.
func sameRows[T any](a, b []Row[T]) bool { return len(a)+len(b) == 0 || reflect.DeepEqual(a, b) }

func rowsText[T any](rows []Row[T]) (text string) {
	for _, row := range rows {
		text += string(row.JSON) + row.Text
	}
	return text
}

// follows makes random writes, several in a commit. It checks the cache in some of them and
// after each commit, and that earlier snapshots do not change.
func follows(t *testing.T, db *DB, r *rand.Rand, write func(tx *Tx) error,
	holds func(tx *Tx) error, shown func(tx *Tx) func() string) {
	t.Helper()
	for range disktest.Size(60, 200, 4000) {
		var before func() string
		view(t, db, func(tx *Tx) error { before = shown(tx); return nil })
		was := before()
		update(t, db, func(tx *Tx) error {
			for range 1 + r.IntN(8) {
				err := write(tx)
				if err != nil && !errs.Is(err, errs.Conflict) && !errs.Is(err, errs.NotFound) &&
					!errs.Is(err, errs.Invalid) {
					return err
				}
				if r.IntN(4) == 0 {
					if err := holds(tx); err != nil {
						return err
					}
				}
			}
			return nil
		})
		view(t, db, holds)
		if before() != was {
			t.Fatal("what was handed out has changed")
		}
	}
}

// randomSetting creates, changes or deletes a setting or a group.
func randomSetting(tx *Tx, r *rand.Rand) error {
	pick := func(n int) ID { return ID(r.IntN(n) + 1) }
	switch r.IntN(9) {
	case 0:
		return SettingGroups.Create(tx, &SettingGroup{
			Key:    fmt.Sprint("g", r.IntN(20)),
			Public: Flag(r.IntN(2) == 0),
		})
	case 1:
		_, err := SettingGroups.Update(tx, pick(12), func(g *SettingGroup) error {
			g.Key, g.Public = fmt.Sprint("g", r.IntN(20)), Flag(r.IntN(2) == 0)
			return nil
		})
		return err
	case 2:
		return SettingGroups.Delete(tx, pick(12))
	case 3:
		return Settings.Delete(tx, pick(80))
	case 4, 5:
		kind := []string{"input", "number", "switch", "secret", "json"}[r.IntN(5)]
		return CreateSetting(tx, &Setting{
			GroupID: pick(12),
			Key:     fmt.Sprint("k", r.IntN(30)),
			Type:    kind,
			Values:  "1",
			Sort:    int64(r.IntN(5)),
		})
	}
	_, err := SaveSetting(tx, pick(80), func(s *Setting) error {
		switch r.IntN(5) {
		case 0:
			s.Sort = int64(r.IntN(5))
		case 1:
			s.Key = fmt.Sprint("k", r.IntN(30))
		case 2:
			s.GroupID = pick(12)
		default:
			s.Values = fmt.Sprint(r.IntN(2))
		}
		return nil
	})
	return err
}

// randomDict creates, changes or deletes a dictionary or an item.
func randomDict(tx *Tx, r *rand.Rand) error {
	pick := func(n int) ID { return ID(r.IntN(n) + 1) }
	switch r.IntN(8) {
	case 0:
		return Dicts.Create(tx, &Dict{
			Code:   fmt.Sprint("d", r.IntN(20)),
			Status: Flag(r.IntN(2) == 0),
		})
	case 1:
		_, err := Dicts.Update(tx, pick(12), func(d *Dict) error {
			d.Status, d.Code = !d.Status, fmt.Sprint("d", r.IntN(20))
			return nil
		})
		return err
	case 2:
		return Dicts.Delete(tx, pick(12))
	case 3:
		return DictItems.Delete(tx, pick(80))
	case 4, 5:
		return DictItems.Create(tx, &DictItem{
			DictID: pick(12),
			Value:  fmt.Sprint(r.IntN(30)),
			Switch: Flag(r.IntN(2) == 0),
			Sort:   int64(r.IntN(5)),
		})
	}
	_, err := DictItems.Update(tx, pick(80), func(i *DictItem) error {
		if r.IntN(3) == 0 {
			i.DictID = pick(12)
		}
		i.Sort, i.Switch = int64(r.IntN(5)), !i.Switch
		return nil
	})
	return err
}

func TestSettingCache_FollowsChanges(t *testing.T) {
	r := disktest.Random(t)
	db := open(t, t.TempDir(), Options{})
	follows(t, db, r, func(tx *Tx) error { return randomSetting(tx, r) }, settingsHold, func(tx *Tx) func() string {
		c := SettingCache.Get(tx)
		return func() string {
			return rowsText(c.Settings) + rowsText(c.Groups) + fmt.Sprint(c.ids, c.numbers,
				c.records.Len())
		}
	})
}

func TestDictCache_FollowsChanges(t *testing.T) {
	r := disktest.Random(t)
	db := open(t, t.TempDir(), Options{})
	follows(t, db, r, func(tx *Tx) error { return randomDict(tx, r) }, dictsHold, func(tx *Tx) func() string {
		c := DictCache.Get(tx)
		return func() (text string) {
			for id := range ID(20) {
				text += rowsText(c.rows(id)) + "|"
			}
			return text + rowsText(c.Dicts) + fmt.Sprint(c.records.Len())
		}
	})
}

// BenchmarkCacheFollows changes one record of a cache and reports how many times longer it
// takes to read everything again than to update the cache.
func BenchmarkCacheFollows(b *testing.B) {
	for _, n := range []int{30, 1000} {
		b.Run(fmt.Sprint("settings/", n), func(b *testing.B) {
			db := open(b, b.TempDir(), Options{})
			fill(b, db, n, func(tx *Tx, i int) error {
				if i == 0 {
					if err := SettingGroups.Create(tx, &SettingGroup{Key: "group", Title: "Group"}); err != nil {
						return err
					}
				}
				return Settings.Create(tx, &Setting{
					GroupID: 1,
					Key:     fmt.Sprint("key_", i),
					Title:   "A title",
					Type:    "input",
					Values:  "value",
					Sort:    int64(i % 7),
				})
			})
			compareBuilds(b, db, SettingCache, func(tx *Tx, i int) error {
				_, err := Settings.Update(tx, ID(i%n+1), func(s *Setting) error {
					s.Values = fmt.Sprint(i)
					return nil
				})
				return err
			})
		})
		b.Run(fmt.Sprint("dictionary items/", n), func(b *testing.B) {
			db := open(b, b.TempDir(), Options{})
			fill(b, db, n, func(tx *Tx, i int) error {
				if i%100 == 0 {
					if err := Dicts.Create(tx, &Dict{
						Code:   fmt.Sprint("dict_", i),
						Name:   "Dictionary",
						Type:   "tag",
						Status: true,
					}); err != nil {
						return err
					}
				}
				return DictItems.Create(tx, &DictItem{
					DictID: ID(i/100 + 1),
					Label:  fmt.Sprint("Label ", i),
					Value:  fmt.Sprint(i),
					Switch: true,
					Status: "success",
				})
			})
			compareBuilds(b, db, DictCache, func(tx *Tx, i int) error {
				_, err := DictItems.Update(tx, ID(i%n+1), func(d *DictItem) error {
					d.Label = fmt.Sprint(i)
					return nil
				})
				return err
			})
		})
	}
}

func fill(b *testing.B, db *DB, n int, create func(tx *Tx, i int) error) {
	b.Helper()
	update(b, db, func(tx *Tx) error {
		for i := range n {
			if err := create(tx, i); err != nil {
				return err
			}
		}
		return nil
	})
}

func compareBuilds[V any](b *testing.B, db *DB, c *kv.Cache[V], change func(tx *Tx, i int) error) {
	var amending, building time.Duration
	for i := 0; b.Loop(); i++ {
		update(b, db, func(tx *Tx) error {
			if err := change(tx, i); err != nil {
				return err
			}
			began := time.Now()
			c.Get(tx)
			amended := time.Now()
			_, err := c.Build(tx)
			amending, building = amending+amended.Sub(began), building+time.Since(amended)
			return err
		})
	}

	b.ReportMetric(float64(amending.Nanoseconds())/float64(b.N), "amend-ns/op")
	b.ReportMetric(float64(building)/float64(max(amending, 1)), "build/amend")
}
