package webhook

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"reeve/store/disk/disktest"
	"reeve/store/errs"
)

func quiet(t *testing.T) *log.Logger { return log.New(t.Output(), "", 0) }

// sent sends the test message and checks that the Result reveals nothing.
func sent(t *testing.T, c *Client, url string) Result {
	t.Helper()
	secrets := []string{NewSecret(), NewSecret()}
	r := c.Send(t.Context(), url, secrets, testMessage)
	checkHidden(t, r, secrets)
	return r
}

func checkHidden(t *testing.T, r Result, secrets []string) {
	t.Helper()
	b, err := json.Marshal(r)
	must(t, err)
	text := string(b) + r.Fault.String() + r.Fault.In(errs.Chinese)
	for _, hidden := range append(secrets, "canary", "T0001", "whsec_") {
		if strings.Contains(text, hidden) {
			t.Errorf("the result contains %s: %s", hidden, text)
		}
	}

	if r.Took < 0 || len(r.Response) > maxExcerpt || !utf8.ValidString(r.Response) {
		t.Errorf("took %v, a response of %d bytes", r.Took, len(r.Response))
	}
	if !r.Fault.Empty() && r.Fault.Code() == "" {
		t.Errorf("not in the catalogue: %s", r.Fault)
	}
}

func TestSend(t *testing.T) {
	got := make(chan *http.Request, 1)
	var body []byte
	url := testServer(t, func(w http.ResponseWriter, r *http.Request) {
		body, _ = io.ReadAll(r.Body) // what was read is compared
		got <- r
		w.WriteHeader(http.StatusAccepted)
		fmt.Fprint(w, "ok")
	})

	secrets := []string{NewSecret(), NewSecret()}
	before := time.Now().Unix()
	r := testClient(t, "127.0.0.1").Send(t.Context(), url, secrets, testMessage)
	r.Took = 0
	disktest.Equal(t, "result", r, Result{Status: 202, Response: "ok"})
	request := <-got
	at, err := strconv.ParseInt(request.Header.Get("webhook-timestamp"), 10, 64)
	if err != nil || at < before || at > time.Now().Unix() {
		t.Errorf("sent at %d (%v)", at, err)
	}

	for _, secret := range secrets {
		must(t, verified(secret, body, request.Header))
	}

	for _, name := range []string{"Webhook-Timestamp", "Webhook-Signature"} {
		request.Header.Del(name)
	}

	disktest.Equal(t, "request",
		[]string{request.Method, request.Host, request.URL.String(), string(body)},
		[]string{"POST",
			strings.TrimPrefix(strings.TrimSuffix(url, hiddenPath+"?"+hiddenQuery), "http://"),
			hiddenPath + "?" + hiddenQuery, string(testMessage.Body)})
	disktest.Equal(t, "headers", request.Header, http.Header{
		"Content-Type": {"application/json"}, "User-Agent": {"Reeve/test"},
		"Webhook-Id": {"msg_1"}, "Content-Length": {strconv.Itoa(len(testMessage.Body))},
	})
}

func TestStatuses(t *testing.T) {
	var status int
	url := testServer(t, func(w http.ResponseWriter, r *http.Request) { w.WriteHeader(status) })
	c := testClient(t, "127.0.0.1")
	for s, code := range map[int]string{
		200: "", 201: "", 204: "", 299: "", 300: "webhook_redirect", 304: "webhook_redirect",
		308: "webhook_redirect",
		400: "webhook_status", 404: "webhook_status", 410: "webhook_status", 500: "webhook_status",
		503: "webhook_status", 599: "webhook_status", 600: "webhook_status",
	} {
		status = s
		if r := sent(t, c, url); r.Status != s || r.Fault.Code() != code {
			t.Errorf("%d: got %d, %s", s, r.Status, r.Fault)
		}
	}
}

func TestSend_RedirectNotFollowed(t *testing.T) {
	other, connections := counted(t)
	for _, status := range []int{301, 302, 303, 307, 308} {
		url := testServer(t, func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, other+"/query-canary", status)
		})
		if r := sent(t, testClient(t, "127.0.0.1"), url); r.Status != status ||
			r.Fault.Code() != "webhook_redirect" {
			t.Errorf("%d: %+v", status, r)
		}
	}
	if n := connections.Load(); n != 0 {
		t.Errorf("the other server received %d connections", n)
	}
}

