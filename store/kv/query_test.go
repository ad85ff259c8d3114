package kv

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"reeve/store/disk/disktest"
	"reeve/store/fold"
)

// item is a record with every kind of index and a Search, to test queries.
type item struct {
	Ident
	Code     string `json:"code"` // unique; never empty
	Kind     string `json:"kind"`
	Size     int64  `json:"size"`
	OwnerIDs []ID   `json:"owner_ids"`
	Title    string `json:"title"`
	Note     string `json:"note"`
	Timestamps
}

var (
	owners      = NewCollection[cage]("owner")
	items       = NewCollection[item]("item")
	itemByCode  = NewUniqueText(items, "code", fold.Name, func(v *item) string { return v.Code })
	itemByKind  = NewMany(items, "kind", func(v *item) []string { return []string{v.Kind} })
	itemBySize  = NewMany(items, "size", func(v *item) []int64 { return []int64{v.Size} })
	itemByOwner = NewRefs(items, "owner_ids", owners, func(v *item) []ID {
		return v.OwnerIDs
	}, Dangle)
	_ = NewSearch(items, func(v *item) []string { return []string{v.Title, v.Note} })
)

func shop() *Schema { return &Schema{Tables: []Table{Installs, owners, items}} }

// kinds are values of which some match more than a fifth of the items, some more than a twentieth,
// and some fewer.
var kinds = []string{"common", "common", "common", "common", "common", "many", "many", "many",
	"some", "some", "few", "few\x00x"}

func randomItem(r *rand.Rand, serial int) *item {
	v := &item{
		Code:     fmt.Sprintf("%c%d", 'A'+rune(r.IntN(26)), serial),
		Kind:     kinds[r.IntN(len(kinds))],
		Size:     int64(r.IntN(40) - 20),
		Title:    randomText(r),
		Note:     randomText(r),
		OwnerIDs: []ID{},
	}
	if r.IntN(40) == 0 {
		v.Kind = "rare"
	}

	for range r.IntN(4) {
		v.OwnerIDs = append(v.OwnerIDs, ID(r.IntN(12)+1))
	}

	return v
}

func randomText(r *rand.Rand) string {
	var b strings.Builder
	for range r.IntN(8) {
		b.WriteRune([]rune("aAbBÄ0\x00 ")[r.IntN(8)])
	}
	return b.String()
}

// clause is a condition and its reference implementation.
type clause struct {
	text  string
	cond  func(tx *Tx) Condition
	holds func(v *item) bool
}

func pickSome[T any](r *rand.Rand, from []T, most int) []T {
	some := []T{}
	for range r.IntN(most + 1) {
		some = append(some, from[r.IntN(len(from))])
	}
	return some
}

func randomClause(r *rand.Rand, ids []ID) clause {
	var c clause
	switch r.IntN(3) {
	case 0:
		of := pickSome(r, append(kinds, "rare", "rare", "unheard of"), 3)
		c = clause{fmt.Sprintf("kind of %q", of), func(*Tx) Condition {
			return itemByKind.AnyOf(of...)
		},
			func(v *item) bool { return slices.Contains(of, v.Kind) }}
	case 1:
		of := pickSome(r, []ID{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 99}, 4)
		c = clause{fmt.Sprint("owner of ", of), func(*Tx) Condition {
			return itemByOwner.AnyOf(of...)
		},
			func(v *item) bool {
				return slices.ContainsFunc(v.OwnerIDs, func(id ID) bool {
					return slices.Contains(of, id)
				})
			}}
	case 2:
		low, high := int64(r.IntN(50)-25), int64(r.IntN(50)-25)
		c = clause{fmt.Sprint("size from ", low, " to ", high), func(tx *Tx) Condition {
			return itemBySize.Between(tx, low, high)
		},
			func(v *item) bool { return low <= v.Size && v.Size <= high }}
	}

	if r.IntN(3) == 0 {
		too, plain := pickSome(r, append(ids, 0), 5), c
		c = clause{fmt.Sprint(c.text, " or id of ", too), func(tx *Tx) Condition {
			return plain.cond(tx).OrIDs(too...)
		},
			func(v *item) bool { return plain.holds(v) || slices.Contains(too, v.ID) }}
	}

	return c
}

