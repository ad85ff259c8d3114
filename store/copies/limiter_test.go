package copies

import (
	"bytes"
	"context"
	"io"
	"testing"
	"testing/synctest"
	"time"
)

// TestLimiter_Rate reads bytes at a rate and at twice as much, by a clock of its own.
func TestLimiter_Rate(t *testing.T) {
	took := func(rate int64) (took time.Duration) {
		synctest.Test(t, func(t *testing.T) {
			begun := time.Now()
			in := &counted{ctx: t.Context(), r: bytes.NewReader(make([]byte, 10<<20)), limit: NewLimiter(rate)}
			if n, err := io.Copy(io.Discard, in); n != 10<<20 || err != nil {
				t.Error(n, err)
			}
			took = time.Since(begun)
		})
		return took
	}
	once, twice := took(1<<20), took(2<<20)
	if ratio := float64(once) / float64(twice); ratio < 1.99 || ratio > 2.01 {
		t.Errorf("%s at a rate, %s at twice as much", once, twice)
	}
	if once < 9900*time.Millisecond || once > 10100*time.Millisecond {
		t.Errorf("10 MiB at 1 MiB a second take %s", once)
	}
	if unlimited := took(0); unlimited > once/10 {
		t.Errorf("without a limit, they take %s", unlimited)
	}
}

// TestLimiter_Ends ends a wait with its context.
func TestLimiter_Ends(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		in := &counted{ctx: ctx, r: bytes.NewReader(make([]byte, 1000)), limit: NewLimiter(1)}
		begun := time.Now()
		if _, err := io.Copy(io.Discard, in); err != context.DeadlineExceeded {
			t.Error(err)
		}
		if took := time.Since(begun); took > 2*time.Second {
			t.Errorf("it ends after %s", took)
		}
	})
}

// TestCopy_Bandwidth makes copies at two rates: none is sent faster than it may be.
func TestCopy_Bandwidth(t *testing.T) {
	in, target := newInstallation(t, 1), directory(t)
	for _, rate := range []int64{1 << 20, 2 << 20} {
		r := in.repository(target, Options{Bandwidth: rate})
		begun := time.Now()
		c := in.copy(r)
		least := time.Duration(float64(c.Size) / float64(rate) * float64(time.Second) * 9 / 10)
		if took := time.Since(begun); took < least {
			t.Errorf("%d bytes at %d a second take %s", c.Size, rate, took)
		}
	}
}
