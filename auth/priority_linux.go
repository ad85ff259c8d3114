package auth

import "syscall"

// lowerPriority lowers the priority of the calling thread below the program's other
// threads. On Linux a nice value belongs to a thread (sched(7)). If the system refuses,
// hashing continues at the normal priority.
func lowerPriority() {
	_ = syscall.Setpriority(syscall.PRIO_PROCESS, 0, 10)
}
