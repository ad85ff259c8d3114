package backup

import (
	"testing"
	"time"
)

// TestAfter_NextSlot compares the next time of a copy with a search minute by minute.
func TestAfter_NextSlot(t *testing.T) {
	t.Parallel()
	last := time.Date(2026, 3, 27, 20, 17, 3, 5, time.Local)
	for hour := range 24 {
		for _, hourly := range []bool{false, true} {
			want := last.Truncate(time.Minute).Add(time.Minute)
			for want.Minute() != 0 || !hourly && want.Hour() != hour {
				want = want.Add(time.Minute)
			}
			if got := after(last, hour, hourly); !got.Equal(want) {
				t.Errorf("hour %d, hourly %v: %v, want %v", hour, hourly, got, want)
			}
		}
	}
}
