package e2e

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"
)

// supervisor is the notify socket of a service manager.
type supervisor struct {
	path string
	said chan string
}

func newSupervisor(t *testing.T) *supervisor {
	t.Helper()
	if runtime.GOOS != "linux" {
		t.Skip("systemd is on Linux only")
	}

	s := &supervisor{path: filepath.Join(t.TempDir(), "notify"), said: make(chan string, 1024)}
	conn, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Name: s.path, Net: "unixgram"})
	if err != nil {
		t.Fatal(err)
	}

	t.Cleanup(func() { conn.Close() })
	go func() {
		for b := make([]byte, 4096); ; {
			n, err := conn.Read(b)
			if err != nil {
				return
			}
			s.said <- string(b[:n])
		}
	}()

	return s
}

// hears waits for a message that begins with a text.
func (s *supervisor) hears(t *testing.T, text string) string {
	t.Helper()
	for end := time.After(patience); ; {
		select {
		case said := <-s.said:
			if strings.HasPrefix(said, text) {
				return said
			}
		case <-end:
			t.Fatalf("the supervisor does not hear %s", text)
		}
	}
}

func TestService_ReportsToSupervisor(t *testing.T) {
	t.Parallel()
	s := newSupervisor(t)
	cmd := program(t, "serve", "--listen", "127.0.0.1:0", "--data", t.TempDir())
	cmd.Env = append(cmd.Env, "NOTIFY_SOCKET="+s.path, "WATCHDOG_USEC=200000")
	p := begin(t, cmd)
	s.hears(t, "EXTEND_TIMEOUT_USEC=")
	if said := s.hears(t, "READY=1"); !strings.Contains(said, "\nSTATUS=serving http://127.0.0.1:") {
		t.Errorf("it is told %q", said)
	}

	p.ready()
	s.hears(t, "WATCHDOG=1")
	s.hears(t, "WATCHDOG=1")
	p.signal(syscall.SIGTERM)
	s.hears(t, "STOPPING=1")
	p.wait()
}

// TestService_SlowStart delays what a start waits for on its disk: while it migrates data of an older
// version, verifies data, and completes a restore, it asks the supervisor for more time again and again.
func TestService_SlowStart(t *testing.T) {
	t.Parallel()
	sound := t.TempDir()
	start(t, sound).stop()
	for name, c := range map[string]struct {
		prepare func(t *testing.T) (dir string)
		fault   string
		on      string // file that the fault is on; "" for all
		after   func(t *testing.T, p *process, dir string)
	}{
		"migration": {
			func(t *testing.T) string {
				dir := t.TempDir()
				if out, err := exec.Command("tar", "-xzf", "../../store/testdata/schema-19.tar.gz", "-C", dir).CombinedOutput(); err != nil {
					t.Fatalf("%v: %s", err, out)
				}
				return dir
			},
			"fdatasync:delay_enter=600000000", "",
			func(t *testing.T, p *process, dir string) {
				if _, err := os.Stat(filepath.Join(dir, "data.db.schema-19")); err != nil {
					t.Errorf("nothing was migrated: %v", err)
				}
				begun := p.awaits(`is being migrated; the server starts after that"`)
				if ended := p.awaits(`"the data was migrated"`); !regexp.MustCompile(`"schema":19,"to_schema":\d+,"records":[1-9]`).MatchString(begun) ||
					!regexp.MustCompile(`"schema":\d+,"to_schema":\d+,"records":[1-9]\d*,`).MatchString(ended) {
					t.Errorf("the log says %s%s", begun, ended)
				}
			},
		},
		"verification": {
			func(t *testing.T) string { return copyDir(t, sound) },
			"pread64:delay_enter=600000000", "data.db",
			func(t *testing.T, p *process, dir string) {
				if strings.Contains(p.log.String(), "migrated") {
					t.Errorf("the log says %s", &p.log)
				}
			},
		},
		"restore": {
			interruptedRestore,
			"fdatasync,fsync:delay_enter=600000000", "",
			func(t *testing.T, p *process, dir string) {
				if _, err := os.Stat(filepath.Join(dir, "restore.ready")); !os.IsNotExist(err) {
					t.Errorf("the restore was not completed: %v", err)
				}
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, dir := newSupervisor(t), c.prepare(t)
			cmd := program(t, "serve", "--listen", "127.0.0.1:0", "--data", dir)
			cmd.Env = append(cmd.Env, "NOTIFY_SOCKET="+s.path)
			p := begin(t, heldBack(cmd))
			var paths []string
			if c.on != "" {
				paths = []string{filepath.Join(dir, c.on)}
			}
			takeBack := inject(t, p, c.fault, paths...)
			p.signal(syscall.SIGCONT)
			for range 3 {
				if said := s.hears(t, ""); !strings.HasPrefix(said, "EXTEND_TIMEOUT_USEC=") {
					t.Fatalf("it says %q", said)
				}
			}
			takeBack()
			s.hears(t, "READY=1")
			p.ready()
			c.after(t, p, dir)
			p.stop()
		})
	}
}