// asked is a query and its reference implementation.
type asked struct {
	clauses []clause
	search  string
	order   string
	q       Query[item] // without Where
}

func (a asked) String() string {
	var clauses []string
	for _, c := range a.clauses {
		clauses = append(clauses, c.text)
	}
	return fmt.Sprintf("%s; search %q; by %s, descending %v; %d from %d",
		strings.Join(clauses, " and "), a.search, a.order, a.q.Descending, a.q.Limit, a.q.Offset)
}

var itemOrders = map[string]func(a, b *item) int{
	"id":   func(a, b *item) int { return 0 },
	"code": func(a, b *item) int { return fold.Compare(a.Code, b.Code) },
	"kind": func(a, b *item) int { return cmp.Compare(a.Kind, b.Kind) },
	"size": func(a, b *item) int { return cmp.Compare(a.Size, b.Size) },
}

func randomAsked(r *rand.Rand, ids []ID) asked {
	a := asked{order: []string{"id", "code", "kind", "size"}[r.IntN(4)]}
	for range r.IntN(4) {
		a.clauses = append(a.clauses, randomClause(r, ids))
	}

	if r.IntN(3) == 0 {
		a.search = []string{"a", "b", "as", "aa", "ab", "0", "a b", "zz", "abab"}[r.IntN(9)]
	}

	a.q.Order = map[string]Order[item]{
		"code": itemByCode.Order(),
		"kind": itemByKind.Order(),
		"size": itemBySize.Order(),
	}[a.order]

	a.q.Search, a.q.Descending, a.q.Limit = a.search, r.IntN(2) == 0, []int{1, 3, 10, 1000}[r.IntN(4)]
	if r.IntN(2) == 0 {
		a.q.Offset = r.IntN(len(ids)*5/4 + 2) // sometimes beyond the end
	}

	return a
}

// answer returns the expected result, computed from all items.
func (a asked) answer(all []*item) (page []ID, total int) {
	var found []*item
	for _, v := range all {
		ok := strings.Contains(fold.Search(v.Title), a.search) ||
			strings.Contains(fold.Search(v.Note), a.search)
		for _, c := range a.clauses {
			ok = ok && c.holds(v)
		}
		if ok {
			found = append(found, v)
		}
	}

	slices.SortFunc(found, func(x, y *item) int {
		order := cmp.Or(itemOrders[a.order](x, y), cmp.Compare(x.ID, y.ID))
		if a.q.Descending {
			return -order
		}
		return order
	})
	page = []ID{}
	for i, v := range found {
		if i >= a.q.Offset && len(page) < a.q.Limit {
			page = append(page, v.ID)
		}
	}

	return page, len(found)
}

func (a asked) check(tx *Tx, all []*item) error {
	q := a.q
	for _, c := range a.clauses {
		cond := c.cond(tx)
		q.Where = append(q.Where, cond)
		var want []ID
		for _, v := range all {
			if c.holds(v) {
				want = append(want, v.ID)
			}
			if cond.Matches(tx, v.ID) != c.holds(v) {
				return fmt.Errorf("%s: whether %s holds for %d is told wrong", a, c.text, v.ID)
			}
		}
		if got := cond.IDs(tx); !slices.Equal(got, want) {
			return fmt.Errorf("%s: %s has the ids %v, want %v", a, c.text, got, want)
		}
	}

	ids, wantTotal := a.answer(all)
	page, total, err := items.Find(tx, q)
	if err != nil {
		return fmt.Errorf("%s: %w", a, err)
	}

	got := []ID{}
	for _, v := range page {
		got = append(got, v.ID)
	}

	if !slices.Equal(got, ids) || total != wantTotal {
		return fmt.Errorf("%s:\n got %v of %d\nwant %v of %d", a, got, total, ids, wantTotal)
	}
	if got, err = items.FindIDs(tx, q); err != nil || !slices.Equal(got, ids) {
		return fmt.Errorf("%s: ids %v, %v, want %v", a, got, err, ids)
	}

	return nil
}

