package local

import (
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// address returns a path of the socket that is short enough, and a function to call when it is no
// longer needed.
func address(dir string) (path string, done func(), err error) {
	path = filepath.Join(dir, Name)
	if len(path) <= maxPath {
		return path, func() {}, nil
	}
	open, err := os.Open(dir)
	if err != nil {
		return "", nil, err
	}
	return fmt.Sprintf("/proc/self/fd/%d/%s", open.Fd(), Name), func() { open.Close() }, nil
}

// peer returns the process and the user at the other end of a connection.
func peer(conn *net.UnixConn) (pid, uid int, err error) {
	raw, err := conn.SyscallConn()
	if err != nil {
		return 0, 0, err
	}

	var cred *unix.Ucred
	var failed error
	err = raw.Control(func(fd uintptr) {
		cred, failed = unix.GetsockoptUcred(int(fd), unix.SOL_SOCKET, unix.SO_PEERCRED)
	})
	if err == nil {
		err = failed
	}
	if err != nil {
		return 0, 0, err
	}

	return int(cred.Pid), int(cred.Uid), nil
}

// noLogin is the login user ID of a process that no one has started by signing in.
const noLogin = 1<<32 - 1

// loginUser returns the user who signed in on the machine and started a process.
func loginUser(pid int) (uid int, known bool) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/loginuid", pid))
	if err != nil {
		return 0, false
	}
	id, err := strconv.ParseInt(strings.TrimSpace(string(text)), 10, 64)
	return int(id), err == nil && id != noLogin
}
