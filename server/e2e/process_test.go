package e2e

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// password is the first user's password unless a test chooses another.
const password = "correct horse battery"

// patience limits every wait for a process, so that a hang fails a test instead of the
// whole run. It does not measure speed.
const patience = 2 * time.Minute

// program prepares a run of reeve in an empty working directory. Words that begin with
// REEVE_ are its environment (NAME= removes a variable), the others its arguments. It
// inherits no REEVE_ variable.
func program(t testing.TB, words ...string) *exec.Cmd {
	t.Helper()
	smallWithoutBrowser(t)
	cmd := exec.Command(binary)
	cmd.Dir = t.TempDir()
	set := map[string]string{"REEVE_AUTH__BCRYPT_COST": "10", "REEVE_ADMIN_PASSWORD": password}
	for i, word := range words {
		if name, value, ok := strings.Cut(word, "="); ok && strings.HasPrefix(name, "REEVE_") {
			set[name] = value
		} else {
			cmd.Args = append(cmd.Args, word)
		}
		if i > 0 && words[i-1] == "--data" {
			os.Chmod(word, 0o700) // if it exists, since t.TempDir makes it readable for everybody
		}
	}

	for _, entry := range os.Environ() {
		if !strings.HasPrefix(entry, "REEVE_") {
			cmd.Env = append(cmd.Env, entry)
		}
	}

	for name, value := range set {
		if value != "" {
			cmd.Env = append(cmd.Env, name+"="+value)
		}
	}

	return cmd
}

// result is a completed run. A code of -1 means that a signal ended it.
type result struct {
	code     int
	out, err string
}

// finish runs a command to its end. If it starts to serve where it should fail, it is told
// to stop, so that the test fails at once and not after a long wait.
func finish(t testing.TB, cmd *exec.Cmd) result {
	t.Helper()
	p := begin(t, cmd)
	select {
	case <-p.log.ready:
		p.signal(syscall.SIGTERM)
	case <-p.done:
	case <-time.After(patience):
	}
	p.wait()
	return result{cmd.ProcessState.ExitCode(), p.out.String(), p.log.String()}
}

// run is finish with the words of program.
func run(t testing.TB, words ...string) result {
	t.Helper()
	return finish(t, program(t, words...))
}

// process is a run of reeve.
type process struct {
	t    testing.TB
	cmd  *exec.Cmd
	out  printed
	log  journal
	url  string
	done chan struct{} // closed when the process has ended
}

// printed collects what a process writes to standard output.
type printed struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (p *printed) Write(b []byte) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.text.Write(b)
}

func (p *printed) String() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.text.String()
}

// begin starts a command, and kills it at the end of the test unless it has ended before.
func begin(t testing.TB, cmd *exec.Cmd) *process {
	t.Helper()
	p := &process{
		t:    t,
		cmd:  cmd,
		log:  journal{ready: make(chan string, 1)},
		done: make(chan struct{}),
	}
	cmd.Stdout, cmd.Stderr = &p.out, &p.log
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}

	go func() {
		defer close(p.done)
		var exit *exec.ExitError
		if err := cmd.Wait(); err != nil && !errors.As(err, &exit) {
			t.Errorf("wait for reeve: %v", err)
		}
	}()

	t.Cleanup(p.kill)
	return p
}

// start serves a data directory and waits until it accepts connections.
func start(t testing.TB, dir string, words ...string) *process {
	t.Helper()
	p := begin(t,
		program(t, append([]string{"serve", "--listen", "127.0.0.1:0", "--data", dir}, words...)...))
	p.ready()
	return p
}

// ready waits for the log entry that says so.
func (p *process) ready() { p.readyWithin(patience) }

func (p *process) readyWithin(most time.Duration) {
	p.t.Helper()
	select {
	case p.url = <-p.log.ready:
	case <-p.done:
		p.t.Fatalf("reeve ended before it served:\n%s", &p.log)
	case <-time.After(most):
		p.t.Fatalf("reeve did not say that it serves:\n%s", &p.log)
	}
}

func (p *process) pid() int { return p.cmd.Process.Pid }

func (p *process) signal(s os.Signal) {
	if err := p.cmd.Process.Signal(s); err != nil && !errors.Is(err, os.ErrProcessDone) {
		p.t.Errorf("signal reeve: %v", err)
	}
}

// kill kills the process, if it is running, and waits for its end.
func (p *process) kill() {
	p.signal(syscall.SIGKILL)
	<-p.done
}

// wait waits for the process to end by itself. If it does not, the failure shows what its goroutines wait for.
func (p *process) wait() {
	p.t.Helper()
	select {
	case <-p.done:
	case <-time.After(patience):
		p.signal(syscall.SIGQUIT)
		select {
		case <-p.done:
		case <-time.After(10 * time.Second):
		}
		p.t.Fatalf("reeve did not end:\n%s", &p.log)
	}
}

// stop tells the process to stop, and checks that it ends in order.
func (p *process) stop() {
	p.t.Helper()
	p.signal(syscall.SIGTERM)
	p.wait()
	if code := p.cmd.ProcessState.ExitCode(); code != 0 {
		p.t.Fatalf("reeve ended with %d:\n%s", code, &p.log)
	}
}

// journal collects what a process writes to standard error.
type journal struct {
	mu    sync.Mutex
	text  bytes.Buffer
	seen  int // bytes of text that have been examined
	found bool
	ready chan string
}

func (j *journal) Write(b []byte) (int, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.text.Write(b)
	for !j.found { // not further: a benchmark's log is long
		line, _, whole := bytes.Cut(j.text.Bytes()[j.seen:], []byte("\n"))
		if !whole {
			return len(b), nil
		}
		j.seen += len(line) + 1
		var entry struct{ Message string }
		if json.Unmarshal(line, &entry) != nil {
			continue
		}
		if url, ok := strings.CutPrefix(entry.Message, "serving "); ok {
			j.found = true
			j.ready <- url
		}
	}

	return len(b), nil
}

func (j *journal) String() string {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.text.String()
}

// lines returns the number of lines.
func (j *journal) lines() int { return strings.Count(j.String(), "\n") }

// entries returns the lines of the log. A line that is not a JSON object fails the test.
func (j *journal) entries(t testing.TB) []map[string]any {
	t.Helper()
	var all []map[string]any
	for line := range strings.Lines(j.String()) {
		var entry map[string]any
		if err := json.Unmarshal([]byte(line), &entry); err != nil {
			t.Errorf("a line of the log is not JSON: %q", line)
		}
		all = append(all, entry)
	}
	return all
}

// messages returns the messages of one level, in order, except the one about running as
// root.
func (j *journal) messages(t testing.TB, level string) []string {
	t.Helper()
	var found []string
	for _, entry := range j.entries(t) {
		if message, ok := entry["message"].(string); ok && entry["level"] == level &&
			!strings.HasPrefix(message, "running as root") {
			found = append(found, message)
		}
	}
	return found
}
