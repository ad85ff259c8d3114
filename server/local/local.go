// Package local connects commands with the server that runs on the same data directory: by a Unix
// socket in it, which only the user of the server and root can use. Where programs cannot learn
// who is at the other end of such a socket, it is an address of the loopback interface with a
// secret, in a file that only that user can read.
//
// The server calls Listen, commands call Dial, and Caller is who has sent a request.
package local

import (
	"context"
	"net"
	"net/http"
	"os"
	"os/user"
	"path/filepath"
	"strconv"
)

// Name is the name of the socket, or of the file, in the data directory.
const Name = "reeve.sock"

// caller is implemented by the connections of Listen and Pipe.
type caller interface{ Caller() string }

type callerKey struct{}

// ConnContext is the field of http.Server with which Caller finds who has sent a request.
func ConnContext(ctx context.Context, conn net.Conn) context.Context {
	if c, ok := conn.(caller); ok {
		return WithCaller(ctx, c.Caller())
	}
	return ctx
}

// WithCaller returns a context of requests that a user of the machine has sent.
func WithCaller(ctx context.Context, name string) context.Context {
	return context.WithValue(ctx, callerKey{}, name)
}

// Caller returns the name of the user of the machine who has sent a request by a local connection;
// "" if it came by another one. If it was root, the request says who has signed in: a service may not see the
// processes of root, which may do everything anyway.
func Caller(r *http.Request) string {
	name, _ := r.Context().Value(callerKey{}).(string)
	if name != "root" {
		return name
	}
	if login, err := user.LookupId(r.Header.Get(loginHeader)); err == nil {
		return login.Username
	}
	return name
}

const loginHeader = "Reeve-Login"

// SetLogin adds to a request the ID of the user who has signed in on the machine and started this process, if
// the system knows.
func SetLogin(h http.Header) {
	if id, ok := loginUser(os.Getpid()); ok {
		h.Set(loginHeader, strconv.Itoa(id))
	}
}

// startedBy is the name of the user who has started this process, if Divide has changed its user; else "".
var startedBy string

// Self returns the name of the user of the machine who runs this process.
func Self() string {
	if startedBy != "" {
		return startedBy
	}
	return nameOf(os.Getpid(), os.Getuid())
}

// nameOf returns the name of the user who runs a process: the one who signed in on the machine,
// where the system knows, so that it remains known after sudo.
func nameOf(pid, uid int) string {
	if login, ok := loginUser(pid); ok {
		uid = login
	}
	if u, err := user.LookupId(strconv.Itoa(uid)); err == nil {
		return u.Username
	}
	if uid < 0 { // Windows has no numbers for users
		if u, err := user.Current(); err == nil {
			return filepath.Base(u.Username)
		}
	}
	return strconv.Itoa(uid)
}
