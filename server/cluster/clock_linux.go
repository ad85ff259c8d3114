package cluster

import (
	"fmt"
	"os"
	"strings"
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

// placeOf names a directory of this machine since its last start; "" if it is unknown. A copy of the directory has
// another name, also that of a whole disk.
func placeOf(dir string) string {
	boot, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil {
		return ""
	}
	var found unix.Stat_t
	if err := unix.Stat(dir, &found); err != nil {
		return ""
	}
	return fmt.Sprintf("%s %d %d", strings.TrimSpace(string(boot)), found.Dev, found.Ino)
}
