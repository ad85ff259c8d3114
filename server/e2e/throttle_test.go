package e2e

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
)

func TestRateLimit_RefusedAtOnce(t *testing.T) {
	t.Parallel()
	p := start(t, t.TempDir(), "REEVE_SERVER__TRUSTED_PROXIES=127.0.0.0/8")
	for _, name := range []string{"admin", "nobody-of-this-name"} {
		c := newClient(t, p)
		c.extra["X-Forwarded-For"] = "203.0.113.7"
		for range 5 {
			c.want(401, "POST", "/admin/login", object("username", name, "password", "wrong wrong"))
		}
		a := c.want(429, "POST", "/admin/login",
			object("username", strings.ToUpper(name), "password", password))
		if a.header.Get("Retry-After") == "" || a.ErrorCode == "" {
			t.Errorf("%v %s", a.header, a.raw)
		}
		c.extra["X-Forwarded-For"] = "203.0.113.8"
		c.want(401, "POST", "/admin/login", object("username", name, "password", "wrong wrong"))
	}

	c := newClient(t, p)
	c.extra["X-Forwarded-For"] = "203.0.113.9" // the user is not locked out at another address
	c.signIn(password)
}

// The counters are limited in number, and a flood must not evict those of a guesser, or
// enough junk requests would allow unlimited guesses.
func TestRateLimit_FloodKeepsCounters(t *testing.T) {
	onlyInCI(t, "it sends more attempts than there are counters")
	attempts := size(0, 130_000, 1_000_000)
	p := start(t, t.TempDir(), "REEVE_SERVER__TRUSTED_PROXIES=127.0.0.0/8")
	guess := func(i int) *answer {
		c := newClient(t, p)
		c.extra["X-Forwarded-For"] = fmt.Sprintf("203.0.113.%d", i)
		return c.call("POST", "/admin/login",
			object("username", fmt.Sprintf("victim%d", i), "password", "wrong wrong"))
	}

	const guessers = 8
	for i := range guessers {
		for range 5 {
			guess(i)
		}
		if a := guess(i); a.status != 429 {
			t.Fatalf("the sixth guess is answered %d", a.status)
		}
	}

	var wg sync.WaitGroup
	for range 16 {
		w, err := dial(p)
		if err != nil {
			t.Fatal(err)
		}
		wg.Go(func() {
			defer w.conn.Close()
			for range attempts / 16 {
				body := object("username", fmt.Sprintf("u%d", rand.Uint64()), "password",
					"wrong wrong")
				if status, _, err := w.ask(rawPost(p, "/admin/login", "198.51.100.1", body)); err != nil || status < 401 {
					t.Errorf("the flood is answered %d, %v", status, err)
					return
				}
			}
		})
	}

	wg.Wait()
	for i := range guessers {
		if a := guess(i); a.status != 429 {
			t.Errorf("after the flood guesser %d is answered %d and may go on", i, a.status)
		}
	}
}
