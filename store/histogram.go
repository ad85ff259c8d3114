package store

import (
	"slices"
	"sync/atomic"
)

// Histogram counts values by the range they fall in, without a lock. Values are
// whole numbers: nanoseconds, or things counted.
type Histogram struct {
	bounds []int64 // ascending, the upper ends of the ranges; the last range has none
	counts []atomic.Uint64
	sum    atomic.Int64
}

// NewHistogram has one range up to each bound, and one beyond the last.
func NewHistogram(bounds ...int64) *Histogram {
	return &Histogram{bounds: bounds, counts: make([]atomic.Uint64, len(bounds)+1)}
}

// Add counts a value.
func (h *Histogram) Add(v int64) {
	i := 0
	for i < len(h.bounds) && v > h.bounds[i] {
		i++
	}
	h.counts[i].Add(1)
	h.sum.Add(v)
}

// Distribution is what a Histogram has counted by a moment.
type Distribution struct {
	Bounds []int64
	Counts []uint64 // one more than Bounds
	Sum    int64
}

// Count is how many values there were.
func (d Distribution) Count() (n uint64) {
	for _, c := range d.Counts {
		n += c
	}
	return n
}

// Read returns what was counted so far. A value that is just being added may be
// in Counts and not yet in Sum.
func (h *Histogram) Read() Distribution {
	d := Distribution{Bounds: slices.Clone(h.bounds), Sum: h.sum.Load()}
	for i := range h.counts {
		d.Counts = append(d.Counts, h.counts[i].Load())
	}
	return d
}
