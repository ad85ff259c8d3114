package e2e

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
)

// TestLoginFlood_OtherNetworksUnaffected floods sign-ins from one network, over 40 connections and
// from ever new addresses of its /48. An administrator at another address can sign in, and so can
// one in the same network on a known device.
func TestLoginFlood_OtherNetworksUnaffected(t *testing.T) {
	const connections, signIns = 40, 12
	b := besiege(t, "REEVE_SERVER__TRUSTED_PROXIES=127.0.0.0/8")
	// Each sign-in opens a session, and too many end the oldest: the reader's.
	b.want(200, "POST", "/admin/list",
		object("username", "second", "password", password, "status", 1))
	first := newClient(t, b.process)
	device := into[struct {
		Token string `json:"device_token"`
	}](t,
		first.want(200, "POST", "/admin/login", object("username", "second", "password", password))).Token

	var mu sync.Mutex
	answers := map[string][]int{}
	flood := func() []byte {
		from := fmt.Sprintf("2001:db8:1:%x::1", rand.IntN(1<<16))
		return rawPost(b.process, "/admin/login", from,
			object("username", fmt.Sprint("u", rand.Uint64()), "password", "wrong wrong"))
	}

	var begun sync.WaitGroup
	begun.Add(connections)
	b.endures(t, connections+2, func(i int, stop <-chan struct{}) {
		name, request := "the flood", flood
		switch i {
		case connections:
			name, request = "a user elsewhere", func() []byte {
				return rawPost(b.process, "/admin/login", "203.0.113.50",
					object("username", "second", "password", password))
			}
		case connections + 1:
			name, request = "a known device", func() []byte {
				return rawPost(b.process, "/admin/login", "2001:db8:1:2::3",
					object("username", "second", "password", password, "device_token", device))
			}
		}

		ask := func() {
			w, err := dial(b.process) // a rejection closes the connection
			if err != nil {
				t.Errorf("%s: %v", name, err)
				return
			}
			defer w.conn.Close()
			status, _, err := w.ask(request())
			if err != nil {
				t.Errorf("%s: %v", name, err)
			}
			mu.Lock()
			answers[name] = append(answers[name], status)
			mu.Unlock()
		}
		if i >= connections {
			begun.Wait()
			for range signIns {
				ask()
			}
			return
		}

		ask()
		begun.Done()
		for !stopped(stop) && !t.Failed() {
			ask()
		}
	})
	for _, name := range []string{"a user elsewhere", "a known device"} {
		if want := slices.Repeat([]int{200}, signIns); !slices.Equal(answers[name], want) {
			t.Errorf("%s is answered %v", name, answers[name])
		}
	}

	counts := map[int]int{}
	for _, status := range answers["the flood"] {
		counts[status]++
	}

	t.Logf("the flood was answered %v", counts)
	if counts[503] == 0 || counts[401] == 0 || counts[200] > 0 {
		t.Errorf("the flood was answered %v: it did not fill the queue", counts)
	}
}

// Fifty failed sign-ins through a proxy that is not configured lock out unknown devices
// behind it, but not a known one; the log names the setting.
func TestUnconfiguredProxy(t *testing.T) {
	t.Parallel()
	p := start(t, t.TempDir())
	c := newClient(t, p)
	c.extra["X-Forwarded-For"] = "198.51.100.1"
	cookie, _, _ := strings.Cut(c.want(200, "POST", "/admin/login",
		object("username", "admin", "password", password)).header.Get("Set-Cookie"), ";")
	for i := range 50 {
		c.want(401, "POST", "/admin/login",
			object("username", fmt.Sprint("u", i), "password", "wrong wrong"))
	}

	c.want(429, "POST", "/admin/login", object("username", "admin", "password", password))
	c.extra["Cookie"] = cookie
	c.signIn(password)
	health := string(c.want(200, "GET", "/system/health", "").raw)
	warnings := strings.Join(p.log.messages(t, "warn"), "\n")
	if strings.Count(warnings, "server.trusted_proxies") != 1 ||
		!strings.Contains(health, "server.trusted_proxies") {
		t.Errorf("the cause is not told: %q, %s", warnings, health)
	}
}
