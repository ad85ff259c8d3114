package web

import (
	"errors"
	"os"
	"time"
)

// A long transfer must keep up a minimum rate: PaceBytes within each paceTime, which is
// 8.7 kB/s. A slower connection would hold memory, a place among the uploads, or the bytes of
// deleted files without benefit.
const (
	PaceBytes = 256 << 10
	paceTime  = 30 * time.Second
)

// pace extends the deadline of one direction of a connection as bytes are transferred.
type pace struct {
	grace time.Duration // paceTime, except in tests
	left  int           // bytes until the deadline is extended
	move  func(deadline time.Time)
}

// newPace starts a transfer now.
func newPace(grace time.Duration, move func(time.Time)) *pace {
	p := &pace{grace: grace, move: move}
	p.passed(0)
	return p
}

// passed counts transferred bytes.
func (p *pace) passed(n int) {
	if p.left -= n; p.left <= 0 {
		p.left = PaceBytes
		p.move(time.Now().Add(p.grace))
	}
}

// TooSlow reports whether err is an expired deadline of a connection.
func TooSlow(err error) bool { return errors.Is(err, os.ErrDeadlineExceeded) }
