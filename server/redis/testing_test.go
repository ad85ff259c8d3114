package redis

import (
	"bufio"
	"context"
	"io"
	"net"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/gomodule/redigo/redis"
)

const testPassword = "canary-of-the-target"

// patience is how long a test waits for an event. It is long, so that only an event
// that never comes exceeds it.
const patience = 30 * time.Second

// testServer is a Redis server (Debian package redis-server) started by the test.
type testServer struct {
	t    *testing.T
	addr string
	dir  string
	cmd  *exec.Cmd // nil while it is stopped
}

func startServer(t *testing.T) *testServer {
	t.Helper()
	if _, err := exec.LookPath("redis-server"); err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatal("redis-server is missing")
		}
		t.Skip("redis-server is missing: no server to watch")
	}

	r := &testServer{t: t, dir: t.TempDir()}
	t.Cleanup(r.stop)
	for range 5 { // another process may take the port in between
		l, err := net.Listen("tcp", "127.0.0.1:0")
		must(t, err)
		r.addr = l.Addr().String()
		must(t, l.Close())
		if r.start() {
			return r
		}
	}

	t.Fatal("redis-server does not start")
	return nil
}

// start reports whether the server has started, on the address that it had before.
func (r *testServer) start() bool {
	r.t.Helper()
	_, port, err := net.SplitHostPort(r.addr)
	must(r.t, err)
	r.cmd = exec.Command("redis-server", "--bind", "127.0.0.1", "--port", port, "--requirepass",
		testPassword, "--save", "",
		"--appendonly", "no", "--dir", r.dir, "--logfile", "", "--slowlog-log-slower-than", "0")

	out, err := r.cmd.StdoutPipe()
	must(r.t, err)
	must(r.t, r.cmd.Start())
	lines := bufio.NewScanner(out)
	for lines.Scan() {
		if strings.Contains(lines.Text(), "Ready to accept connections") {
			go io.Copy(io.Discard, out) // ends with the server
			return true
		}
	}

	r.stop()
	return false
}

func (r *testServer) stop() {
	if r.cmd == nil {
		return
	}
	if err := r.cmd.Process.Signal(syscall.SIGTERM); err == nil {
		r.cmd.Wait() // its status is that of a signal
	}
	r.cmd = nil
}

// client connects as the default user.
func (r *testServer) client() redis.Conn {
	r.t.Helper()
	c, err := redis.Dial("tcp", r.addr, redis.DialPassword(testPassword))
	must(r.t, err)
	r.t.Cleanup(func() { c.Close() })
	return c
}

// do runs commands, given as lines of words; they must succeed.
func do(t *testing.T, c redis.Conn, lines ...string) {
	t.Helper()
	for _, line := range lines {
		words := strings.Fields(line)
		var args []any
		for _, w := range words[1:] {
			args = append(args, w)
		}
		if _, err := c.Do(words[0], args...); err != nil {
			t.Fatalf("%s: %v", line, err)
		}
	}
}

// urlOf returns the URL of a target at an address, signed in as the default user.
func urlOf(addr string) string { return "redis://:" + testPassword + "@" + addr }

func newTestPoller(t *testing.T, texts ...string) *Poller {
	t.Helper()
	targets, err := ParseTargets(texts)
	must(t, err)
	return NewPoller(targets)
}

// steppedWatch is a watcher whose polls are run by the test.
type steppedWatch struct {
	*watcher
	t      *testing.T
	events []Event
}

func newStepped(t *testing.T, url string) *steppedWatch {
	t.Helper()
	p := newTestPoller(t, "it="+url)
	s := &steppedWatch{t: t}
	s.watcher = p.watch(&p.targets[0], func(e Event) { s.events = append(s.events, e) })
	return s
}

// polled runs a poll and returns its events.
func (s *steppedWatch) polled() []Event {
	s.t.Helper()
	s.events = nil
	s.poll(s.t.Context())
	return s.events
}

// refused runs a poll that must fail, and returns the reason.
func (s *steppedWatch) refused() string {
	s.t.Helper()
	s.down = false
	if all := s.polled(); len(all) == 1 && all[0].State == "down" {
		return all[0].Error
	}
	s.t.Errorf("not one event of being down: %+v", s.events)
	return ""
}

// eventsOf returns the events of a type.
func eventsOf(typ string, all []Event) (picked []Event) {
	for _, e := range all {
		if e.Type == typ {
			picked = append(picked, e)
		}
	}
	return picked
}

// runningPoller is a running poller with short intervals.
type runningPoller struct {
	t      *testing.T
	events chan Event
	cancel func()
	ended  chan struct{}
}

func runPoller(t *testing.T, p *Poller) *runningPoller {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	r := &runningPoller{
		t:      t,
		events: make(chan Event, 100),
		cancel: cancel,
		ended:  make(chan struct{}),
	}
	go func() {
		defer close(r.ended)
		p.Run(ctx, func(e Event) {
			select {
			case r.events <- e:
			case <-ctx.Done():
			}
		})
	}()

	t.Cleanup(r.end)
	return r
}

// next waits for an event of a connection and type.
func (r *runningPoller) next(connection, typ string) Event {
	r.t.Helper()
	late := time.After(patience)
	for {
		select {
		case e := <-r.events:
			if e.Connection == connection && e.Type == typ {
				return e
			}
		case <-late:
			r.t.Fatalf("no event %s of %s", typ, connection)
		}
	}
}

// end stops the poller and checks that no goroutine of it is left.
func (r *runningPoller) end() {
	r.t.Helper()
	r.cancel()
	select {
	case <-r.ended:
	case <-time.After(patience):
		r.t.Fatal("the poller does not end")
	}

	buffer := make([]byte, 1<<20)
	for late := time.Now().Add(patience); ; runtime.Gosched() {
		stacks := string(buffer[:runtime.Stack(buffer, true)])
		if !strings.Contains(stacks, "(*watcher)") && !strings.Contains(stacks, "gomodule/redigo") {
			return
		}
		if time.Now().After(late) {
			r.t.Fatalf("a goroutine is left behind:\n%s", stacks)
		}
	}
}
func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
