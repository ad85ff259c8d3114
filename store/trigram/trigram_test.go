package trigram

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"testing"
)

// seeded returns a source of random numbers and logs its seed.
func seeded(t *testing.T) *rand.Rand {
	t.Helper()
	seed := rand.Uint64()
	if s := os.Getenv("REEVE_TEST_SEED"); s != "" {
		n, err := strconv.ParseUint(s, 10, 64)
		if err != nil {
			t.Fatal(err)
		}
		seed = n
	}
	t.Logf("REEVE_TEST_SEED=%d", seed)
	return rand.New(rand.NewPCG(seed, 0))
}

// randomText returns a text of few different letters, so that substrings occur often,
// with separators, and sometimes long.
func randomText(r *rand.Rand) []byte {
	letters := []string{"a", "b", "ab", "aaa", "\x00", "é", "中", "文"}
	var b []byte
	for range r.IntN(20) + r.IntN(2)*r.IntN(300) {
		b = append(b, letters[r.IntN(len(letters))]...)
	}
	return b
}

func all() bool { return true }

// TestFind_EqualsTextSearch compares Find with a search of the texts, after any
// writes, replacements, removals and merges.
func TestFind_EqualsTextSearch(t *testing.T) {
	r := seeded(t)
	for round := range 30 {
		dir := t.TempDir()
		texts := map[uint64][]byte{}
		var v View
		for n := range 12 {
			path := filepath.Join(dir, fmt.Sprint(n))
			if len(v) > 1 && r.IntN(3) == 0 {
				from := r.IntN(len(v) - 1)
				to := from + 2 + r.IntN(len(v)-from-1)
				s, err := Merge(path, v[from:to], all)
				noErr(t, err)
				v = slices.Concat(v[:from], View{s}, v[to:])
			} else {
				var docs []Doc
				for id := uint64(1 + r.IntN(3)); id < 60; id += uint64(1 + r.IntN(8)) {
					d := Doc{ID: id << (r.IntN(2) * 3)}
					if len(docs) > 0 && d.ID <= docs[len(docs)-1].ID {
						continue
					}
					if r.IntN(5) > 0 {
						d.Text = randomText(r)
					}
					texts[d.ID] = d.Text
					docs = append(docs, d)
				}

				s, err := Write(path, docs)
				noErr(t, err)
				v = append(v, s)
			}
			for range 40 {
				part := bytes.ReplaceAll(randomText(r), []byte{0}, nil)
				part = part[:min(len(part), Length+r.IntN(9))]
				if len(part) < Length {
					continue
				}

				not := uint64(r.IntN(60))
				var want []uint64
				for id, text := range texts {
					if bytes.Contains(text, part) && id != not {
						want = append(want, id)
					}
				}

				got, err := v.Find(string(part), func(id uint64) bool { return id == not })
				noErr(t, err)
				slices.Sort(got)
				slices.Sort(want)
				if !slices.Equal(got, want) {
					t.Fatalf("round %d: %q is found in %v, want %v", round, part, got, want)
				}
			}
		}
	}
}

func TestFind_WithinOneTextOnly(t *testing.T) {
	long := bytes.Repeat([]byte("x"), MaxText)
	copy(long[MaxText-4:], "tail")
	s, err := Write(filepath.Join(t.TempDir(), "s"),
		[]Doc{{1, []byte("one\x00two")}, {2, long}, {3, []byte("ail")}, {4, nil}})
	noErr(t, err)
	for part, want := range map[string][]uint64{
		"one":     {1},
		"two":     {1},
		"net":     nil,
		"e\x00t":  nil,
		"tail":    {2},
		"xxxx":    {2},
		"ail":     {2, 3},
		"tailail": nil,
		"zzz":     nil,
	} {
		got, err := View{s}.Find(part, func(uint64) bool { return false })
		if err != nil || !slices.Equal(got, want) {
			t.Errorf("%q is found in %v, %v, want %v", part, got, err, want)
		}
	}
}

