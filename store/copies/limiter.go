package copies

import (
	"context"
	"sync"
	"time"
)

// Limiter slows bytes down to a rate, and leaves time to others: a copy is read, hashed, encrypted
// and written as fast as the machine can, and requests wait for the same processors and the same disk.
// So after each paceBytes it pauses for as long as they took. Several goroutines share its rate.
type Limiter struct {
	rate int64 // bytes a second; 0 for no limit

	mu   sync.Mutex // guards the fields below
	next time.Time

	began time.Time // end of the last pause
	bytes int       // bytes since then
}

const (
	paceBytes = 512 << 10
	maxPause  = 10 * time.Millisecond // if they took longer, a network was waited for
)

// NewLimiter returns a limiter to a number of bytes a second; 0 for no limit.
func NewLimiter(rate int64) *Limiter { return &Limiter{rate: rate, began: time.Now()} }

// Most returns how many bytes can be sent at once: those of a tenth of a second, or of a pause.
func (l *Limiter) Most() int {
	if l.rate == 0 {
		return paceBytes
	}
	return int(max(1, min(l.rate/10, paceBytes)))
}

// Wait waits until n bytes more may have been sent, or ctx ends.
func (l *Limiter) Wait(ctx context.Context, n int) {
	pause := l.pause(n)
	if pause <= 0 {
		return
	}
	timer := time.NewTimer(pause)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.began, l.bytes = time.Now(), 0
}

// pause counts n bytes, and returns how long to wait after them.
func (l *Limiter) pause(n int) (pause time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := time.Now()
	if l.bytes += n; l.bytes >= paceBytes {
		pause = min(now.Sub(l.began), maxPause)
	}
	if l.rate > 0 {
		if l.next.Before(now) {
			l.next = now
		}
		l.next = l.next.Add(time.Duration(float64(n) / float64(l.rate) * float64(time.Second)))
		pause = max(pause, l.next.Sub(now))
	}
	return pause
}
