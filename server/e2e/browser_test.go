package e2e

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/chromedp"
)

// browser is the only Chromium of a test run: the first test that opens a page starts it.
// Every page has its own profile in it.
var browser struct {
	start sync.Once
	ctx   context.Context
	err   error
}

// lanName is a name of this machine that the browser does not take for the machine itself, so that
// plain HTTP is not a secure context there.
const lanName = "reeve.lan.test"

// chromium returns the context of the browser. The first call starts it.
func chromium(t *testing.T) context.Context {
	t.Helper()
	browser.start.Do(func() {
		// A page lives for seconds: optimizing its scripts, and starting with a small heap,
		// takes a quarter more processor time.
		browser.ctx, browser.err = startChromium("--no-opt --no-maglev --min-semi-space-size=64 --initial-heap-size=256")
	})
	if browser.err != nil {
		unless(t,
			fmt.Sprintf("no browser for the console (Debian package chromium-headless-shell): %v",
				browser.err))
	}

	return browser.ctx
}

// startChromium starts a browser with flags for its scripts, and returns its context.
func startChromium(scriptFlags string) (context.Context, error) {
	path, err := chromiumPath()
	if err != nil {
		return nil, err
	}
	// chromedp adds --no-sandbox for root, since the sandbox does not work for root.
	ctx, _ := chromedp.NewContext(context.Background(), chromedp.WithAllocatorOptions(
		chromedp.ExecPath(path),
		chromedp.DisableGPU,
		chromedp.Flag("disable-component-update", true),
		// Two pages of the browser itself, which it loads with every window, and the
		// features that chromedp disables.
		chromedp.Flag("disable-features",
			"WebUIOmniboxPopup,WebUIOmniboxAimPopup,Translate,BlinkGenPropertyTrees"),
		chromedp.Flag("host-resolver-rules", "MAP "+lanName+" 127.0.0.1, MAP localhost 127.0.0.1, MAP * ~NOTFOUND, EXCLUDE 127.0.0.1"), // it sends no requests of its own
		chromedp.Flag("js-flags", scriptFlags),
		chromedp.Flag("lang", "en-US"),
		chromedp.Env("LANGUAGE=en"),
	), chromedp.WithErrorf(func(string, ...any) {})) // it logs events that it does not know
	return ctx, chromedp.Do(ctx)
}

// chromiumPath prefers the browser without windows, which needs a third of the processor time.
func chromiumPath() (path string, err error) {
	for _, name := range []string{"chromium-headless-shell", "google-chrome", "chromium"} {
		if path, err = exec.LookPath(name); err == nil {
			break
		}
	}
	return path, err
}

// closeBrowser ends the browser, if it is running.
func closeBrowser() {
	if browser.ctx != nil {
		endChromium(browser.ctx)
	}
}

func endChromium(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	if err := chromedp.Cancel(ctx); err != nil {
		fmt.Fprintf(os.Stderr, "end chromium: %v\n", err)
	}
}

// page is a tab in its own profile, with the actions of a user. Every method waits until
// the elements that it needs are there. If they do not appear, it fails the test with the
// text of the page.
//
// An element is identified as screen readers announce it: by its role (button, link,
// menuitem, checkbox, tab, heading, …) and its name, which is the whole name or a part that
// no other element with that role has in its name.
type page struct {
	t     *testing.T
	ctx   context.Context
	base  string // base URL of the server
	scope string // expression for the element that searches are limited to
	watch *witness
	looks *looks
}

// browserTests matches the names of the tests of the console, which .ci/run runs apart from the
// others.
var browserTests = regexp.MustCompile(`^Test(Console|EveryPage|Page|Witness|Expected)`)

// onlyInCI skips a test that takes too long for the small size.
func onlyInCI(t testing.TB, why string) {
	t.Helper()
	if size(0, 1, 1) == 0 {
		t.Skipf("%s: CI=true runs this", why)
	}
}

const noBrowser = "the small size has no browser"

// smallWithoutBrowser skips a browser test at the small size, before it starts a server.
func smallWithoutBrowser(t testing.TB) {
	t.Helper()
	if browserTests.MatchString(t.Name()) {
		onlyInCI(t, noBrowser)
	}
}

