package auth

import (
	"bytes"
	"os"
	"strconv"
	"strings"
)

// TakeVariable returns an environment variable and removes it from the environment of
// the process, so that child processes do not inherit it and, on Linux,
// /proc/PID/environ no longer shows its value.
func TakeVariable(name string) string {
	value := os.Getenv(name)
	os.Unsetenv(name) // fails only for an invalid name
	if value != "" {
		eraseVariable(name)
	}
	return value
}

// eraseVariable overwrites the value in the memory that the kernel shows as
// /proc/PID/environ, which Unsetenv does not change. Where that is not possible, the
// value stays readable for the same user of the machine and for root.
func eraseVariable(name string) {
	shown, err := os.ReadFile("/proc/self/environ")
	if err != nil {
		return // not Linux
	}

	stat, err := os.ReadFile("/proc/self/stat")
	if err != nil {
		return
	}
	// proc_pid_stat(5): the program's name is in parentheses and may contain spaces;
	// the state, field 3, follows it. Field 50 is the address of the environment.
	fields := strings.Fields(string(stat[bytes.LastIndexByte(stat, ')')+1:]))
	const envStart = 50 - 3
	if len(fields) <= envStart {
		return
	}

	at, err := strconv.ParseInt(fields[envStart], 10, 64)
	if err != nil || at == 0 {
		return
	}

	memory, err := os.OpenFile("/proc/self/mem", os.O_RDWR, 0)
	if err != nil {
		return
	}

	defer memory.Close() // nothing is buffered
	for _, entry := range bytes.SplitAfter(shown, []byte{0}) {
		if value, ok := bytes.CutPrefix(entry, []byte(name+"=")); ok {
			place := make([]byte, len(entry))
			if _, err := memory.ReadAt(place, at); err != nil || !bytes.Equal(place, entry) {
				return // the environment has moved
			}
			if _, err := memory.WriteAt(make([]byte, len(value)), at+int64(len(entry)-len(value))); err != nil {
				return
			}
		}
		at += int64(len(entry))
	}
}