// interruptedRestore returns a directory in which a restore was killed after it was valid, and before all
// of its moves.
func interruptedRestore(t *testing.T) string {
	t.Helper()
	data, backup := t.TempDir(), filepath.Join(t.TempDir(), "b.tar")
	start(t, data).stop()
	if r := run(t, "backup", "now", backup, "--data", data); r.code != 0 {
		t.Fatalf("%+v", r)
	}
	for rename := 1; rename < 30; rename++ {
		dir := copyDir(t, data)
		p := begin(t, heldBack(program(t, "restore", backup, "--data", dir)))
		inject(t, p, fmt.Sprintf("rename,renameat,renameat2:signal=KILL:when=%d", rename))
		p.signal(syscall.SIGCONT)
		p.wait()
		if _, err := os.Stat(filepath.Join(dir, "restore.ready")); err == nil {
			return dir
		}
	}
	t.Fatal("no kill has left an unfinished restore")
	return ""
}

// TestService_SlowDisk delays each synchronization of a server: while a write waits, it still says that
// it is alive.
func TestService_SlowDisk(t *testing.T) {
	t.Parallel()
	s := newSupervisor(t)
	cmd := program(t, "serve", "--listen", "127.0.0.1:0", "--data", t.TempDir())
	cmd.Env = append(cmd.Env, "NOTIFY_SOCKET="+s.path, "WATCHDOG_USEC=200000")
	p := begin(t, cmd)
	p.ready()
	c := signedIn(t, p)
	takeBack := inject(t, p, "fdatasync,fsync:delay_enter=500000")
	written := make(chan *answer, 1)
	go func() {
		a, err := c.do("POST", "/admin/dept", `{"name":"Slow"}`)
		if err != nil {
			t.Error(err)
			a = &answer{}
		}
		written <- a
	}()
	alive := 0
	for waiting := true; waiting; {
		select {
		case said := <-s.said:
			if said == "WATCHDOG=1" {
				alive++
			}
		case a := <-written:
			if waiting = false; a.status != 200 {
				t.Errorf("the write answers %d %s", a.status, a.raw)
			}
		}
	}
	takeBack()
	if alive < 3 { // five times in the half second of one synchronization
		t.Errorf("it has said %d times that it is alive while a write waited", alive)
	}
	p.stop()
}

// activated starts a server with the socket of a listener, as systemd does.
func activated(t *testing.T, dir string, socket *os.File, words ...string) *process {
	t.Helper()
	cmd := program(t, append([]string{"serve", "--data", dir}, words...)...)
	cmd.Args = append([]string{"sh", "-c", `LISTEN_PID=$$ exec "$0" "$@"`, cmd.Path}, cmd.Args[1:]...)
	cmd.Path = "/bin/sh"
	cmd.Env = append(cmd.Env, "LISTEN_FDS=1")
	cmd.ExtraFiles = []*os.File{socket}
	p := begin(t, cmd)
	p.ready()
	return p
}

// direct is a client with one connection, which sends each request once: an http.Transport would repeat
// one on a connection that was closed, and hide that. It obeys Connection: close.
type direct struct {
	address string
	fresh   bool // whether it takes a new connection for each request
	conn    net.Conn
	in      *bufio.Reader
	served  int // requests on the connection
}

