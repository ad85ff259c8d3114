package e2e

import (
	"encoding/json"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
)

// A program that repeats every request without a response, with the same Idempotency-Key, after the
// server was killed creates each record once.
func TestIdempotency_RepeatAfterKill(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	const writers = 8
	var mu sync.Mutex
	ids := map[string]int64{} // of the created record, by key
	unanswered := 0
	for round := range size(2, 4, 20) {
		p := start(t, dir)
		c := signedIn(t, p)
		create := func(key string) (int64, error) {
			again := *c
			again.extra = map[string]string{"Idempotency-Key": key}
			a, err := again.do("POST", "/admin/role", object("name", "role "+key))
			if err != nil {
				return 0, err
			}
			var role struct{ ID int64 }
			if a.status != 200 {
				t.Errorf("%s: %d %s", key, a.status, a.raw)
			}
			return role.ID, json.Unmarshal(a.Data, &role)
		}

		var answered atomic.Int64
		var wg sync.WaitGroup
		var open []string // keys of requests without a response
		for w := range writers {
			wg.Go(func() {
				for n := 0; ; n++ {
					key := fmt.Sprintf("%d-%d-%d", round, w, n)
					id, err := create(key)
					mu.Lock()
					if err != nil {
						open = append(open, key)
						mu.Unlock()
						return
					}
					ids[key] = id
					mu.Unlock()
					if answered.Add(1) == 40 {
						go p.kill()
					}
				}
			})
		}

		wg.Wait()
		<-p.done
		p = start(t, dir)
		c = signedIn(t, p)
		unanswered += len(open)
		for _, key := range open {
			id, err := create(key)
			if err != nil {
				t.Fatal(err)
			}
			ids[key] = id
		}

		for key, id := range ids {
			if again, err := create(key); err != nil || again != id {
				t.Errorf("%s: record %d, and then %d, %v", key, id, again, err)
			}
		}

		total := into[struct{ Total int }](t, c.want(200, "GET", "/admin/role?pageSize=1", "")).Total
		if total != len(ids)+1 { // and the owner role
			t.Errorf("%d roles, want %d", total, len(ids)+1)
		}

		p.kill()
	}

	t.Logf("%d records; %d requests had no response", len(ids), unanswered)
}
