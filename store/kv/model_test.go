package kv

import (
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"

	"reeve/store/disk/disktest"
	"reeve/store/errs"
	"reeve/store/fold"
)

// model is a reference implementation of the zoo with maps and loops.
type model struct {
	cages   map[ID]cage
	keepers map[ID]keeper
	beasts  map[ID]beast
	chips   map[ID]chip
	last    map[string]ID // last assigned ID by collection
}

func (m *model) clone() *model {
	return &model{maps.Clone(m.cages), maps.Clone(m.keepers), maps.Clone(m.beasts),
		maps.Clone(m.chips), maps.Clone(m.last)}
}

func (m *model) next(name string) Ident {
	m.last[name]++
	return Ident{m.last[name]}
}

// levels returns the number of levels from a beast to its root; 99 for a cycle.
func (m *model) levels(id ID, beasts map[ID]beast) int {
	n := 0
	for ; id != 0 && n < 99; n++ {
		id = beasts[id].ParentID
	}
	return n
}

// refuses returns the error with which storing b under id must fail; nil if it must succeed.
func (m *model) refuses(id ID, b beast) *refusal {
	for other, o := range m.beasts {
		if other != id && fold.Key(b.Name) != "" && fold.Key(o.Name) == fold.Key(b.Name) {
			return &refusal{errs.Conflict, "duplicate", "name"}
		}
	}

	faults := map[string]string{}
	if _, ok := m.cages[b.CageID]; b.CageID != 0 && !ok {
		faults["cage_id"] = ""
	}

	for _, k := range b.KeeperIDs {
		if _, ok := m.keepers[k]; !ok {
			faults["keeper_ids"] = ""
		}
	}

	if b.Weight < 0 {
		faults["weight"] = ""
	}
	if _, ok := m.beasts[b.ParentID]; b.ParentID != 0 && !ok {
		faults["parent_id"] = ""
	}

	after := maps.Clone(m.beasts)
	after[id] = b
	for other := range after {
		if m.levels(other, after) > MaxDepth {
			faults["parent_id"] = ""
		}
	}

	if len(faults) == 0 {
		return nil
	}

	return &refusal{errs.Invalid, "invalid", joined(faults)}
}

func (m *model) deleteBeast(id ID) *refusal {
	for _, b := range m.beasts {
		if b.ParentID == id {
			return &refusal{errs.Conflict, "in_use", ""}
		}
	}
	delete(m.beasts, id)
	maps.DeleteFunc(m.chips, func(_ ID, c chip) bool { return c.BeastID == id })
	return nil
}

func (m *model) deleteCage(id ID) *refusal {
	for _, b := range slices.Sorted(maps.Keys(m.beasts)) {
		if m.beasts[b].CageID == id {
			if no := m.deleteBeast(b); no != nil {
				return no
			}
		}
	}
	delete(m.cages, id)
	return nil
}

var (
	modelNames = []string{"", " ", "Ada", "ADA ", "bo", "Bo\x00", "Çe", "çE", "dd", "ee", "ff",
		"Straße"}
	modelTags = []string{"", "a", "a\x00", "a\x00b", "ab", "日"}
)

func randomBeast(r *rand.Rand, m *model) beast {
	pick := func(last ID) ID { return ID(r.IntN(int(last) + 1)) } // may be 0 for none, or a deleted record
	b := beast{
		Name:      modelNames[r.IntN(len(modelNames))],
		Born:      Time(r.IntN(7) - 3),
		Weight:    int64(r.IntN(40) - 1),
		Tags:      []string{},
		KeeperIDs: []ID{},
		FriendIDs: []ID{},
	}
	for range r.IntN(3) {
		b.Tags = append(b.Tags, modelTags[r.IntN(len(modelTags))])
		b.FriendIDs = append(b.FriendIDs, ID(r.IntN(20)))
		b.KeeperIDs = append(b.KeeperIDs, pick(m.last["keeper"]))
	}

	if r.IntN(2) == 0 {
		b.CageID, b.ParentID = pick(m.last["cage"]), pick(m.last["beast"])
	}

	return b
}