// do sends a request with headers, and returns the response with its body. An error says how many
// requests the connection had served before.
func (d *direct) do(method, path, body string, headers ...string) (status int, closes bool, err error) {
	defer func() {
		if err != nil {
			err = fmt.Errorf("after %d requests on the connection: %w", d.served, err)
			d.close()
		}
	}()
	if d.conn == nil {
		if d.conn, err = net.DialTimeout("tcp", d.address, patience); err != nil {
			return 0, false, err
		}
		d.in, d.served = bufio.NewReader(d.conn), 0
	}
	d.conn.SetDeadline(time.Now().Add(patience))
	r, err := http.NewRequest(method, "http://"+d.address+path, strings.NewReader(body))
	if err != nil {
		return 0, false, err
	}
	for i := 0; i < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	r.Close = d.fresh
	if err := r.Write(d.conn); err != nil {
		return 0, false, err
	}
	resp, err := http.ReadResponse(d.in, r)
	if err != nil {
		return 0, false, err
	}
	if _, err := io.Copy(io.Discard, resp.Body); err != nil {
		return 0, false, err
	}
	if d.served++; resp.Close {
		d.close()
	}
	return resp.StatusCode, resp.Close, nil
}

func (d *direct) close() {
	if d.conn != nil {
		d.conn.Close()
		d.conn = nil
	}
}

// TestSocketActivation_RestartsLoseNothing restarts the server under load. New connections wait in
// the socket, which the supervisor holds, and a connection that is kept gets a last response that
// closes it: no request of any client fails, and none is sent twice. Each record is made once.
func TestSocketActivation_RestartsLoseNothing(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("systemd is on Linux only")
	}

	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}

	defer l.Close()
	socket, err := l.(*net.TCPListener).File()
	if err != nil {
		t.Fatal(err)
	}

	defer socket.Close()
	dir, url := t.TempDir(), "http://"+l.Addr().String()
	p := activated(t, dir, socket, "REEVE_SERVER__DRAIN=1s")
	var stop atomic.Bool
	var asked, failed, kept atomic.Int64 // requests, those without the right response, and kept connections that were closed
	var clients sync.WaitGroup
	p.url = url
	admin := signedIn(t, p)
	run := func(name string, fresh bool, send func(d *direct, n int) (status int, closes bool, err error)) {
		d := &direct{address: l.Addr().String(), fresh: fresh}
		clients.Go(func() {
			defer d.close()
			for n := 0; !stop.Load(); n++ {
				status, closes, err := send(d, n)
				asked.Add(1)
				if closes && !fresh {
					kept.Add(1)
				}
				if err != nil || status != 200 {
					t.Errorf("request %d of %s: %d %v", n, name, status, err)
					if failed.Add(1) > 100 {
						return
					}
				}
			}
		})
	}
	read := func(d *direct, _ int) (int, bool, error) {
		status, closes, err := d.do("GET", "/health/live", "")
		time.Sleep(5 * time.Millisecond)
		return status, closes, err
	}
	var written [2]int
	for i, fresh := range []bool{false, true} {
		run(fmt.Sprintf("reader %d", i), fresh, read)
		run(fmt.Sprintf("reader %d", 2+i), fresh, read)
		run(fmt.Sprintf("writer %d", i), fresh, func(d *direct, n int) (int, bool, error) {
			written[i] = n + 1
			name := fmt.Sprintf("Department %d of %d", n, i)
			return d.do("POST", "/admin/dept", object("name", name), "Content-Type", "application/json",
				"Authorization", "Bearer "+admin.token, "Idempotency-Key", strings.ReplaceAll(name, " ", "-"))
		})
	}

	restarts := size(2, 5, 100)
	for range restarts {
		before := asked.Load()
		for asked.Load() < before+30 && failed.Load() <= 100 {
			time.Sleep(time.Millisecond)
		}
		p.signal(syscall.SIGTERM)
		p.wait()
		p = activated(t, dir, socket, "REEVE_SERVER__DRAIN=1s")
		if failed.Load() > 100 {
			break
		}
	}

	stop.Store(true)
	clients.Wait()
	t.Logf("%d restarts, %d requests, %d failed, %d kept connections closed, %v writes", restarts, asked.Load(), failed.Load(), kept.Load(), written)
	if kept.Load() < 3*int64(restarts) {
		t.Errorf("%d kept connections of three clients were closed at %d restarts", kept.Load(), restarts)
	}
	var tree struct{ Data []struct{ Name string } }
	noErr(t, json.Unmarshal(admin.want(200, "GET", "/admin/dept", "").Data, &tree))
	made := map[string]int{}
	for _, d := range tree.Data {
		made[d.Name]++
	}
	for i, writes := range written {
		for n := range writes {
			if name := fmt.Sprintf("Department %d of %d", n, i); made[name] != 1 {
				t.Errorf("%s was made %d times", name, made[name])
			}
		}
	}
}

