package e2e

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"iter"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	reeve "reeve/embed/sdk/go"
)

// pulled calls a function for the next event of a stream, within the patience of the tests.
func pulled(t *testing.T, events iter.Seq2[reeve.Event, error]) (next func() (reeve.Event, error)) {
	t.Helper()
	pull, stop := iter.Pull2(events)
	t.Cleanup(stop)
	return func() (reeve.Event, error) {
		t.Helper()
		event, err, ok := pull()
		if !ok {
			t.Fatal("the stream has ended")
		}
		return event, err
	}
}

func patiently(t *testing.T) context.Context {
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	t.Cleanup(cancel)
	return ctx
}

func nameOf(t *testing.T, e reeve.Event) string {
	t.Helper()
	var change reeve.EventData
	noErr(t, json.Unmarshal(e.Data, &change))
	return e.Type + " " + change.Name
}

// TestGoEvents_NoGaps checks that events come in order, over a restart of the server and from a
// position on.
func TestGoEvents_NoGaps(t *testing.T) {
	t.Parallel()
	dir, listen := t.TempDir(), freeAddress(t)
	begun := begin(t, program(t, "serve", "--listen", listen, "--data", dir))
	begun.ready()
	owner := signedIn(t, begun)
	key := owner.programKey("program", "system.dict.query")
	c := goClient(t, reeve.Options{URL: begun.url, Key: key})
	ctx, cancel := context.WithCancel(patiently(t))
	next := pulled(t, c.Events(ctx, "dict.*", "access.changed"))
	first, err := next()
	noErr(t, err)
	var opened reeve.EventsOpened
	noErr(t, json.Unmarshal(first.Data, &opened))
	if first.Type != reeve.EventOpen || first.ID == "" ||
		!slices.Equal(opened.Types, []string{"dict.changed", "access.changed"}) {
		t.Errorf("the first event is %s %s", first.Type, first.Data)
	}

	create := func(code string) {
		t.Helper()
		owner.create("/system/dict", "code", code, "name", "N "+code)
	}
	wants := func(code string) reeve.Event {
		t.Helper()
		event, err := next()
		noErr(t, err)
		if got := nameOf(t, event); got != "dict.changed N "+code {
			t.Errorf("%s, want %s", got, code)
		}
		return event
	}
	create("a")
	create("b")
	position := wants("a")
	if wants("b"); position.Timestamp.Before(time.Now().Add(-time.Hour)) {
		t.Errorf("the time is %s", position.Timestamp)
	}

	begun.stop()
	begun = begin(t, program(t, "serve", "--listen", listen, "--data", dir))
	begun.ready()
	owner = signedIn(t, begun)
	create("c")
	wants("c")

	next = pulled(t, c.EventsAfter(ctx, position.ID, "dict.*"))
	if first, err := next(); err != nil || first.Type != reeve.EventOpen {
		t.Errorf("%+v %v", first, err)
	}
	wants("b")
	wants("c")

	cancel()
	for event, err := range c.Events(ctx) {
		t.Errorf("after the end of the context: %+v %v", event, err)
	}
}

// TestGoEvents_RefusalsEnd checks that the caller gets those errors that would not pass, and that a
// key which never gets a type is told so.
func TestGoEvents_RefusalsEnd(t *testing.T) {
	t.Parallel()
	p := start(t, t.TempDir())
	owner := signedIn(t, p)
	key := owner.programKey("program", "system.dict.query")
	var log bytes.Buffer
	c := goClient(t, reeve.Options{
		URL:    p.url,
		Key:    key,
		Logger: slog.New(slog.NewTextHandler(&log, nil)),
	})
	for _, one := range []struct {
		name   string
		client *reeve.Client
		after  string
		types  []string
		status int
		says   string
	}{
		{"a key that is not valid", c.As("rv_k_x"), "", nil, 401, "token"},
		{"no key", c.As(""), "", nil, 401, "no key"},
		{"a missing permission", c, "", []string{"dict.*", "role.created"}, 403,
			"role.created can come: permission admin.role.query is required"},
		{"a missing permission for all of a kind", c, "", []string{"role.*"}, 403,
			"permission admin.role.query"},
		{"only for webhooks", c, "", []string{"audit.head"}, 403, "only webhooks"},
		{"no such type", c, "", []string{"roles.*"}, 422, "roles.*"},
		{"no type", c, "", []string{"role"}, 400, "types"},
		{"a position before a restore", c, "othergener-1", []string{"dict.*"}, 410, "restore"},
	} {
		var got error
		for _, err := range one.client.EventsAfter(patiently(t), one.after, one.types...) {
			got = err
		}
		if failed := failure(t, got); failed.Status != one.status ||
			!strings.Contains(failed.Error(), one.says) {
			t.Errorf("%s: %v", one.name, got)
		}
	}

	log.Reset()
	for range c.Events(patiently(t), "*") {
		break
	}
	if text := log.String(); !strings.Contains(text, "admin.role.query") {
		t.Errorf("some types can't come, and the log says %q", text)
	}
}

// eventText is the beginning of a stream of a scriptedServer.
const eventText = "retry: 1\nid: g-1\nevent: open\ndata: {\"types\":[\"dict.changed\"]}\n\n"

func streamOf(text string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		io.WriteString(w, text)
	}
}

func statusOf(code int, body string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		w.WriteHeader(code)
		io.WriteString(w, body)
	}
}

// scriptedServer is a server of events that fails, and breaks off, in several ways before it says
// that no events can come.
type scriptedServer struct {
	url string

	mu        sync.Mutex
	positions []string // Last-Event-ID of each connection
}