func TestWrite_InvalidTextsLeaveNoFile(t *testing.T) {
	dir := t.TempDir()
	for name, docs := range map[string][]Doc{
		"ids that do not ascend": {{2, nil}, {2, nil}}, "no id": {{0, nil}},
		"too high an id": {{MaxID + 1, nil}},
		"too long":       {{1, make([]byte, MaxText+1)}},
	} {
		if _, err := Write(filepath.Join(dir, "s"), docs); err == nil {
			t.Errorf("%s: no error", name)
		}
	}

	s, err := Write(filepath.Join(t.TempDir(), "s"), []Doc{{1, []byte("text")}})
	noErr(t, err)
	if _, err := Merge(filepath.Join(dir, "m"), []*Segment{s, s}, func() bool {
		return false
	}); err == nil {
		t.Error("merging was not stopped")
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
		t.Errorf("%v is left, %v", left, err)
	}
}

// TestMerge_KeepsFewSegments: a view of many texts has few segments, and few are
// rewritten.
func TestMerge_KeepsFewSegments(t *testing.T) {
	r := seeded(t)
	dir := t.TempDir()
	var v View
	written, id := int64(0), uint64(0)
	for n := range 100 {
		var docs []Doc
		for range 20 {
			id++
			docs = append(docs, Doc{id, fmt.Appendf(nil, "user%d@example.com", r.IntN(1000))})
		}

		s, err := Write(filepath.Join(dir, fmt.Sprint(n)), docs)
		noErr(t, err)
		v = append(v, s)
		if from := v.Due(); from < len(v) {
			m, err := Merge(filepath.Join(dir, fmt.Sprint("m", n)), v[from:], all)
			noErr(t, err)
			v = append(v[:from:from], m)
			written += m.Size()
		}
		if len(v) > 12 {
			t.Errorf("%d segments", len(v))
		}
	}

	if written > 7*v.Size() {
		t.Errorf("%d bytes were written again, %d are there", written, v.Size())
	}
}

// TestMerge_DecodesHitsOneByOne merges texts that repeat a trigram: decoded, their
// hits would take several times the memory of their encoded form.
func TestMerge_DecodesHitsOneByOne(t *testing.T) {
	dir := t.TempDir()
	var v View
	for n := range 4 {
		var docs []Doc
		for id := uint64(n + 1); id < 2000; id += 4 {
			docs = append(docs, Doc{id, bytes.Repeat([]byte("x"), 2000)})
		}
		s, err := Write(filepath.Join(dir, fmt.Sprint(n)), docs)
		noErr(t, err)
		v = append(v, s)
	}

	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	_, err := Merge(filepath.Join(dir, "merged"), v, all)
	noErr(t, err)
	runtime.ReadMemStats(&after)
	if took, most := after.TotalAlloc-before.TotalAlloc, uint64(v.Size())*8; took > most {
		t.Errorf("merging %d bytes allocated %d, want at most %d", v.Size(), took, most)
	}
}

// TestSegment_DamageGivesNoWrongResult flips any bit of a file: the result must be
// right, or an error.
func TestSegment_DamageGivesNoWrongResult(t *testing.T) {
	var docs []Doc
	for id := range uint64(40) {
		docs = append(docs, Doc{id + 1, fmt.Appendf(nil, "person number %d", id)})
	}

	path := filepath.Join(t.TempDir(), "s")
	_, err := Write(path, docs)
	noErr(t, err)
	whole, err := os.ReadFile(path)
	noErr(t, err)
	want, refused := []uint64{18}, 0
	for bit := range 8 * len(whole) {
		harmed := slices.Clone(whole)
		harmed[bit/8] ^= 1 << (bit % 8)
		noErr(t, os.WriteFile(path, harmed, 0o600))
		s, err := Open(path)
		var got []uint64
		if err == nil {
			got, err = View{s}.Find("er 17", func(uint64) bool { return false })
		}
		switch {
		case errors.Is(err, ErrDamaged):
			refused++
		case err != nil || !slices.Equal(got, want):
			t.Fatalf("bit %d: found %v, %v", bit, got, err)
		}
	}

	for _, n := range []int{0, 1, footSize, len(whole) / 2, len(whole) - 1} {
		noErr(t, os.WriteFile(path, whole[:n], 0o600))
		if _, err := Open(path); !errors.Is(err, ErrDamaged) {
			t.Errorf("cut to %d bytes: %v", n, err)
		}
	}

	if refused == 0 {
		t.Error("no damage was seen")
	}
}

func noErr(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
