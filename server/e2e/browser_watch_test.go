package e2e

import (
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"
	"sync"

	"github.com/chromedp/cdproto/audits"
	"github.com/chromedp/cdproto/cdp"
	cdlog "github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	cdpage "github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"
)

// witness sees whether a page does what it must not, whatever a test is about: say errors or warnings
// in the console, throw, break its policy, ask anybody but its server, or be refused
// what the test does not expect to be refused.
type witness struct {
	mu       sync.Mutex
	base     string
	faults   []string
	answered map[network.RequestID]asked        // requests that have begun
	under    map[network.RequestID]cdp.LoaderID // those that have not ended, and the document that asked
	expected []*expectation
	offline  bool
}

type asked struct{ method, path string }

type expectation struct {
	status int64
	path   string
	met    bool
}

func newWitness(base string) *witness {
	return &witness{base: base, answered: map[network.RequestID]asked{}, under: map[network.RequestID]cdp.LoaderID{}}
}

// tellViolations has every break of the policy said with the place it came from,
// which the browser's own message does not have.
const tellViolations = `addEventListener('securitypolicyviolation', (v) => {
	const at = v.target instanceof Element ? v.target.outerHTML.slice(0, 300) : ''
	console.error('policy: ' + [v.effectiveDirective, v.blockedURI, v.sourceFile + ':' + v.lineNumber + ':' + v.columnNumber, v.sample, at].join(' | '))
}, true)`

func (w *witness) enable(p *page) {
	p.t.Helper()
	send(p, audits.Enable, cdp.Empty{})
}

// expect says that at least one request to a path (or below it, ending in /) is
// answered with a status that is none of success; 0 is no answer at all. Without
// this it fails the test.
func (p *page) expect(status int64, path string) {
	p.watch.mu.Lock()
	defer p.watch.mu.Unlock()
	p.watch.expected = append(p.watch.expected, &expectation{status: status, path: path})
}

// loading is how many requests are under way.
func (w *witness) loading() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return len(w.under)
}

// event takes what the browser tells of the page, in order.
func (w *witness) event(event any) {
	w.mu.Lock()
	defer w.mu.Unlock()
	switch e := event.(type) {
	case *runtime.EventConsoleAPICalled:
		switch e.Type {
		case runtime.ConsoleAPICalledTypeError, runtime.ConsoleAPICalledTypeWarning, runtime.ConsoleAPICalledTypeAssert:
			w.fault("console.%s: %s", e.Type, spoken(e.Args))
		}
	case *runtime.EventExceptionThrown:
		w.fault("thrown: %s", exception(e.ExceptionDetails))
	case *cdlog.EventEntryAdded:
		// How requests end is judged by their answers.
		loud := e.Entry.Level == cdlog.EntryLevelError || e.Entry.Level == cdlog.EntryLevelWarning
		if loud && e.Entry.Source != cdlog.EntrySourceNetwork {
			w.fault("log: %s: %s %s", e.Entry.Source, e.Entry.Text, e.Entry.URL)
		}
	case *audits.EventIssueAdded:
		if e.Issue.Code == audits.InspectorIssueCodeContentSecurityPolicyIssue {
			w.fault("issue: policy %s", e.Issue.Details.ContentSecurityPolicyIssueDetails.ViolatedDirective)
		}
	case *cdpage.EventFrameNavigated:
		if e.Frame.ParentID == "" { // what its predecessor asked for is cut off, and does not always end
			maps.DeleteFunc(w.under, func(_ network.RequestID, asker cdp.LoaderID) bool { return asker != e.Frame.LoaderID })
		}
	case *network.EventRequestWillBeSent:
		w.request(e)
	case *network.EventResponseReceived:
		if e.Response.Status >= 400 {
			w.failed(e.RequestID, e.Response.Status, "")
		}
	case *network.EventLoadingFinished:
		delete(w.under, e.RequestID)
	case *network.EventLoadingFailed:
		delete(w.under, e.RequestID)
		if !e.Canceled && !(w.offline && strings.Contains(e.ErrorText, "ERR_INTERNET_DISCONNECTED")) {
			w.failed(e.RequestID, 0, e.ErrorText)
		}
	}
}

func (w *witness) fault(format string, args ...any) {
	w.faults = append(w.faults, fmt.Sprintf(format, args...))
}

func (w *witness) request(e *network.EventRequestWillBeSent) {
	u, err := url.Parse(e.Request.URL)
	if err != nil || u.Scheme == "data" || u.Scheme == "blob" || u.Scheme == "about" || u.Scheme == "chrome-extension" {
		return // these ask nobody but the browser itself; one that is no address gets nowhere
	}
	if !strings.HasPrefix(e.Request.URL, w.base+"/") {
		w.fault("a request to another place: %s", e.Request.URL)
	}
	w.answered[e.RequestID] = asked{e.Request.Method, u.Path}
	if e.Type != network.ResourceTypeEventSource { // whose answer has no end
		w.under[e.RequestID] = e.LoaderID
	}
}

// failed takes an answer that is no success, or that there is none.
func (w *witness) failed(id network.RequestID, status int64, why string) {
	request, known := w.answered[id]
	if !known {
		return
	}
	i := slices.IndexFunc(w.expected, func(x *expectation) bool {
		return x.status == status && (x.path == request.path || strings.HasSuffix(x.path, "/") && strings.HasPrefix(request.path, x.path))
	})
	if i < 0 {
		w.fault("%s %s: %d %s", request.method, request.path, status, why)
		return
	}
	w.expected[i].met = true
}

// spoken is what was given to the console.
func spoken(args []*runtime.RemoteObject) string {
	var words []string
	for _, a := range args {
		if a.Description != "" {
			words = append(words, a.Description)
		} else {
			words = append(words, string(a.Value))
		}
	}
	return strings.Join(words, " ")
}

// judge holds at the end of a test that the page did nothing it must not do.
func (p *page) judge() {
	if p.t.Failed() {
		p.shoot(strings.ReplaceAll(p.t.Name(), "/", "-") + "-end")
	}
	// What the page did before this answer has been told before it.
	if err := evaluate(p, "frame().then(frame).then(() => 0)", nil); err != nil {
		p.t.Errorf("the page does not answer: %v", err)
	}
	for _, fault := range p.watch.verdict() {
		p.t.Errorf("the page: %s", fault)
	}
}

// verdict is all that is held against the page, and forgets it.
func (w *witness) verdict() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	faults := w.faults
	for _, x := range w.expected {
		if !x.met {
			faults = append(faults, fmt.Sprintf("%s was never answered with %d", x.path, x.status))
		}
	}
	w.faults, w.expected = nil, nil
	return faults
}
