package e2e

import (
	"fmt"
	"testing"

	"github.com/chromedp/cdproto/input"
)

// quickTimers makes periodic work of a page run fifty times as often, and lets a test
// advance its clock.
const quickTimers = `{
	let ahead = 0
	const now = Date.now
	Date.now = () => now() + ahead
	window.pass = (ms) => { ahead += ms }
	for (const name of ['setTimeout', 'setInterval']) {
		const real = window[name]
		window[name] = (act, wait = 0, ...given) => real(act, wait < 1000 ? wait : wait / 50, ...given)
	}
}`

// asked returns the number of requests that have begun: to a path, or to any for "".
func (w *witness) asked(path string) (n int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, request := range w.answered {
		if path == "" || request.path == path {
			n++
		}
	}
	return n
}

// keepsAsking waits until a path has been requested twice more.
func (p *page) keepsAsking(path string) {
	p.t.Helper()
	before := p.watch.asked(path)
	p.until("keep asking for "+path, func() error {
		if n := p.watch.asked(path) - before; n < 2 {
			return fmt.Errorf("it has asked %d times", n)
		}
		return nil
	})
}

// TestConsoleIdle: polling pages stop after five idle minutes, so that an unused session
// can expire, and continue when the user is active again.
func TestConsoleIdle(t *testing.T) {
	t.Parallel()
	server := start(t, t.TempDir())
	c := signedIn(t, server)
	for _, page := range []struct{ name, at, asks string }{
		{"home", "/?view=operations", "/system/monitor/stats"},
		{"the newest requests", "/system/monitor/request?live=1", "/system/monitor/request"},
		{"the statistics", "/system/monitor/request", "/system/monitor/stats"},
		{"the traces", "/system/monitor/trace", "/system/monitor/trace"},
		{"the server's health", "/system/info", "/system/health"},
	} {
		t.Run(page.name, func(t *testing.T) {
			t.Parallel()
			p := console(t, server)
			p.before(quickTimers)
			p.as(c.token)
			p.open(page.at)
			p.keepsAsking(page.asks)
			if err := evaluate(p, "pass(5 * 60_000)", nil); err != nil {
				t.Fatal(err)
			}

			// What the page had begun may still lead to requests, and the browser reports them late.
			p.until("stop asking", func() error {
				before := p.watch.asked("")
				// Each of these polls more often than this.
				if err := evaluate(p, "new Promise((over) => setTimeout(over, 31_000))", nil); err != nil {
					return err
				}
				if n := p.watch.asked("") - before; n > 0 {
					return fmt.Errorf("%d requests were sent without any input", n)
				}
				return nil
			})

			p.mouse(input.DispatchMouseEventTypeMouseMoved, point{700, 500})
			p.keepsAsking(page.asks)
		})
	}
}
