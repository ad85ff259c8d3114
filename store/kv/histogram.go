package kv

import (
	"slices"
	"sync/atomic"
)

// Histogram counts values by range, without a lock. Values are integers, such as nanoseconds.
type Histogram struct {
	bounds []int64 // upper bounds of the ranges, inclusive, ascending; the last range has none
	counts []atomic.Uint64
	sum    atomic.Int64
}

// NewHistogram returns a histogram with one range up to each bound, inclusive, and one beyond
// the last. The bounds must be ascending.
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

// Distribution is the state of a Histogram.
type Distribution struct {
	Bounds []int64
	Counts []uint64 // one per bound, and one beyond the last
	Sum    int64    // sum of the values
}

// Count returns the number of values.
func (d Distribution) Count() (n uint64) {
	for _, c := range d.Counts {
		n += c
	}
	return n
}

// Read returns the current state. A value that is being added at the same time may be in Counts
// and not in Sum.
func (h *Histogram) Read() Distribution {
	d := Distribution{Bounds: slices.Clone(h.bounds), Sum: h.sum.Load()}
	for i := range h.counts {
		d.Counts = append(d.Counts, h.counts[i].Load())
	}
	return d
}