func newScriptedServer(t *testing.T) *scriptedServer {
	t.Helper()
	connections := []http.HandlerFunc{
		statusOf(503, ""),
		streamOf(eventText + "id: g-2\r\nevent: dict.changed\r\ndata: {\"name\":\"two\"}\r\n\r\n" +
			"id: g-3\nevent: dict.changed\ndata: {\"name\":\"cut off\"}\n"),
		statusOf(404, "a proxy while the server restarts"),
		statusOf(429, `{"success":false,"errorCode":"too_many","msg":"too many streams"}`),
		streamOf(eventText +
			": heartbeat\nid: g-7\n\nevent: dict.changed\ndata: {\"name\":\"größer\"}\n\n"),
		streamOf("id: g-8\nevent: open\ndata: {\"types\":[]," +
			"\"missing\":[{\"type\":\"dict.changed\",\"reason\":\"taken away\"}]}\n\n"),
	}
	s := &scriptedServer{}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.mu.Lock()
		s.positions = append(s.positions, r.Header.Get("Last-Event-ID"))
		n := min(len(s.positions), len(connections)) - 1
		s.mu.Unlock()
		connections[n](w, r)
	}))
	t.Cleanup(server.Close)
	s.url = server.URL
	return s
}

// checkPositions checks the positions of a client that has begun at g-0.
func (s *scriptedServer) checkPositions(t *testing.T) {
	t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	if want := []string{"g-0", "g-0", "g-2", "g-2", "g-2", "g-7"}; !slices.Equal(s.positions, want) {
		t.Errorf("the positions are %q, want %q", s.positions, want)
	}
}

// scripted are the events of a scriptedServer.
var scripted = []string{"g-1 open ", "g-2 dict.changed two", "g-7 dict.changed größer"}

// TestGoEvents_Reconnects checks what happens between one connection and the next.
func TestGoEvents_Reconnects(t *testing.T) {
	t.Parallel()
	server := newScriptedServer(t)
	var got []string
	c := goClient(t, reeve.Options{URL: server.url, Key: "k"})
	for event, err := range c.EventsAfter(patiently(t), "g-0", "dict.*") {
		if err != nil {
			got = append(got, err.Error())
			break
		}
		got = append(got, event.ID+" "+nameOf(t, event))
	}
	want := append(slices.Clone(scripted),
		"reeve: GET /system/event: no event of the type dict.* can come: taken away (403 forbidden)")
	if !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	server.checkPositions(t)

	for name, handler := range map[string]http.HandlerFunc{
		"another program": statusOf(404, "not found"),
		"a page":          statusOf(200, "<html>"),
		"a sign-in page":  statusOf(302, ""),
		"not JSON":        streamOf("event: open\ndata: {\n\n"),
		"an endless line": streamOf("data: " + strings.Repeat("x", 17<<20)),
	} {
		server := httptest.NewServer(handler)
		t.Cleanup(server.Close)
		var got error
		for _, err := range goClient(t, reeve.Options{URL: server.URL}).Events(patiently(t)) {
			got = err
		}
		if failed := failure(t, got); failed.Code != "bad_response" {
			t.Errorf("%s: %v", name, got)
		}
	}
}

// TestGoEvents_WaitsAsLongAsTheServerSays measures the pause before the second connection.
func TestGoEvents_WaitsAsLongAsTheServerSays(t *testing.T) {
	t.Parallel()
	var times []time.Time
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if times = append(times, time.Now()); len(times) == 1 {
			w.Header().Set("Retry-After", "3")
			w.WriteHeader(http.StatusTooManyRequests)
			return
		}
		w.Header().Set("Content-Type", "text/event-stream")
		fmt.Fprint(w, "event: open\ndata: {}\n\n")
	}))
	t.Cleanup(server.Close)
	for _, err := range goClient(t, reeve.Options{URL: server.URL}).Events(patiently(t)) {
		noErr(t, err)
		break
	}
	if pause := times[1].Sub(times[0]); pause < 3*time.Second {
		t.Errorf("it connects again after %s", pause)
	}
}

func TestTypeScriptEvents(t *testing.T) {
	t.Parallel()
	dir, listen := t.TempDir(), freeAddress(t)
	begun := begin(t, program(t, "serve", "--listen", listen, "--data", dir))
	begun.ready()
	owner := signedIn(t, begun)
	key := owner.programKey("program", "system.dict.query")
	server := newScriptedServer(t)
	s := startScript(t, "events.mjs", "SERVER="+begun.url, "SCRIPTED="+server.url, "KEY="+key)
	for _, want := range scripted {
		if got := s.until("scripted "); got != "scripted "+want {
			t.Errorf("%q, want %q", got, want)
		}
	}
	s.until("refused 403 forbidden no event of the type dict.* can come: taken away")
	server.checkPositions(t)

	s.until("event open ")
	owner.create("/system/dict", "code", "a", "name", "First")
	s.until("event dict.changed First")
	begun.stop()
	begun = begin(t, program(t, "serve", "--listen", listen, "--data", dir))
	begun.ready()
	signedIn(t, begun).create("/system/dict", "code", "b", "name", "Second")
	s.until("event dict.changed Second")
	s.until("again dict.changed Second")
	noErr(t, s.stdin.Close())
	select {
	case err := <-s.done:
		noErr(t, err)
	case <-time.After(patience):
		t.Error("after the abort, the process does not end")
	}
}
