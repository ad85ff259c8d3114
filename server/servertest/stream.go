package servertest

import (
	"bufio"
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"reeve/server/changes"
	"reeve/store/disk/disktest"
)

// Listener is a client of an event stream.
type Listener struct {
	t     testing.TB
	lines *bufio.Scanner
	Reply *http.Response
	Last  string // ID of the last event

	Opened changes.Opened // data of the first event
}

// Live serves the instance over a connection, so that streams work.
func (in *Instance) Live() (url string) {
	in.T.Helper()
	in.Server.Streams.Ended, in.Server.Streams.Once = make(chan struct{}), sync.Once{}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() { defer close(done); in.Server.Streams.Run(ctx) }()
	web := httptest.NewServer(in.Server.Handler())
	in.T.Cleanup(func() {
		in.Server.Streams.End()
		web.Close()
		cancel()
		<-done
	})
	return web.URL
}

// Listen opens a stream, whose first event has arrived.
func (in *Instance) Listen(url, as string, header ...string) *Listener {
	in.T.Helper()
	l := in.Follow(url, as, header...)
	if l.Reply.StatusCode == http.StatusOK {
		kind, data := l.Next()
		if kind != "open" {
			in.T.Fatalf("the first event is %q", kind)
		}
		Must(in.T, json.Unmarshal(EncodeJSON(in.T, data), &l.Opened))
	}
	return l
}

// Follow opens a stream that need not begin with an event.
func (in *Instance) Follow(url, as string, header ...string) *Listener {
	in.T.Helper()
	r, err := http.NewRequest("GET", url, nil)
	Must(in.T, err)
	if token := in.Tokens[as]; token != "" {
		r.Header.Set("Authorization", "Bearer "+token)
	}
	for i := 0; i < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}

	reply, err := http.DefaultClient.Do(r)
	Must(in.T, err)
	in.T.Cleanup(func() { reply.Body.Close() })
	l := &Listener{t: in.T, lines: bufio.NewScanner(reply.Body), Reply: reply}
	l.lines.Buffer(nil, 1<<20)
	return l
}

// Next returns the next event; "" when the stream has ended.
func (l *Listener) Next() (kind string, data map[string]any) {
	l.t.Helper()
	for l.lines.Scan() {
		name, value, _ := strings.Cut(l.lines.Text(), ": ")
		switch name {
		case "id":
			l.Last = value
		case "event":
			kind = value
		case "data":
			Must(l.t, json.Unmarshal([]byte(value), &data))
		case "":
			if kind != "" {
				return kind, data
			}
		}
	}
	return "", nil
}

// Gets fails unless the next events are of these types.
func (l *Listener) Gets(kinds ...string) {
	l.t.Helper()
	var got []string
	for range kinds {
		kind, _ := l.Next()
		got = append(got, kind)
	}
	disktest.Equal(l.t, "events", got, kinds)
}
