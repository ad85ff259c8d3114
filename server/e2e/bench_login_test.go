package e2e

import (
	"bytes"
	"crypto/sha1"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// benchURL is the public URL of the server, to which passkeys are bound.
const benchURL = "http://localhost:8080"

// BenchmarkLoginFlood measures how a flood of wrong sign-ins over 32 connections, at the
// default cost of 12, slows down a client that reads the settings. One flood comes from one
// address and is stopped by rate limiting; one comes from ever new addresses and reaches
// the hashing and its queue. The client shares the machine with the server, so there are
// two baselines: no flood, and a flood of reads, which shows the effect of a busy machine.
// A paced flood waits 10 ms after each rejection and leaves the machine some idle time.
//
// The other floods, paced, are of the other ways in, with everything turned on that they involve:
// second factors, a list of leaked passwords, registration, mail, sessions bound to a network.
// Floods of codes, passkeys and links are of made-up ones, which are rejected at once; those called
// right are of right passwords, followed by wrong codes, and of a known passkey with a wrong
// signature. Confirmations are those of signed-in users, with wrong passwords.
func BenchmarkLoginFlood(b *testing.B) {
	paced := 10 * time.Millisecond
	for _, tc := range []struct {
		name        string
		connections int
		until       int // status that starts the measurement
		pause       time.Duration
		prepare     prepare // nil for reads
	}{
		{"none", 0, 0, 0, nil},
		{"reads-instead", 32, 200, 0, nil},
		{"one-address", 32, 401, 0, posts("/admin/login", oneAddress, wrongLogin)},
		{"many-addresses", 32, 503, 0, posts("/admin/login", anyAddress, wrongLogin)},
		{"one-address-paced", 32, 401, paced, posts("/admin/login", oneAddress, wrongLogin)},
		{"many-addresses-paced", 32, 503, paced, posts("/admin/login", anyAddress, wrongLogin)},
		{"app-users", 32, 503, paced, posts("/api/login", anyAddress, wrongLogin)},
		{"codes", 32, 401, paced, posts("/admin/login/totp", anyAddress, func() string {
			return object("login_token", fakeToken("rv_p_"), "otp", "123456")
		})},
		{"right-codes", 32, 401, paced, wrongCodes},
		{"passkeys", 32, 422, paced, posts("/admin/login/passkey", anyAddress, func() string {
			return object("credential", map[string]any{
				"id":       "x",
				"type":     "public-key",
				"response": map[string]any{"clientDataJSON": strings.Repeat("A", 7_000)},
			})
		})},
		{"right-passkeys", 32, 401, paced, wrongSignatures},
		{"confirmations", 32, 422, paced, wrongConfirmations},
		{"forgotten-passwords", 32, 200, paced,
			posts("/admin/password/forgot", anyAddress, func() string {
				return object("username", fmt.Sprintf("user%d", rand.Uint32()))
			})},
		{"registrations", 32, 422, paced, posts("/api/register", anyAddress, func() string { // of a leaked password, which is looked up in the list
			return object("username", fmt.Sprintf("user%d", rand.Uint32()), "password",
				leakedPassword)
		})},
		{"links", 32, 404, paced, posts("/api/password/link", anyAddress, func() string {
			return object("token", fakeToken("rv_l_"), "password", "long enough it is")
		})},
	} {
		b.Run(tc.name, func(b *testing.B) {
			p := start(b, b.TempDir(), "REEVE_SERVER__TRUSTED_PROXIES=127.0.0.0/8",
				"REEVE_AUTH__BCRYPT_COST=12", "REEVE_AUTH__BREACHED_PASSWORDS="+leakedList(b),
				"REEVE_SERVER__PUBLIC_URL="+benchURL)
			c := signedIn(b, p)
			c.want(200, "PUT", "/system/setting",
				values("app.registration", true, "app.second_factor", true,
					"security.session_network", true, "security.password_history", 5,
					"mail.enabled", true, "mail.host", "127.0.0.1", "mail.port", 1, "mail.security",
					"none", "mail.from", "reeve@example.org"))
			c.factor()
			request := rawRequest(p, "/system/setting", c.token)
			f := &flood{
				process: p,
				pause:   tc.pause,
				read:    request,
				stop:    make(chan struct{}),
				answers: map[int]int{},
			}
			if tc.prepare != nil {
				f.attack = tc.prepare(b, p, c)
			}

			for range tc.connections {
				f.join(b)
			}

			if tc.connections > 0 {
				eventually(b, fmt.Sprintf("the flood is answered %d", tc.until), func() bool {
					return f.count(tc.until) > 0
				})
			}

			var took []time.Duration
			before, from, lines := f.counts(), time.Now(), p.log.lines()
			for b.Loop() {
				took = append(took, watch(b, p, request)...)
			}

			seconds := time.Since(from).Seconds()
			for status, n := range f.counts() {
				b.ReportMetric(float64(n-before[status])/seconds, fmt.Sprintf("%d/s", status))
			}

			b.ReportMetric(float64(p.log.lines()-lines)/seconds, "log-lines/s")
			close(f.stop)
			f.Wait()
			slices.Sort(took)
			b.ReportMetric(0, "ns/op")
			b.ReportMetric(float64(took[len(took)/2].Microseconds())/1000, "p50-ms")
			b.ReportMetric(float64(took[len(took)*99/100].Microseconds())/1000, "p99-ms")
			b.ReportMetric(float64(took[len(took)-1].Microseconds())/1000, "max-ms")
		})
	}
}

func wrongLogin() string {
	return object("username", fmt.Sprintf("user%d", rand.Uint32()), "password",
		fmt.Sprintf("wrong %d", rand.Uint64()))
}

const leakedPassword = "leaked long ago"

// leakedList writes a list of a million leaked passwords.
func leakedList(b *testing.B) (path string) {
	b.Helper()
	lines := make([]string, 0, 1_000_001)
	for i := range 1_000_000 {
		lines = append(lines, fmt.Sprintf("%X:1\n", sha1.Sum(fmt.Append(nil, i))))
	}
	lines = append(lines, fmt.Sprintf("%X:7\n", sha1.Sum([]byte(leakedPassword))))
	slices.Sort(lines)
	path = filepath.Join(b.TempDir(), "leaked.txt")
	if err := os.WriteFile(path, []byte(strings.Join(lines, "")), 0o600); err != nil {
		b.Fatal(err)
	}
	return path
}

// fakeToken returns a text that looks like a token.
func fakeToken(prefix string) string {
	return prefix + fmt.Sprintf("%043d", rand.Uint64()) + "AAAAAA"
}

// flood is many connections that do the same to one process until stop is closed.
type flood struct {
	process *process
	pause   time.Duration
	read    []byte
	attack  attack // what a connection does again and again; nil to send read
	stop    chan struct{}
	sync.WaitGroup

	mu      sync.Mutex
	answers map[int]int // by status
}

func (f *flood) count(status int) int { return f.counts()[status] }

func (f *flood) counts() map[int]int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return maps.Clone(f.answers)
}

