package redis

import (
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http/httptest"
	"runtime"
	"strings"
	"testing"
	"time"
)

const goodRedisInfo = "redis_version:7.0.0\r\nrole:master\r\nrun_id:1\r\nuptime_in_seconds:5\r\n"

// sendForever sends a text until the connection is closed.
func sendForever(text string) func(net.Conn) {
	return func(c net.Conn) {
		many := strings.Repeat(text, 1+(64<<10)/len(text))
		for {
			if _, err := io.WriteString(c, many); err != nil {
				return
			}
		}
	}
}

func TestHostileRedis(t *testing.T) {
	const tooMuch, nonsense, late, closes = "its reply is too large", "redigo: ", "it does not answer in time", "it closes the connection"
	const noInfo = "its reply to INFO is not that of Redis"
	then := func(text string) func(net.Conn) { return answers("+OK\r\n", text) }
	for name, tc := range map[string]struct {
		serve func(net.Conn)
		says  string
	}{
		"nothing":            {func(c net.Conn) { io.Copy(io.Discard, c) }, late},
		"hanging up at once": {func(net.Conn) {}, ""},
		"hanging up within an answer": {func(c net.Conn) {
			c.Read(make([]byte, 100))
			io.WriteString(c, "$5\r\nab")
		}, closes},
		"an answer that never ends":  {then("$5\r\nab"), late},
		"one line without an end":    {sendForever("x"), tooMuch},
		"one error without an end":   {sendForever("-x"), tooMuch},
		"numbers without an end":     {sendForever(":1\r\n"), nonsense},
		"line breaks without an end": {sendForever("\r\n"), nonsense},
		"arrays within arrays":       {sendForever("*1\r\n"), tooMuch},
		"wide arrays within arrays":  {sendForever("*8000\r\n"), tooMuch},
		"a text that is never the last": {func(c net.Conn) {
			io.WriteString(c, "*9999\r\n")
			sendForever(bulk(strings.Repeat("x", 9999)))(c)
		}, tooMuch},
		"an array of a billion":         {then("*1000000000\r\n"), tooMuch},
		"an array of no number":         {then("*many\r\n"), nonsense},
		"an array below nothing":        {then("*-2\r\n"), nonsense},
		"an array beyond numbers":       {then("*99999999999999999999999999\r\n"), tooMuch},
		"a number that wraps round":     {then("*9223372036854775808\r\n"), tooMuch},
		"a number that wraps to little": {then("$18446744073709551617\r\na\r\n"), tooMuch},
		"a text of four gigabytes":      {then("$4294967296\r\n"), tooMuch},
		"a text with zeros before it": {then("$000000000000000000005\r\nab\r\n*999999999\r\n"),
			tooMuch},
		"a text of no length":          {then("$\r\n"), nonsense},
		"a text that is longer":        {then("$1\r\nab\r\n"), nonsense},
		"no carriage return":           {then("$1\na\n"), nonsense},
		"a web server":                 {answers("HTTP/1.1 400 Bad Request\r\n\r\n"), nonsense},
		"its own question":             {func(c net.Conn) { io.Copy(c, c) }, nonsense},
		"the password as an error":     {answers("-" + testPassword + "\r\n"), "******"},
		"the password as INFO's error": {then("-ERR " + testPassword + "\r\n"), "******"},
		"an escape as INFO's error":    {then("-ERR \x1b[2J\r\n"), "ERR \uFFFD[2J"},
		"the password as a line":       {answers(testPassword + "\r\n"), nonsense},
		"INFO as a number":             {then(":1\r\n"), nonsense},
		"INFO as nothing":              {then("$-1\r\n"), nonsense},
		"INFO of something else":       {then(bulk("hello")), noInfo},
		"SLOWLOG as a number": {answers("+OK\r\n", bulk(goodRedisInfo), ":1\r\n"),
			nonsense},
		"SLOWLOG of numbers": {answers("+OK\r\n", bulk(goodRedisInfo), "*1\r\n:1\r\n"),
			nonsense},
		"byte by byte": {func(c net.Conn) {
			for _, err := io.WriteString(c, "+"); err == nil; _, err = io.WriteString(c, "x") {
				runtime.Gosched()
			}
		}, late},
	} {
		t.Run(name, func(t *testing.T) {
			s := newStepped(t, urlOf(fakeRedis(t, tc.serve)))
			s.timeout = patience
			if tc.says == late {
				s.timeout = 50 * time.Millisecond
			}

			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			got := s.refused()
			runtime.ReadMemStats(&after)
			if !strings.HasPrefix(got, tc.says) || strings.Contains(got, testPassword) {
				t.Errorf("%q, want %q", got, tc.says)
			}
			if used := after.TotalAlloc - before.TotalAlloc; used > 64<<20 {
				t.Errorf("it took %d MiB", used>>20)
			}
		})
	}
}

