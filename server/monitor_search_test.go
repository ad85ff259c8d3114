package server

import (
	"math"
	"testing"
	"time"
)

// asked is a search for what a question asks for.
func asked(t *testing.T, of anyOf) *search {
	t.Helper()
	s := &search{high: 1 << 62, to: 10}
	must(t, s.where(&question{anyOf: []anyOf{of}}))
	return s
}

func TestALongestDurationFindsNothing(t *testing.T) {
	for _, ms := range []int64{2001, maxDurationMS, maxDurationMS + 1, math.MaxInt64} {
		s := asked(t, anyOf{column: "min_duration_ms", numbers: []int64{ms}})
		if s.matches(marks{duration: 2 * time.Second}, nil) {
			t.Errorf("2 s are %d ms or more", ms)
		}
	}
	if s := asked(t, anyOf{column: "min_duration_ms", numbers: []int64{2000}}); !s.matches(marks{duration: 2 * time.Second}, nil) {
		t.Error("2 s are not 2000 ms")
	}
}