// TestDrain_EndsWithLastConnection stops servers with a long drain: those without open connections
// wait only for a load balancer, which asks whether they are ready.
func TestDrain_EndsWithLastConnection(t *testing.T) {
	t.Parallel()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	noErr(t, err)
	defer l.Close()
	socket, err := l.(*net.TCPListener).File()
	noErr(t, err)
	defer socket.Close()
	for name, c := range map[string]struct {
		held bool   // whether a supervisor holds the socket
		path string // that a client has asked for; "" for none
		open bool   // whether its connection is open
		wait bool   // whether the server waits
	}{
		"no client":                     {},
		"a client that has gone":        {path: "/health"},
		"an open connection":            {path: "/health", open: true, wait: true},
		"a load balancer":               {path: "/health/ready", wait: true},
		"a load balancer with a socket": {path: "/health/ready", held: true},
		"a connection with a socket":    {path: "/health", held: true, open: true, wait: true},
	} {
		t.Run(name, func(t *testing.T) {
			const drain = 5 * time.Second
			var p *process
			if c.held {
				p = activated(t, t.TempDir(), socket, "REEVE_SERVER__DRAIN="+drain.String())
				p.url = "http://" + l.Addr().String()
			} else {
				p = start(t, t.TempDir(), "REEVE_SERVER__DRAIN="+drain.String())
			}
			client := &http.Client{Transport: &http.Transport{DisableKeepAlives: !c.open}}
			if c.path != "" {
				resp, err := client.Get(p.url + c.path)
				noErr(t, err)
				io.Copy(io.Discard, resp.Body)
				resp.Body.Close()
			}
			begun := time.Now()
			p.signal(syscall.SIGTERM)
			p.wait()
			if took := time.Since(begun); took >= drain != c.wait {
				t.Errorf("it has stopped after %s", took)
			}
			client.CloseIdleConnections()
		})
	}
}

func TestHealth_Draining(t *testing.T) {
	t.Parallel()
	p := start(t, t.TempDir(), "REEVE_SERVER__DRAIN=60s", "REEVE_SERVER__STOP_TIMEOUT=1s")
	c := newClient(t, p)
	for _, path := range []string{"/health", "/health/live", "/health/ready",
		"/health/ready?write=1"} {
		c.want(200, "GET", path, "")
	}

	if r := run(t, "health", "--listen", strings.TrimPrefix(p.url, "http://")); r.code != 0 ||
		r.out != "" {
		t.Errorf("reeve health: %+v", r)
	}

	p.signal(syscall.SIGTERM)
	for c.call("GET", "/health/ready", "").status != 503 {
		time.Sleep(time.Millisecond)
	}

	c.want(200, "GET", "/health/live", "")
	resp, err := http.Get(p.url + "/api/home")
	if err != nil {
		t.Fatal(err)
	}
	if resp.Body.Close(); resp.StatusCode != 200 || !resp.Close {
		t.Errorf("a response while draining: %s, its connection is closed: %t", resp.Status,
			resp.Close)
	}
	if r := run(t, "health", "--listen", strings.TrimPrefix(p.url, "http://")); r.code != 1 ||
		!strings.Contains(r.err, "answers 503") {
		t.Errorf("reeve health: %+v", r)
	}

	p.kill()
	if r := run(t, "health", "--listen", strings.TrimPrefix(p.url, "http://")); r.code != 1 ||
		!strings.Contains(r.err, "no server answers") {
		t.Errorf("reeve health: %+v", r)
	}
}

// heldBack makes a command stop before it begins, until SIGCONT, so that it can be traced from there.
func heldBack(cmd *exec.Cmd) *exec.Cmd {
	cmd.Args = append([]string{"sh", "-c", `kill -STOP $$; exec "$0" "$@"`, cmd.Path}, cmd.Args[1:]...)
	cmd.Path = "/bin/sh"
	return cmd
}
