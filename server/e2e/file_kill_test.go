package e2e

import (
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"time"
)

// A kill at any time loses no byte of an acknowledged file, and leaves no content without a
// record.
func TestKill_DuringUploads(t *testing.T) {
	r := random(t)
	dir := t.TempDir()
	p := start(t, dir)
	c := signedIn(t, p)
	senders := make([]*sender, 6)
	for i := range senders {
		senders[i] = &sender{
			name: fmt.Sprint("s", i), random: rand.New(rand.NewPCG(r.Uint64(), r.Uint64())),
			live: map[int64]fileRecord{}, trash: map[int64]fileRecord{},
		}
	}

	cycles, sweeps := size(3, 6, 50), 0
	for cycle := range cycles {
		var wg sync.WaitGroup
		for _, s := range senders {
			wg.Go(func() {
				for range 100_000 {
					gone, err := s.step(c)
					if err != nil {
						t.Errorf("%s: %v", s.name, err)
					}
					if gone || err != nil {
						return
					}
				}
			})
		}

		time.Sleep(time.Duration(r.IntN(500_000)) * time.Microsecond) // random time of the kill
		p.kill()
		wg.Wait()
		if r.IntN(3) == 0 { // and once more during start and sweep
			early := begin(t, program(t, "--listen", "127.0.0.1:0", "--data", dir))
			time.Sleep(time.Duration(r.IntN(100_000)) * time.Microsecond)
			early.kill()
		}

		sound(t, dir)
		p = start(t, dir)
		c.base = p.url
		digests := settled(t, c, senders)
		differs := ""
		// An orderly stop does not wait for the sweep to complete, and nothing reports that
		// it is: so each further start gets more time.
		for wait := time.Duration(0); wait < 10*time.Second; wait = 2*wait + 20*time.Millisecond {
			time.Sleep(wait)
			p.stop()
			differs = storedIn(t, dir).onlyThose(digests)
			p = start(t, dir)
			if differs == "" {
				break
			}
			sweeps++
		}

		c.base = p.url
		if differs != "" {
			t.Error(differs)
		}
		if t.Failed() {
			t.Fatalf("in cycle %d", cycle)
		}
	}

	p.stop()
	sound(t, dir)
	acked := 0
	for _, s := range senders {
		acked += s.acked
	}

	t.Logf("%d kills, %d acknowledged changes, %d further starts to sweep", cycles, acked, sweeps)
	if acked < cycles {
		t.Errorf("only %d changes were acknowledged: the kills came too early to say anything",
			acked)
	}
}
