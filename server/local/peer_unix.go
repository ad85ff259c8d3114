//go:build unix && !linux

package local

import (
	"fmt"
	"net"
	"path/filepath"

	"golang.org/x/sys/unix"
)

func address(dir string) (path string, done func(), err error) {
	path = filepath.Join(dir, Name)
	if len(path) > maxPath {
		return "", nil, errLongPath(path)
	}
	return path, func() {}, nil
}

// peer returns the user at the other end of a connection. The process is unknown.
func peer(conn *net.UnixConn) (pid, uid int, err error) {
	raw, err := conn.SyscallConn()
	if err != nil {
		return 0, 0, err
	}

	var failed error
	err = raw.Control(func(fd uintptr) {
		var cred *unix.Xucred
		if cred, failed = unix.GetsockoptXucred(int(fd), unix.SOL_LOCAL, unix.LOCAL_PEERCRED); failed == nil {
			uid = int(cred.Uid)
		}
	})
	if err == nil {
		err = failed
	}

	return 0, uid, err
}

func loginUser(int) (uid int, known bool) { return 0, false }

// errLongPath is the error of systems that give an open directory no short path.
func errLongPath(path string) error {
	return fmt.Errorf("the path %s is longer than %d bytes, which is too long for a socket", path,
		maxPath)
}
