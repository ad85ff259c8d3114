package live_test

import (
	"slices"
	"sync"
	"testing"

	"reeve/server/live"
)

func TestTable_HasWhatWasAddedAndNotRemoved(t *testing.T) {
	t.Parallel()
	var table live.Table[int]
	var kept []int
	for i := range 500 {
		place := table.Add(&i)
		if i%2 == 0 {
			place.Remove()
			continue
		}
		kept = append(kept, i)
	}

	var got []int
	for _, v := range table.All() {
		got = append(got, *v)
	}
	slices.Sort(got)
	if !slices.Equal(got, kept) {
		t.Errorf("got %v, want %v", got, kept)
	}
}

func TestTable_FullGoesOn(t *testing.T) {
	t.Parallel()
	var table live.Table[int]
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			for i := range 10_000 {
				place := table.Add(&i)
				if i%3 == 0 {
					defer place.Remove()
				}
			}
		})
	}
	wg.Wait()
	if n := len(table.All()); n == 0 || n > 1024 {
		t.Errorf("%d values", n)
	}
}
