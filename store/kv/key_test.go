package kv

import (
	"bytes"
	"cmp"
	"errors"
	"testing"
	"testing/quick"

	"reeve/store/disk/disktest"
)

// checkKeys checks that two encoded values have the order of the values, and that neither is a
// prefix of the other.
func checkKeys(t *testing.T, a, b []byte, order int, what any) bool {
	t.Helper()
	if got := bytes.Compare(a, b); got != order {
		t.Errorf("%q: encoded as %x and %x, which compare %d, want %d", what, a, b, got, order)
		return false
	}
	if order != 0 && (bytes.HasPrefix(a, b) || bytes.HasPrefix(b, a)) {
		t.Errorf("%q: %x and %x begin alike", what, a, b)
		return false
	}
	return true
}

func FuzzStringKey(f *testing.F) {
	texts := []string{"", "\x00", "\x00\x00", "\x00\x01", "\x00\xff", "\x01", "a", "a\x00",
		"a\x00b", "a\x01", "ab", "\xff", "\xff\xff", "\xff\x00", "日本"}
	for _, a := range texts {
		for _, b := range texts {
			f.Add(a, b)
		}
	}
	f.Fuzz(func(t *testing.T, a, b string) {
		checkKeys(t, encodeKey(a), encodeKey(b), cmp.Compare(a, b), []string{a, b})
	})
}

func TestNumberKeys(t *testing.T) {
	ids := func(a, b ID) bool {
		return checkKeys(t, encodeKey(a), encodeKey(b), cmp.Compare(a, b), []ID{a, b})
	}

	times := func(a, b Time) bool {
		return checkKeys(t, encodeKey(a), encodeKey(b), cmp.Compare(a, b),
			[]int64{int64(a), int64(b)})
	}

	edges := []int64{-1 << 63, -1<<63 + 1, -256, -1, 0, 1, 255, 256, 1 << 32, 1<<63 - 1}
	for _, a := range edges {
		for _, b := range edges {
			ids(ID(a), ID(b))
			times(Time(a), Time(b))
		}
	}

	config := &quick.Config{MaxCount: disktest.Size(1000, 10_000, 1_000_000)}
	for _, property := range []any{ids, times} {
		if err := quick.Check(property, config); err != nil {
			t.Error(err)
		}
	}
}

// A scan for one value returns no entries of values with the same prefix.
func TestIndex_PrefixesAreSeparate(t *testing.T) {
	tags := []string{"", "a", "a\x00", "a\x00\x01", "a\x00b", "ab", "b"}
	db := zooWith(t)
	update(t, db, func(tx *Tx) error {
		for i := range tags {
			if err := beasts.Create(tx, &beast{Tags: tags[i:], Born: Time(i - 3)}); err != nil {
				return err
			}
		}
		return nil
	})
	view(t, db, func(tx *Tx) error {
		for i, tag := range tags {
			var got, want []ID
			for b, err := range beastByTag.All(tx, tag) {
				if err != nil {
					return err
				}
				got = append(got, b.ID)
			}
			for id := range i + 1 {
				want = append(want, ID(id+1))
			}
			disktest.Equal(t, "beasts tagged "+tag, got, want)
		}

		all, err := beastByBorn.Below(tx, 0, 100)
		disktest.Equal(t, "born before 0", all, []ID{1, 2, 3})
		two, err2 := beastByBorn.Below(tx, 0, 2)
		disktest.Equal(t, "the first two born before 0", two, []ID{1, 2})
		disktest.Equal(t, "errors", errors.Join(err, err2), error(nil))
		return nil
	})
}
