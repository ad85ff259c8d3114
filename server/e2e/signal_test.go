package e2e

import (
	"bufio"
	"encoding/json"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
)

// TestServe_LogReaderLost closes the reader of standard output and standard error while the
// server runs: it continues without a log, and a stop is orderly.
func TestServe_LogReaderLost(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		level   string
		ignored bool // whether the parent ignores SIGPIPE, as systemd does
	}{
		"info":                   {level: "info"},
		"debug":                  {level: "debug"},
		"info, SIGPIPE ignored":  {level: "info", ignored: true},
		"debug, SIGPIPE ignored": {level: "debug", ignored: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			cmd := program(t, "serve", "--listen", "127.0.0.1:0", "--data", dir,
				"REEVE_LOG__LEVEL="+tc.level)
			if tc.ignored {
				cmd.Path = "/bin/sh"
				cmd.Args = append([]string{"sh", "-c", `trap "" PIPE; exec "$0" "$@"`, binary},
					cmd.Args[1:]...)
			}

			p := beginPiped(t, cmd)
			c := newClient(t, p)
			c.want(200, "GET", "/health", "")
			c.want(404, "GET", "/nowhere", "")
			p.stop()
			if r := run(t, "verify", "--data", dir); r.code != 0 {
				t.Errorf("%+v", r)
			}
		})
	}
}

// beginPiped starts a server with a pipe for its output, reads until it serves, and closes
// the reading end.
func beginPiped(t *testing.T, cmd *exec.Cmd) *process {
	t.Helper()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}

	cmd.Stdout, cmd.Stderr = w, w
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}

	p := &process{t: t, cmd: cmd, done: make(chan struct{})}
	go func() {
		defer close(p.done)
		cmd.Wait() // its error is in ProcessState
	}()

	t.Cleanup(p.kill)
	w.Close()
	defer r.Close()
	for lines := bufio.NewScanner(r); lines.Scan(); {
		var entry struct{ Message string }
		if json.Unmarshal(lines.Bytes(), &entry) != nil {
			continue
		}
		if url, ok := strings.CutPrefix(entry.Message, "serving "); ok {
			p.url = url
			return p
		}
	}

	t.Fatal("reeve ended before it served")
	return nil
}

// TestServe_Hangup: SIGHUP, which a closed terminal sends, changes nothing.
func TestServe_Hangup(t *testing.T) {
	t.Parallel()
	p := start(t, t.TempDir())
	p.signal(syscall.SIGHUP)
	c := signedIn(t, p)
	c.want(200, "GET", "/admin/info", "")
	p.stop()
}
