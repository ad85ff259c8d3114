package e2e

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// held is the expected state of one writer's settings: the values by key, absent for none,
// and the one change that was sent and not yet acknowledged.
type held struct {
	name   string
	group  string
	random *rand.Rand
	values map[string]string
	ids    map[string]int64
	next   int
	flight map[string]string // by key, the new value; "" for deleted
	acked  int
}

// maxHeld keeps the database small however long the test runs.
const maxHeld = 6

// step makes one change and records it when it is acknowledged. It reports the server's end
// as gone; any other failure is an error.
func (h *held) step(c *client) (gone bool, err error) {
	h.next++
	value := fmt.Sprint(h.next)
	keys := make([]string, 0, len(h.values))
	for key := range h.values {
		keys = append(keys, key)
	}

	slices.Sort(keys)
	method, path, body := "POST", "/system/setting", ""
	switch n := h.random.IntN(10); {
	case len(keys) < 2 || n < 3 && len(keys) < maxHeld:
		key := fmt.Sprintf("%s_%d", h.name, h.next)
		h.flight = map[string]string{key: value}
		body = define(h.group, key, "input", value)
	case n < 5:
		key := keys[h.random.IntN(len(keys))]
		h.flight = map[string]string{key: ""}
		method, path = "DELETE", fmt.Sprintf("/system/setting/%d", h.ids[key])
	case n < 8:
		key := keys[h.random.IntN(len(keys))]
		h.flight = map[string]string{key: value}
		method, path, body = "PUT", fmt.Sprintf("/system/setting/%d", h.ids[key]), object("values",
			value)
	default: // two in one request: both or neither
		h.flight = map[string]string{keys[0]: value, keys[1]: value}
		method, body = "PUT", values("killed."+keys[0], value, "killed."+keys[1], value)
	}

	a, err := c.do(method, path, body)
	if err != nil {
		return true, nil
	}
	if a.status != 200 {
		return false, fmt.Errorf("%s %s %s: %d %s", method, path, body, a.status, a.raw)
	}

	for key, v := range h.flight {
		if v == "" {
			delete(h.values, key)
			continue
		}
		h.values[key] = v
		if method == "POST" {
			var s setting
			if err := json.Unmarshal(a.Data, &s); err != nil {
				return false, err
			}
			h.ids[key] = s.ID
		}
	}

	h.flight = nil
	h.acked++
	return false, nil
}

// settle compares the stored settings with the acknowledged ones: all of them, and all or
// nothing of the unacknowledged change.
func (h *held) settle(t *testing.T, stored map[string]setting) {
	t.Helper()
	applied := 0
	for key, want := range h.flight {
		got, there := stored[key]
		switch {
		case there == (want != "") && got.Values == want:
			applied++
			delete(h.values, key)
			if there {
				h.values[key], h.ids[key] = want, got.ID
			}
		case there != (h.values[key] != "") || got.Values != h.values[key]:
			t.Errorf("%s is %+v (there: %t): neither %q, which was acknowledged, nor %q, which was under way", key, got, there, h.values[key], want)
		}
	}

	if applied != 0 && applied != len(h.flight) {
		t.Errorf("of a change of %v only %d came through", h.flight, applied)
	}

	h.flight = nil
	for key, want := range h.values {
		if got := stored[key]; got.Values != want || got.ID != h.ids[key] {
			t.Errorf("%s is %+v, acknowledged was %q with id %d", key, got, want, h.ids[key])
		}
	}
}

func TestKill_UnderLoadKeepsAcknowledged(t *testing.T) {
	r := random(t)
	dir := t.TempDir()
	p := start(t, dir)
	c := signedIn(t, p)
	group := c.group("killed")
	writers := make([]*held, 8)
	for i := range writers {
		writers[i] = &held{
			name: fmt.Sprintf("w%d", i), group: group,
			random: rand.New(rand.NewPCG(r.Uint64(), r.Uint64())),
			values: map[string]string{}, ids: map[string]int64{},
		}
	}

	cycles := size(4, 20, 300)
	for cycle := range cycles {
		var wg sync.WaitGroup
		for _, w := range writers {
			wg.Go(func() {
				for range 100_000 {
					gone, err := w.step(c)
					if err != nil {
						t.Errorf("a writer: %v", err)
					}
					if gone || err != nil {
						return
					}
				}
			})
		}

		time.Sleep(time.Duration(r.IntN(200_000)) * time.Microsecond) // random time of the kill
		p.kill()
		wg.Wait()
		if r.IntN(4) == 0 { // and once more during the start
			early := begin(t, program(t, "--listen", "127.0.0.1:0", "--data", dir))
			time.Sleep(time.Duration(r.IntN(60_000)) * time.Microsecond)
			early.kill()
		}
		if (cycle+1)%10 == 0 || cycle == cycles-1 {
			if v := run(t, "verify", "--data", dir); v.code != 0 {
				t.Fatalf("cycle %d: %+v", cycle, v)
			}
		}

		p = start(t, dir)
		c.base = p.url
		stored := c.settings(group)
		total := 0
		for _, w := range writers {
			w.settle(t, stored)
			total += len(w.values)
		}

		if total != len(stored) {
			t.Errorf("%d settings are stored, %d were made", len(stored), total)
		}
		if t.Failed() {
			t.Fatalf("in cycle %d", cycle)
		}
	}

	acked := 0
	for _, w := range writers {
		acked += w.acked
	}

	t.Logf("%d kills, %d acknowledged writes", cycles, acked)
	if acked < cycles {
		t.Errorf("only %d writes were acknowledged: the kills came too early to say anything",
			acked)
	}

	p.stop()
	if got := names(t, dir); !slices.Equal(got,
		[]string{"audit", "commit-mark", "data.db", "files.db", "instance", "reeve.pid",
			"secret.key"}) {
		t.Errorf("the kills have left %v", got)
	}
}

// names returns the names in a directory.
func names(t testing.TB, dir string) []string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	for _, e := range entries {
		if e.Name() != "monitor" && !strings.HasPrefix(e.Name(), "reserve") { // written asynchronously, and not required
			all = append(all, e.Name())
		}
	}
	return all
}
