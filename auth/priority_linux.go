package auth

import "syscall"

// lowerPriority makes the calling thread yield to the others of the program. On
// Linux a nice value belongs to a thread (sched(7)). Where it is refused, hashing
// goes on as it is.
func lowerPriority() {
	_ = syscall.Setpriority(syscall.PRIO_PROCESS, 0, 10)
}
