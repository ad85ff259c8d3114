package kv

import (
	"cmp"
	"encoding/json"
	"errors"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"reeve/store/disk/disktest"
)

// A sort decodes only the members that an index declares. Random records reveal an index that
// depends on another one.
func TestIndex_DeclaresMembersRead(t *testing.T) {
	r := disktest.Random(t)
	fill := func(record any) { fillSample(r, reflect.ValueOf(record).Elem()) }
	s := &Schema{Tables: slices.Concat(office.Tables, zoo().Tables, []Table{items, pairs})}
	if err := s.CheckIndexes(fill); err != nil {
		t.Error(err)
	}
	careless := NewCollection[pair]("careless")
	NewMany(careless, "major", func(p *pair) []int64 { return []int64{p.Major + p.Minor} })
	err := (&Schema{Tables: []Table{careless}}).CheckIndexes(fill)
	if err == nil ||
		!strings.Contains(err.Error(), "index careless.major reads more than the members [major]") {
		t.Errorf("an index that reads another member: %v", err)
	}
}

// fillSample sets about two thirds of the fields of a struct to random values.
func fillSample(r *rand.Rand, v reflect.Value) {
	if v.Kind() != reflect.Struct && r.IntN(3) == 0 ||
		v.Type() == reflect.TypeFor[json.RawMessage]() {
		return
	}
	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			fillSample(r, v.Field(i))
		}
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), r.IntN(3), 3))
		fallthrough
	case reflect.Array:
		for i := range v.Len() {
			fillSample(r, v.Index(i))
		}
	case reflect.String:
		v.SetString([]string{"a", "B", "running"}[r.IntN(3)])
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Int, reflect.Int64:
		v.SetInt(1 + r.Int64N(1000))
	case reflect.Uint8, reflect.Uint32, reflect.Uint64:
		v.SetUint(1 + r.Uint64N(200))
	case reflect.Map: // not indexed
	default:
		panic("fillSample: " + v.Type().String())
	}
}

func TestOrder_PlaceIsIndexKey(t *testing.T) {
	dir := t.TempDir()
	realistic(t, dir)
	db := open(t, dir, Options{Schema: &office})
	compared := 0
	view(t, db, func(tx *Tx) error {
		compared = recordsHaveTheirKeys(t, tx, Users) + recordsHaveTheirKeys(t, tx, Sessions)
		return nil
	})
	if compared < 100 {
		t.Errorf("only %d keys were compared", compared)
	}
}

func recordsHaveTheirKeys[T any](t *testing.T, tx *Tx, c *Collection[T]) (compared int) {
	t.Helper()
	for v, err := range c.untyped.all(tx) {
		noErr(t, err)
		for _, x := range c.untyped.indexes {
			want := x.keys(v)
			if len(want) != 1 {
				continue // no index to sort by
			}
			got, err := x.keyOf(tx, v.ident().ID)
			noErr(t, err)
			disktest.Equal(t, x.bucket, got, want[0])
			compared++
		}
	}
	return compared
}

// pair is a record that is sorted by two fields.
type pair struct {
	Ident
	Major int64 `json:"major"`
	Minor int64 `json:"minor"`
	Kind  int64 `json:"kind"`
	Timestamps
}

var (
	pairs      = NewCollection[pair]("pair")
	pairByBoth = NewMany(pairs, "major", func(p *pair) []int64 {
		return []int64{p.Major*1000 + p.Minor}
	}, "minor")
	pairByKind = NewMany(pairs, "kind", func(p *pair) []int64 { return []int64{p.Kind} })
)

func TestOrder_TwoFields(t *testing.T) {
	db := open(t, t.TempDir(), Options{Schema: &Schema{Tables: []Table{Installs, pairs}}})
	update(t, db, func(tx *Tx) (err error) {
		for i := range int64(500) {
			err = errors.Join(err,
				pairs.Create(tx, &pair{Major: i % 2, Minor: 500 - i, Kind: i % 100}))
		}
		return err
	})
	view(t, db, func(tx *Tx) error {
		few := []Condition{pairByKind.AnyOf(3), pairByKind.Between(tx, 1, 4)} // so few records that their keys are read and sorted
		q := Query[pair]{Where: few, Order: pairByBoth.Order(), Limit: 1000}
		page, _, err := pairs.Find(tx, q)
		if err != nil || len(page) != 5 || !slices.IsSortedFunc(page, func(a, b *pair) int {
			return cmp.Or(cmp.Compare(a.Major, b.Major), cmp.Compare(a.Minor, b.Minor))
		}) {
			t.Errorf("%d records, %v: %s", len(page), err, disktest.Shown(page))
		}
		return nil
	})
}

func TestObjectMember(t *testing.T) {
	const object = `{"id":7,"a\"b":"x","text":"a \"quoted\" \\","list":[1,{"text":"no"},[]],"nested":{"text":"no","x":[]},"last":null}`
	for name, want := range map[string]string{
		"id": `7`, "text": `"a \"quoted\" \\"`, "list": `[1,{"text":"no"},[]]`,
		"nested": `{"text":"no","x":[]}`, "last": `null`,
		"x": "", "no": "", "": "", "a": "",
	} {
		disktest.Equal(t, name, string(member([]byte(object), name)), want)
	}
	for end := range len(object) { // terminates on truncated JSON
		member([]byte(object[:end]), "last")
	}
	disktest.Equal(t, "of nothing", member(nil, "x"), nil)
	disktest.Equal(t, "of no members", member([]byte(`{}`), "x"), nil)
}

func TestFixedTime_EqualsParser(t *testing.T) {
	r := disktest.Random(t)
	for range 20_000 {
		moment := Time(r.Int64N(int64(250_000_000_000_000_000)) - 60_000_000_000_000_000)
		text, err := moment.MarshalJSON()
		if err != nil {
			continue // the year has five digits
		}
		if r.IntN(2) == 0 {
			text[1+r.IntN(len(text)-2)] = "0123456789-:.TZ+ "[r.IntN(17)]
		}

		fixed, ok := fixedTime(text)
		parsed, err := time.Parse(time.RFC3339Nano, string(text[1:len(text)-1]))
		if ok && (err != nil || fixed != TimeOf(parsed)) {
			t.Fatalf("%s is %v, the parser says %v, %v", text, fixed, parsed, err)
		}
		if !ok && err == nil && parsed.Day() < 29 &&
			slices.Equal(text, []byte(`"`+TimeOf(parsed).String()+`"`)) {
			t.Fatalf("%s is not recognised", text)
		}
	}
}

func TestIDSet(t *testing.T) {
	r := disktest.Random(t)
	set, want := newIDSet(), map[ID]bool{}
	for range 5000 {
		id := ID(r.IntN(20_000))
		if r.IntN(100) == 0 {
			id = ID(r.Uint64())
		}
		set.add(id)
		want[id] = true
		if other := ID(r.IntN(20_000)); set.has(other) != want[other] {
			t.Fatalf("%d: %v", other, set.has(other))
		}
	}

	var sorted []ID
	for id := range want {
		sorted = append(sorted, id)
	}

	slices.Sort(sorted)
	disktest.Equal(t, "ascending", slices.Collect(set.walk(false)), sorted)
	slices.Reverse(sorted)
	disktest.Equal(t, "descending", slices.Collect(set.walk(true)), sorted)
	disktest.Equal(t, "number", set.n, len(want))
}