// join adds a connection.
func (f *flood) join(b *testing.B) {
	w, err := dial(f.process)
	if err != nil {
		b.Fatal(err)
	}
	f.Go(func() {
		defer w.conn.Close()
		failed := false
		send := func(request []byte) (status int) {
			status, _, err := w.ask(request)
			if err != nil || !slices.Contains([]int{200, 401, 404, 422, 429, 503}, status) {
				b.Errorf("the flood is answered %d, %v", status, err)
				failed = true
				return 0
			}
			f.mu.Lock()
			f.answers[status]++
			f.mu.Unlock()
			if f.pause > 0 && status != 401 {
				time.Sleep(f.pause)
			}
			return status
		}

		attack := f.attack
		if attack == nil {
			attack = func(asker) { send(f.read) }
		} else {
			w.body = &bytes.Buffer{}
		}

		for !failed {
			select {
			case <-f.stop:
				return
			default:
			}
			attack(func(path, token, address, body string) (status int, answer []byte) {
				status = send(rawPostAs(f.process, path, token, address, body))
				return status, w.body.Bytes()
			})
		}
	})
}

// watch sends a hundred requests per second for some seconds and returns their durations,
// measured from the time when each was due: a slow response also delays the next request.
func watch(b *testing.B, p *process, request []byte) []time.Duration {
	const every, n = 10 * time.Millisecond, 1000
	w, err := dial(p)
	if err != nil {
		b.Fatal(err)
	}

	defer w.conn.Close()
	took := make([]time.Duration, 0, n)
	begun := time.Now()
	for i := range n {
		due := begun.Add(time.Duration(i) * every)
		time.Sleep(time.Until(due))
		if status, _, err := w.ask(request); err != nil || status != 200 {
			b.Fatalf("%d, %v", status, err)
		}
		took = append(took, time.Since(due))
	}

	return took
}
