//go:build unix

package local_test

import (
	"context"
	"io"
	"net"
	"net/http/httptest"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"reeve/server/local"
)

// dialVariable makes the test program dial the directory in it and report what it reads.
const dialVariable = "REEVE_TEST_DIAL"

func TestMain(m *testing.M) {
	if dir := os.Getenv(dialVariable); dir != "" {
		os.Exit(dialAs(dir))
	}
	os.Exit(m.Run())
}

func dialAs(dir string) int {
	conn, err := local.Dial(context.Background(), dir)
	if err != nil {
		io.WriteString(os.Stdout, "no connection: "+err.Error())
		return 0
	}
	io.Copy(os.Stdout, conn)
	return 0
}

// TestSocket_NamesCaller has short and long paths, and a socket that a killed process has left.
func TestSocket_NamesCaller(t *testing.T) {
	t.Parallel()
	long := filepath.Join(t.TempDir(), strings.Repeat("long", 40))
	for _, dir := range []string{t.TempDir(), long} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			t.Fatal(err)
		}
		for range 2 { // the first one is left
			l, err := local.Listen(dir)
			if err != nil {
				t.Fatal(err)
			}
			serve(t, l)
		}

		got := ask(t, func(ctx context.Context) (net.Conn, error) { return local.Dial(ctx, dir) })
		if got != "caller "+local.Self() || local.Self() == "" {
			t.Errorf("%s: got %q, want %q", dir, got, local.Self())
		}
		info, err := os.Stat(filepath.Join(dir, local.Name))
		if err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%v, %v", info.Mode(), err)
		}
	}
}

func TestSocket_ClosedIsRemoved(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	l, err := local.Listen(dir)
	if err != nil {
		t.Fatal(err)
	}
	if err := l.Close(); err != nil {
		t.Error(err)
	}
	if _, err := local.Dial(t.Context(), dir); err == nil {
		t.Error("the socket is still there")
	}
	if left, _ := os.ReadDir(dir); len(left) != 0 {
		t.Errorf("it left %v", left)
	}
}

// TestSocket_OtherUserIsClosed makes the socket reachable for another user, who gets nothing.
func TestSocket_OtherUserIsClosed(t *testing.T) {
	t.Parallel()
	if os.Geteuid() != 0 {
		t.Skip("only root can start a process of another user")
	}
	dir, err := os.MkdirTemp("/tmp", "reeve-local-*")
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(dir)
	l, err := local.Listen(dir)
	if err != nil {
		t.Fatal(err)
	}

	defer l.Close()
	accepted := make(chan struct{}, 2)
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			io.WriteString(conn, "hello")
			conn.Close()
			accepted <- struct{}{}
		}
	}()
	program := filepath.Join(dir, "program") // where that user can read it
	copyFile(t, os.Args[0], program)
	for _, path := range []string{dir, filepath.Join(dir, local.Name)} {
		if err := os.Chmod(path, 0o777); err != nil {
			t.Fatal(err)
		}
	}

	for _, c := range []struct {
		uid  uint32
		want string
	}{{0, "hello"}, {65534, ""}} {
		cmd := exec.Command(program)
		cmd.Dir, cmd.Env = "/", []string{dialVariable + "=" + dir}
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: c.uid, Gid: c.uid}}
		out, err := cmd.Output()
		if err != nil || string(out) != c.want {
			t.Errorf("user %d got %q, want %q (%v)", c.uid, out, c.want, err)
		}
	}
	<-accepted
	select {
	case <-accepted:
		t.Error("the other user's connection was accepted")
	case <-time.After(time.Millisecond): // its process has ended
	}
}

func copyFile(t *testing.T, from, to string) {
	t.Helper()
	b, err := os.ReadFile(from)
	if err == nil {
		err = os.WriteFile(to, b, 0o755)
	}
	if err != nil {
		t.Fatal(err)
	}
}

func TestPipe_NamesCaller(t *testing.T) {
	t.Parallel()
	pipe := local.NewPipe()
	serve(t, pipe)
	if got := ask(t, pipe.Dial); got != "caller "+local.Self() {
		t.Errorf("got %q", got)
	}
	pipe.Close()
	pipe.Close()
	if _, err := pipe.Dial(t.Context()); err == nil {
		t.Error("a closed pipe connects")
	}
}

// TestCaller_NoneByNetwork checks that requests of other connections have no caller.
func TestCaller_NoneByNetwork(t *testing.T) {
	t.Parallel()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	serve(t, l)
	got := ask(t, func(ctx context.Context) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, "tcp", l.Addr().String())
	})
	if got != "caller " {
		t.Errorf("got %q", got)
	}
}

// TestCaller_LoginBehindRoot: only root can say who has signed in.
func TestCaller_LoginBehindRoot(t *testing.T) {
	t.Parallel()
	self, err := user.LookupId("1")
	if err != nil {
		t.Skip("this system has no user 1: ", err)
	}
	for _, test := range []struct{ caller, login, want string }{
		{"root", self.Uid, self.Username},
		{"root", "", "root"},
		{"root", "999999", "root"},
		{"root", "../1", "root"},
		{"alice", self.Uid, "alice"},
		{"", self.Uid, ""},
	} {
		r := httptest.NewRequest("GET", "/", nil).WithContext(local.WithCaller(t.Context(), test.caller))
		r.Header.Set("Reeve-Login", test.login)
		if got := local.Caller(r); got != test.want {
			t.Errorf("%+v: %q", test, got)
		}
	}
}