// console opens an empty page for the console of a server, 1440 pixels wide, light and
// without animation, signed out. A witness observes it until the test ends.
func console(t *testing.T, server *process) *page {
	t.Helper()
	onlyInCI(t, noBrowser)
	return consoleIn(t, chromium(t), server)
}

// consoleIn is console in a browser.
func consoleIn(t *testing.T, parent context.Context, server *process) *page {
	t.Helper()
	p := &page{
		t:     t,
		base:  server.url,
		scope: "document.documentElement",
		watch: newWitness(server.url),
		looks: &looks{},
	}

	var cancel context.CancelFunc
	p.ctx, cancel = chromedp.NewContext(parent, chromedp.WithNewBrowserContext(),
		chromedp.WithListener(p.watch.event))
	t.Cleanup(cancel)
	if err := chromedp.Do(p.ctx); err != nil {
		t.Fatalf("open a page: %v", err)
	}

	t.Cleanup(p.judge)
	p.prepare()
	return p
}

// signedInAt opens a path of the console, signed in as the client's user. The scripts run before
// those of the page.
func signedInAt(t *testing.T, server *process, c *client, path string, scripts ...string) *page {
	t.Helper()
	p := console(t, server)
	p.as(c.token)
	for _, script := range scripts {
		p.before(script)
	}
	p.open(path)
	return p
}

// pageWait limits every wait for something in a page. It does not measure speed.
const pageWait = time.Minute

// clickWait limits one click, so that one that the browser does not answer is repeated.
const clickWait = pageWait / 4

// until repeats try until it returns no error.
func (p *page) until(what string, try func() error) {
	p.t.Helper()
	var err error
	pause := 5 * time.Millisecond // then with growing intervals, to leave the page its processor time
	for end := time.Now().Add(pageWait); time.Now().Before(end); time.Sleep(pause) {
		pause = min(pause*3/2, 100*time.Millisecond)
		if err = try(); err == nil {
			return
		}
		if p.ctx.Err() != nil {
			break
		}
	}
	p.fatalf("%s: %v", what, err)
}

// fatalf fails the test and logs the visible text.
func (p *page) fatalf(format string, args ...any) {
	p.t.Helper()
	whole := *p
	whole.scope = "document.documentElement"
	var seen struct{ At, Text string }
	if err := evaluate(&whole, `({ At: location.href, Text: root.innerText })`, &seen); err != nil {
		seen.Text = err.Error()
	}
	p.shoot(strings.ReplaceAll(p.t.Name(), "/", "-") + "-failed")
	p.t.Fatalf("%s\nat %s, where one sees:\n%s", fmt.Sprintf(format, args...), seen.At, seen.Text)
}

// shoot saves a screenshot of the whole page in the directory REEVE_TEST_SCREENSHOTS, if
// that is set.
func (p *page) shoot(name string) {
	p.t.Helper()
	p.save(name, chromedp.FullScreenshot(100))
}

// shootWindow is shoot for what the window shows: what lies above a page moves in a picture of the whole page.
func (p *page) shootWindow(name string) {
	p.t.Helper()
	p.save(name, chromedp.CaptureScreenshot())
}

func (p *page) save(name string, shot chromedp.Action[[]byte]) {
	p.t.Helper()
	dir := os.Getenv("REEVE_TEST_SCREENSHOTS")
	if dir == "" {
		return
	}

	ctx, cancel := context.WithTimeout(p.ctx, pageWait)
	defer cancel()
	picture, err := chromedp.Run(ctx, shot)
	if err == nil {
		err = os.MkdirAll(dir, 0o755)
	}
	if err == nil {
		err = os.WriteFile(filepath.Join(dir, name+".png"), picture, 0o644)
	}
	if err != nil {
		p.t.Errorf("save a picture of the page: %v", err)
	}
}

// send sends a command of the browser's protocol, which must succeed.
func send[P, R any](p *page, command cdp.Command[P, R], params P) R {
	p.t.Helper()
	r, err := ask(p, command, params)
	if err != nil {
		p.fatalf("%v", err)
	}
	return r
}

// ask sends a command that may fail.
func ask[P, R any](p *page, command cdp.Command[P, R], params P) (R, error) {
	ctx, cancel := context.WithTimeout(p.ctx, pageWait)
	defer cancel()
	r, err := chromedp.Call(ctx, command, params)
	if err != nil {
		err = fmt.Errorf("%s: %w", command.Method, err)
	}
	return r, err
}