// step runs one random operation on the database and on the model. It returns the error of the
// database and the error that the model requires.
func step(tx *Tx, m *model, r *rand.Rand) (what string, want *refusal, err error) {
	now := tx.Now()
	id := ID(r.IntN(int(m.last["beast"])+1) + 1)
	old, there := m.beasts[id]
	missing := &refusal{errs.NotFound, "not_found", ""}
	switch r.IntN(10) {
	case 0:
		ident := m.next("cage")
		m.cages[ident.ID] = cage{ident, "c", Timestamps{now, now}}
		return "create cage", nil, cages.Create(tx, &cage{Name: "c"})
	case 1:
		ident := m.next("keeper")
		m.keepers[ident.ID] = keeper{ident, "k", 0, Timestamps{now, now}}
		return "create keeper", nil, keepers.Create(tx, &keeper{Name: "k"})
	case 2:
		if want = (&refusal{errs.Invalid, "invalid", "beast_id"}); there {
			ident := m.next("chip")
			m.chips[ident.ID], want = chip{ident, id, Timestamps{now, now}}, nil
		}
		return "create chip", want, chips.Create(tx, &chip{BeastID: id})
	case 3:
		id = ID(r.IntN(int(m.last["cage"])+1) + 1)
		if want = missing; m.cages[id].ID != 0 {
			want = m.deleteCage(id)
		}
		return fmt.Sprint("delete cage ", id), want, cages.Delete(tx, id)
	case 4:
		id = ID(r.IntN(int(m.last["keeper"])+1) + 1)
		want = missing
		if m.keepers[id].ID != 0 {
			want = nil
			for _, b := range m.beasts {
				if slices.Contains(b.KeeperIDs, id) {
					want = &refusal{errs.Conflict, "in_use", ""}
				}
			}
			if want == nil {
				delete(m.keepers, id)
			}
		}
		return fmt.Sprint("delete keeper ", id), want, keepers.Delete(tx, id)
	case 5:
		if want = missing; there {
			want = m.deleteBeast(id)
		}
		return fmt.Sprint("delete beast ", id), want, beasts.Delete(tx, id)
	case 6, 7:
		b := randomBeast(r, m)
		fresh := b
		if want = m.refuses(m.last["beast"]+1, b); want == nil {
			b.Ident, b.Timestamps = m.next("beast"), Timestamps{now, now}
			m.beasts[b.ID] = b
		}
		return "create beast", want, beasts.Create(tx, &fresh)
	}

	b, touch := randomBeast(r, m), r.IntN(3) == 0
	if r.IntN(3) == 0 {
		b.Weight, b.KeeperIDs, b.CageID = 1, []ID{}, 0 // otherwise hardly any edit would be valid
	}

	b.Ident, b.Timestamps = old.Ident, old.Timestamps
	fresh := b
	if want = missing; there {
		if want = m.refuses(id, b); want == nil {
			if disktest.Shown(b) != disktest.Shown(old) && !touch {
				b.UpdatedAt = max(now, old.UpdatedAt+1)
			}
			m.beasts[id] = b
		}
	}

	do := beasts.Update
	if touch {
		do = beasts.UpdateQuietly
	}

	got, err := do(tx, id, func(b *beast) error { *b = fresh; return nil })
	if err == nil && disktest.Shown(*got) != disktest.Shown(b) {
		err = fmt.Errorf("the edit returned %s, want %s", disktest.Shown(*got), disktest.Shown(b))
	}

	return fmt.Sprint("edit beast ", id), want, err
}

// TestRandomWalk runs random operations on the database and on the model, several per transaction,
// while the database is compacted now and then. Some transactions fail at their end.
func TestRandomWalk(t *testing.T) {
	r, dir, clock := disktest.Random(t), t.TempDir(), clockAt(1000)
	options := Options{Schema: zoo(), Clock: clock.now}
	m := &model{map[ID]cage{}, map[ID]keeper{}, map[ID]beast{}, map[ID]chip{}, map[string]ID{}}
	db := open(t, dir, options)
	refused, stored, compared := 0, 0, 0
	give := errors.New("given up")
	var compaction sync.WaitGroup
	for round := range disktest.Size(400, 1000, 20_000) {
		if r.IntN(3) == 0 {
			clock.Add(int64(r.IntN(3) - 1)) // sometimes back
		}

		tried := m.clone()
		steps, giveUp := r.IntN(4)+1, r.IntN(8) == 0
		err := db.Update(System, func(tx *Tx) error {
			for range steps {
				what, want, err := step(tx, tried, r)
				var e *errs.Error
				switch {
				case want == nil && err != nil:
					return fmt.Errorf("round %d, %s: %w", round, what, err)
				case want == nil:
					continue
				case !errors.As(err, &e) || refusal{e.Kind, e.Code, joined(e.Fields)} != *want:
					return fmt.Errorf("round %d, %s: %v, want %v", round, what, err, *want)
				}
				refused++
				return give
			}

			if giveUp {
				return give
			}

			stored++
			return nil
		})
		if err != nil && !errors.Is(err, give) {
			t.Fatal(err)
		}
		if err == nil {
			m = tried
		}
		if round%50 == 20 {
			compaction.Go(func() {
				if _, err := db.Compact(t.Context(), ignore); err != nil && !errs.Is(err, errs.Busy) {
					t.Error(err)
				}
			})
		}
		if round%50 == 49 {
			compaction.Wait()
			if round%200 == 199 {
				shut(t, db)
				db = open(t, dir, options)
			}
			sameAsModel(t, db, m)
			mustVerify(t, db)
			compared += len(m.beasts)
		}
		if t.Failed() {
			t.Fatalf("after round %d", round)
		}
	}

	if refused == 0 || stored == 0 || compared == 0 { // compared counts all rounds, because there may be no beasts at the end
		t.Errorf("the walk tests too little: %d refused, %d stored, %d beasts compared", refused,
			stored, compared)
	}
}
