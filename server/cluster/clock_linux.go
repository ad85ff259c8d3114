package cluster

import (
	"time"

	"golang.org/x/sys/unix"
)

// sinceBoot is a clock that also runs while the machine sleeps.
func sinceBoot() time.Duration {
	var t unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_BOOTTIME, &t); err != nil {
		panic(err) // every Linux has this clock
	}
	return time.Duration(t.Nano())
}