// TestQuery_MatchesFullScan runs random queries on collections of several sizes,
// in read transactions and within commits.
func TestQuery_MatchesFullScan(t *testing.T) {
	for _, n := range []int{0, 1, 6, 70, 1000 * 2} {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			r, serial := disktest.Random(t), 0
			db := open(t, t.TempDir(), Options{Schema: shop()})
			stored := map[ID]*item{}
			ask := func(tx *Tx, times int) error {
				ids := slices.Sorted(maps.Keys(stored))
				all := make([]*item, 0, len(ids))
				for _, id := range ids {
					all = append(all, stored[id])
				}
				for range times {
					if err := randomAsked(r, ids).check(tx, all); err != nil {
						return err
					}
				}
				return nil
			}
			for round := range disktest.Size(10, 25, 400) {
				update(t, db, func(tx *Tx) error {
					if err := churn(tx, r, stored, n, &serial); err != nil || round%2 == 0 {
						return err
					}
					return ask(tx, 20)
				})
				view(t, db, func(tx *Tx) error { return ask(tx, 60) })
			}
		})
	}
}

// churn changes and deletes some items, and creates new ones up to n.
func churn(tx *Tx, r *rand.Rand, stored map[ID]*item, n int, serial *int) error {
	for _, id := range slices.Sorted(maps.Keys(stored)) { // in order, so that a seed reproduces the run
		switch r.IntN(20) {
		case 0:
			if err := items.Delete(tx, id); err != nil {
				return err
			}
			delete(stored, id)
		case 1:
			*serial++
			fresh := randomItem(r, *serial)
			v, err := items.Update(tx, id, func(v *item) error {
				fresh.Ident, fresh.Timestamps = v.Ident, v.Timestamps
				*v = *fresh
				return nil
			})
			if err != nil {
				return err
			}
			stored[id] = v
		}
	}
	for len(stored) < n {
		*serial++
		v := randomItem(r, *serial)
		if err := items.Create(tx, v); err != nil {
			return err
		}
		stored[v.ID] = v
	}
	return nil
}

// A record that has several of the values is counted and returned once, for every kind of index.
func TestAnyOf_CountsRecordOnce(t *testing.T) {
	db := open(t, t.TempDir(), Options{Schema: zoo()})
	update(t, db, func(tx *Tx) error {
		return errors.Join(
			keepers.Create(tx, &keeper{}), keepers.Create(tx, &keeper{}),
			beasts.Create(tx, &beast{Tags: []string{"wild", "old"}, KeeperIDs: []ID{1, 2, 1}}),
			beasts.Create(tx, &beast{Tags: []string{"old", "old"}}))
	})
	view(t, db, func(tx *Tx) error {
		for name, test := range map[string]struct {
			where Condition
			want  int
		}{
			"two keepers":             {beastByKeeper.AnyOf(1, 2), 1},
			"one value named twice":   {beastByTag.AnyOf("old", "old"), 2},
			"two tags":                {beastByTag.AnyOf("old", "wild"), 2},
			"two tags, and one by id": {beastByTag.AnyOf("old", "wild").OrIDs(1, 1), 2},
		} {
			page, total, err := beasts.Find(tx, Query[beast]{
				Where: []Condition{test.where},
				Limit: 10,
			})
			if err != nil {
				return err
			}
			disktest.Equal(t, name, []int{len(page), total}, []int{test.want, test.want})
		}
		return nil
	})
}