// TestHostileRedisFigures runs a server that speaks the protocol and sends false
// values.
func TestHostileRedisFigures(t *testing.T) {
	info := goodRedisInfo + "role:" + testPassword + "\r\nmaxmemory:-5\r\nused_memory:99999999999999999999\r\nconnected_clients:many\r\nkeyspace_hits:9223372036854775807\r\nkeyspace_misses:9223372036854775807\r\n" +
		"db0:keys=-1\r\ndb1:keys=2,keys=3\r\ndb:keys=1\r\ndb123456:keys=1\r\n"
	for i := range 300 {
		info += fmt.Sprintf("db%d:keys=1\r\n", 100+i)
	}

	info = strings.Replace(info, "7.0.0", strings.Repeat("7\x1b", 100), 1)
	stats := "cmdstat_get:calls=-1,usec=5\r\ncmdstat_:calls=1,usec=1\r\ncmdstat_a b:calls=1,usec=1\r\ncmdstat_" + testPassword + ":calls=1,usec=9223372036854775807\r\n"
	slow := "*4\r\n" + "*4\r\n:2\r\n:1\r\n:1\r\n*0\r\n" +
		"*4\r\n:9223372036854775807\r\n:9223372036854775807\r\n:-5\r\n*2\r\n" + bulk("GET") + bulk("a"+testPassword) +
		"*4\r\n:4\r\n:1\r\n:1\r\n*2\r\n" + bulk("bad name") + bulk("key") +
		"*6\r\n:5\r\n:1\r\n:1\r\n*2\r\n" + bulk("get") + bulk("key") + bulk(testPassword) + bulk("name")

	quiet := strings.ReplaceAll(goodRedisInfo, "uptime_in_seconds:5", "uptime_in_seconds:1")
	s := newStepped(t,
		urlOf(fakeRedis(t,
			inTurn(answers("+OK\r\n", bulk(quiet), "*0\r\n"),
				answers("+OK\r\n", bulk(info+stats), slow)))))
	s.polled()
	all := s.polled()
	encoded, err := json.Marshal(all)
	must(t, err)
	if strings.Contains(strings.ToLower(string(encoded)), testPassword) {
		t.Errorf("the password is in: %s", encoded)
	}
	if len(eventsOf("info", all)) != 1 {
		t.Fatalf("%s", encoded)
	}

	in := all[0].Info
	if in.MaxMemory != 0 || in.UsedMemory != 0 || in.ConnectedClients != 0 || *in.HitRate != 0.5 ||
		len(in.Version) > maxText || strings.Contains(in.Version, "\x1b") {
		t.Errorf("%s", encoded)
	}
	if len(in.Keys) != maxDatabases || in.Keys["db0"] != 0 || in.Keys["db1"] != 2 {
		t.Errorf("databases: %v", in.Keys)
	}

	var got []string
	for _, e := range append(eventsOf("command", all), eventsOf("slowlog", all)...) {
		got = append(got,
			strings.TrimSpace(fmt.Sprintf("%s %s %s %v", e.Command, e.Key, e.Client, e.DurationMS)))
	}

	want := strings.Join([]string{"******   0", "GET key ****** 0.001", "?   0.001",
		"GET ******  0", "?   0.001"}, "|")
	if strings.Join(got, "|") != want {
		t.Errorf("%q\nwant\n%q", strings.Join(got, "|"), want)
	}
}

func TestPoll_SlowDelaysNoOther(t *testing.T) {
	r := startServer(t)
	silent := fakeRedis(t, func(c net.Conn) { io.Copy(io.Discard, c) })
	p := newTestPoller(t, "silent="+urlOf(silent), "good="+urlOf(r.addr),
		"loud="+urlOf(fakeRedis(t, sendForever("x"))))
	p.every, p.timeout = time.Millisecond, time.Hour
	w := runPoller(t, p)
	for range 5 {
		w.next("good", "info")
	}
	w.end() // although the silent server may stay silent for an hour
}

func TestPoll_EndsWhileConnecting(t *testing.T) {
	began := make(chan struct{}, 1)
	addr := fakeRedis(t, func(c net.Conn) {
		began <- struct{}{}
		io.Copy(io.Discard, c)
	})
	p := newTestPoller(t, "it=rediss://"+addr)
	p.timeout = time.Hour
	w := runPoller(t, p)
	<-began
	w.end()
}

func TestRedisOverTLS(t *testing.T) {
	web := httptest.NewTLSServer(nil)
	defer web.Close()
	heard := make(chan string, 10)
	l, err := tls.Listen("tcp", "127.0.0.1:0", web.TLS.Clone())
	must(t, err)
	good := answers("+OK\r\n", bulk(goodRedisInfo), "*0\r\n")
	serveRedis(t, l, func(c net.Conn) {
		if err := c.(*tls.Conn).Handshake(); err != nil {
			heard <- "no handshake"
			return
		}
		good(c)
	})
	url := strings.Replace(urlOf(l.Addr().String()), "redis:", "rediss:", 1)
	s := newStepped(t, url)
	if got := s.refused(); !strings.Contains(got, "certificate") {
		t.Errorf("an unknown certificate: %q", got)
	}
	if got := <-heard; got != "no handshake" {
		t.Errorf("it hears %q", got)
	}

	s.roots = x509.NewCertPool()
	s.roots.AddCert(web.Certificate())
	if all := s.polled(); len(eventsOf("info", all)) != 1 {
		t.Errorf("a known certificate: %+v", all)
	}

	plain := strings.Replace(urlOf(fakeRedis(t, sendForever("-ERR\r\n"))), "redis:", "rediss:", 1)
	if got := newStepped(t, plain).refused(); !strings.Contains(got, "tls") {
		t.Errorf("a server without TLS: %q", got)
	}
}
