package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/spf13/pflag"

	"reeve/server/servertest"
	"reeve/server/web"
)

// said receives what is written.
type said chan string

func (s said) Write(b []byte) (int, error) { s <- string(b); return len(b), nil }

// TestApply_WaitsForLargeBody applies a large setup while another one is being read: the command says once that it
// waits, and applies it then.
func TestApply_WaitsForLargeBody(t *testing.T) {
	t.Parallel()
	in := servertest.Start(t)
	path := filepath.Join(t.TempDir(), "shop.toml")
	var text strings.Builder
	text.WriteString("[dictionaries.large]\nname = \"Large\"\nitems = [\n")
	for i := range 10_000 {
		fmt.Fprintf(&text, "{ value = \"%d\", label = %q },\n", i, strings.Repeat("label ", web.MaxBody/50_000))
	}
	text.WriteString("]\n")
	servertest.Must(t, os.WriteFile(path, []byte(text.String()), 0o600))
	for _, command := range []struct {
		what string
		run  func(*program, *client) error
	}{
		{"plan", func(p *program, c *client) error { // before the changes are made
			if err := p.plan(c); ExitCode(err) != foundCode {
				return errors.Join(err, errors.New("no changes were found"))
			}
			return nil
		}},
		{"apply", (*program).apply},
	} {
		what, run := command.what, command.run
		p, c := beside(t, in, path)
		p.flags = pflag.NewFlagSet(what, pflag.ContinueOnError)
		setupFlags(p.flags, p)
		messages := make(said, 10)
		p.err = messages
		limit := in.Server.Limits.LargeBodies
		servertest.Must(t, limit.Acquire(limit.Total))
		before, done := limit.Rejected.Load(), make(chan error, 1)
		go func() { done <- run(p, c) }()
		if line := <-messages; !strings.Contains(line, "too many large requests at once; try again in a moment: it is tried again for 2 minutes") {
			t.Errorf("%s says %q", what, line)
		}
		servertest.Until(t, "a second attempt", func() bool { return limit.Rejected.Load() >= before+2 })
		limit.Release(limit.Total)
		if err := <-done; err != nil {
			t.Errorf("%s: %v", what, err)
		}
		if len(messages) > 0 {
			t.Errorf("%s also says %q", what, <-messages)
		}
	}
}

// TestApply_DoesNotWait sends a setup to servers that it can't wait for.
func TestApply_DoesNotWait(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct{ code, retryAfter string }{
		"too long":        {"busy", "300"},
		"no time":         {"busy", ""},
		"outcome unknown": {"write_outcome_unknown", "1"},
	} {
		var requests atomic.Int32
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			requests.Add(1)
			if test.retryAfter != "" {
				w.Header().Set("Retry-After", test.retryAfter)
			}
			w.WriteHeader(503)
			io.WriteString(w, `{"success":false,"errorCode":"`+test.code+`","msg":"a message"}`)
		}))
		c := newClient(func(ctx context.Context) (net.Conn, error) {
			return (&net.Dialer{}).DialContext(ctx, "tcp", s.Listener.Addr().String())
		})
		p := &program{err: &bytes.Buffer{}, flags: pflag.NewFlagSet("apply", pflag.ContinueOnError)}
		if _, err := p.askSetup(c, "apply", nil); err == nil || err.Error() != "a message" || requests.Load() != 1 {
			t.Errorf("%s: %v, %d requests", name, err, requests.Load())
		}
		if p.err.(*bytes.Buffer).Len() > 0 {
			t.Errorf("%s: it says %s", name, p.err)
		}
		s.Close()
	}
}
