package limit

import (
	"errors"
	"os"
	"time"
)

// A long transfer must keep up a minimum rate: PaceBytes within each PaceTime, which is
// 8.7 kB/s. A slower connection would hold memory, a place among the uploads, or the bytes of
// deleted files without benefit.
const (
	PaceBytes = 256 << 10
	PaceTime  = 30 * time.Second
)

// Pace extends the deadline of one direction of a connection as bytes are transferred.
type Pace struct {
	Grace time.Duration // PaceTime, except in tests
	left  int           // bytes until the deadline is extended
	move  func(deadline time.Time)
}

// NewPace starts a transfer now.
func NewPace(grace time.Duration, move func(time.Time)) *Pace {
	p := &Pace{Grace: grace, move: move}
	p.Passed(0)
	return p
}

// Passed counts transferred bytes.
func (p *Pace) Passed(n int) {
	if p.left -= n; p.left <= 0 {
		p.left = PaceBytes
		p.move(time.Now().Add(p.Grace))
	}
}

// TooSlow reports whether err is an expired deadline of a connection.
func TooSlow(err error) bool { return errors.Is(err, os.ErrDeadlineExceeded) }
