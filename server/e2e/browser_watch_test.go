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

// witness detects forbidden behavior of a page in every test: errors or warnings in the
// console, exceptions, violations of its content security policy, requests to other
// servers, credentials in a header, and error responses that the test does not expect.
type witness struct {
	mu       sync.Mutex
	base     string
	also     string // URL of another server that the page may send requests to; "" for none
	faults   []string
	answered map[network.RequestID]asked        // requests that have begun
	under    map[network.RequestID]cdp.LoaderID // requests that have not ended, with the document that sent them
	expected []*expectation
	offline  bool
	ended    bool // whether the session of the page was ended elsewhere, see sessionEnds
}

// eventPath is the path of the event stream, which every page of the console has open.
const eventPath = "/system/event"

type asked struct{ method, path string }

type expectation struct {
	status int64
	path   string
	met    bool
}

func newWitness(base string) *witness {
	return &witness{
		base:     base,
		answered: map[network.RequestID]asked{},
		under:    map[network.RequestID]cdp.LoaderID{},
	}
}

// basePath returns the path of the server's URL, "" for a server with a host of its own.
func (w *witness) basePath() string {
	u, err := url.Parse(w.base)
	if err != nil {
		return ""
	}
	return u.Path
}

// tellViolations logs every violation of the content security policy with its location,
// which the browser's own message lacks.
const tellViolations = `addEventListener('securitypolicyviolation', (v) => {
	const at = v.target instanceof Element ? v.target.outerHTML.slice(0, 300) : ''
	console.error('policy: ' + [v.effectiveDirective, v.blockedURI, v.sourceFile + ':' + v.lineNumber + ':' + v.columnNumber, v.sample, at].join(' | '))
}, true)`

func (w *witness) enable(p *page) {
	p.t.Helper()
	send(p, audits.Enable, cdp.Empty{})
}

// expect requires that at least one request to a path (or below it, if it ends in /) has an
// error status; 0 means no response at all. Without expect such a response fails the test.
func (p *page) expect(status int64, path string) {
	p.watch.mu.Lock()
	defer p.watch.mu.Unlock()
	p.watch.expected = append(p.watch.expected, &expectation{status: status, path: path})
}

// sessionEnds allows requests to be rejected with 401 until the next sign-in, also those that were: what a page
// asks for in the moment in which its session is ended elsewhere may come too late.
func (w *witness) sessionEnds() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.ended = true
	w.faults = slices.DeleteFunc(w.faults, func(fault string) bool { return strings.HasSuffix(fault, ": 401 ") })
}

// loading returns the number of running requests.
func (w *witness) loading() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return len(w.under)
}

// event handles the browser's events of the page, in order.
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
		// Failed requests are judged by their responses.
		loud := e.Entry.Level == cdlog.EntryLevelError || e.Entry.Level == cdlog.EntryLevelWarning
		plain := strings.Contains(e.Entry.URL, lanName) &&
			(strings.Contains(e.Entry.Text, "untrustworthy") ||
				strings.Contains(e.Entry.Text, "insecure origins"))
		if loud && e.Entry.Source != cdlog.EntrySourceNetwork && !plain { // headers that have no effect over plain HTTP
			w.fault("log: %s: %s %s", e.Entry.Source, e.Entry.Text, e.Entry.URL)
		}
	case *audits.EventIssueAdded:
		if e.Issue.Code == audits.InspectorIssueCodeContentSecurityPolicyIssue {
			w.fault("issue: policy %s",
				e.Issue.Details.ContentSecurityPolicyIssueDetails.ViolatedDirective)
		}
	case *cdpage.EventFrameNavigated:
		if e.Frame.ParentID == "" { // requests of the previous document are cancelled, and do not always end
			maps.DeleteFunc(w.under, func(_ network.RequestID, asker cdp.LoaderID) bool {
				return asker != e.Frame.LoaderID
			})
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
		if !e.Canceled &&
			!(w.offline && strings.Contains(e.ErrorText, "ERR_INTERNET_DISCONNECTED")) {
			w.failed(e.RequestID, 0, e.ErrorText)
		}
	}
}

func (w *witness) fault(format string, args ...any) {
	w.faults = append(w.faults, fmt.Sprintf(format, args...))
}

func (w *witness) request(e *network.EventRequestWillBeSent) {
	u, err := url.Parse(e.Request.URL)
	if err != nil || u.Scheme == "data" || u.Scheme == "blob" || u.Scheme == "about" ||
		u.Scheme == "chrome-extension" {
		return // these are handled by the browser itself; an invalid URL is never sent
	}
	if !strings.HasPrefix(e.Request.URL, w.base+"/") &&
		(w.also == "" || !strings.HasPrefix(e.Request.URL, w.also+"/")) {
		w.fault("a request to another place: %s", e.Request.URL)
	}

	for name := range e.Request.Headers {
		if strings.EqualFold(name, "Authorization") {
			w.fault("the header %s in %s %s", name, e.Request.Method, u.Path)
		}
	}

	path := strings.TrimPrefix(u.Path, w.basePath())
	w.answered[e.RequestID] = asked{e.Request.Method, path}
	if e.Type != network.ResourceTypeEventSource && path != eventPath { // whose response never ends
		w.under[e.RequestID] = e.LoaderID
	}
}

// failed handles an error response or a missing one.
func (w *witness) failed(id network.RequestID, status int64, why string) {
	request, known := w.answered[id]
	if !known || request.path == eventPath && (status == 0 || status == 401) { // a page reconnects by itself
		return
	}
	i := slices.IndexFunc(w.expected, func(x *expectation) bool {
		return x.status == status &&
			(x.path == request.path ||
				strings.HasSuffix(x.path, "/") && strings.HasPrefix(request.path, x.path))
	})
	if i < 0 && status == 401 && w.ended {
		return
	}
	if i < 0 {
		w.fault("%s %s: %d %s", request.method, request.path, status, why)
		return
	}
	w.expected[i].met = true
}

// spoken returns the arguments of a console call as a text.
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

// judge checks at the end of a test that the page has not done anything forbidden.
func (p *page) judge() {
	if p.t.Failed() {
		p.shoot(strings.ReplaceAll(p.t.Name(), "/", "-") + "-end")
	}
	// Events that precede this response have been received before it.
	if err := evaluate(p, "frame().then(frame).then(() => 0)", nil); err != nil {
		p.t.Errorf("the page does not answer: %v", err)
	}
	for _, fault := range p.watch.verdict() {
		p.t.Errorf("the page: %s", fault)
	}
}

// verdict returns all that the page has done wrong, and resets it.
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