func TestRetryAfter(t *testing.T) {
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	for text, want := range map[string]time.Duration{
		"": 0, "0": 0, "7": 7 * time.Second, " 7 ": 7 * time.Second, "21600": maxRetryAfter,
		"21601": maxRetryAfter, strings.Repeat("9", 30): maxRetryAfter,
		"-1": 0, "1.5": 0, "soon": 0, now.Add(time.Minute).Format(http.TimeFormat): time.Minute,
		now.Add(-time.Minute).Format(http.TimeFormat):    0,
		now.Add(100 * time.Hour).Format(http.TimeFormat): maxRetryAfter,
		now.Add(time.Minute).Format(time.RFC850):         time.Minute, "Fri, 99 Jan 2026": 0,
	} {
		for status, heeded := range map[int]bool{
			429: true,
			503: true,
			200: false,
			500: false,
			302: false,
		} {
			expected := time.Duration(0)
			if heeded {
				expected = want
			}
			if got := retryAfter(&http.Response{
				StatusCode: status,
				Header:     http.Header{"Retry-After": {text}},
			}, now); got != expected {
				t.Errorf("%d, %q: %v, want %v", status, text, got, expected)
			}
		}
	}

	url := testServer(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Retry-After", "120")
		w.WriteHeader(503)
	})
	if r := sent(t, testClient(t, "127.0.0.1"), url); r.RetryAfter != 2*time.Minute ||
		r.Status != 503 {
		t.Errorf("%+v", r)
	}
}

// Error pages repeat the request.
func TestSend_ResponseHidesURL(t *testing.T) {
	url := testServer(t, func(w http.ResponseWriter, r *http.Request) {
		w.WriteHeader(404)
		fmt.Fprintf(w,
			"Cannot POST %s; path %s, query %s, token %s, x %s, signature %s. The rest stays.",
			r.URL.RequestURI(), r.URL.Path, r.URL.RawQuery, r.URL.Query().Get("token"),
			r.URL.Query().Get("x"), r.Header.Get("webhook-signature"))
	})
	r := sent(t, testClient(t, "127.0.0.1"), url)
	if want := "Cannot POST …; path …, query …, token …, x …, signature … …. The rest stays."; r.Response != want {
		t.Errorf("got %s", r.Response)
	}
}

func TestSend_ResponseBound(t *testing.T) {
	for name, body := range map[string]string{
		"long": strings.Repeat("é", 5000), "longer": strings.Repeat("ab", 100<<10),
		"invalid": strings.Repeat("a\xff", 5000), "cut character": "a" + strings.Repeat("世", 2000),
		"url at the end":   strings.Repeat("x", maxBody-12) + hiddenPath,
		"url often":        strings.Repeat(hiddenPath, 5000),
		"url at the limit": strings.Repeat(" ", maxExcerpt-5) + hiddenPath,
	} {
		url := testServer(t, func(w http.ResponseWriter, r *http.Request) {
			io.WriteString(w, body)
		})
		r := sent(t, testClient(t, "127.0.0.1"), url)
		if r.Status != 200 || !r.Fault.Empty() || len(r.Response) < 1000 {
			t.Errorf("%s: %d, %s, %d bytes", name, r.Status, r.Fault, len(r.Response))
		}
	}
}

// A compressed response is not decompressed, and not asked for.
func TestCompressedResponse(t *testing.T) {
	var bomb bytes.Buffer
	w := gzip.NewWriter(&bomb)
	w.Write(make([]byte, 4<<20)) // to a buffer
	must(t, w.Close())
	url := testServer(t, func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Accept-Encoding") != "" {
			w.WriteHeader(500)
		}
		w.Header().Set("Content-Encoding", "gzip")
		w.Write(bomb.Bytes())
	})
	if r := sent(t, testClient(t, "127.0.0.1"), url); r.Status != 200 || r.Response != "" {
		t.Errorf("%d, %q", r.Status, r.Response)
	}
}

func TestBadMessages(t *testing.T) {
	other, connections := counted(t)
	c := testClient(t, "127.0.0.1")
	for name, r := range map[string]Result{
		"no secret":    c.Send(t.Context(), other, nil, testMessage),
		"a bad secret": c.Send(t.Context(), other, []string{"whsec_canary"}, testMessage),
		"a bad URL":    c.Send(t.Context(), "ftp://canary/", []string{NewSecret()}, testMessage),
		"an address": c.Send(t.Context(), "https://127.0.0.2/canary", []string{NewSecret()},
			testMessage),
		"a bad ID": c.Send(t.Context(), other, []string{NewSecret()},
			&Message{ID: "a\r\nX-Canary: b"}),
		"an ended call": c.Send(ended(t), other, []string{NewSecret()}, testMessage),
	} {
		if r.Fault.Code() == "" || r.Status != 0 {
			t.Errorf("%s: %+v", name, r)
		}
		checkHidden(t, r, nil)
	}

	if n := connections.Load(); n != 0 {
		t.Errorf("the server received %d connections", n)
	}
}

func ended(t *testing.T) context.Context {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	return ctx
}

// The end of the server's context ends an attempt.
func TestSend_EndedByShutdown(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	url := rawServer(t, func(conn net.Conn) {
		cancel()
		io.Copy(io.Discard, conn)
	})
	r := testClient(t, "127.0.0.1").Send(ctx, url, []string{NewSecret()}, testMessage)
	if r.Fault.Code() != "shutting_down" {
		t.Errorf("%s", r.Fault)
	}
}
