package server

import (
	"errors"
	"os"
	"time"
)

// A transfer that may take long has to keep up a rate: paceBytes within each
// paceTime, which is 8.7 kB/s. A connection that cannot do that holds memory, a
// place among the uploads, or the bytes of deleted files, for nobody's good.
const (
	paceBytes = 256 << 10
	paceTime  = 30 * time.Second
)

// pace moves the deadline of one direction of a connection as bytes pass.
type pace struct {
	grace time.Duration // paceTime, but for tests
	left  int           // bytes until the deadline moves
	move  func(deadline time.Time)
}

// newPace begins a transfer now.
func newPace(grace time.Duration, move func(time.Time)) *pace {
	p := &pace{grace: grace, move: move}
	p.passed(0)
	return p
}

// passed is told of bytes that have been transferred.
func (p *pace) passed(n int) {
	if p.left -= n; p.left <= 0 {
		p.left = paceBytes
		p.move(time.Now().Add(p.grace))
	}
}

// tooSlow reports whether an error of a connection is that of a deadline.
func tooSlow(err error) bool { return errors.Is(err, os.ErrDeadlineExceeded) }
