package auth

import (
	"fmt"
	"net/netip"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
)

// fill takes every slot and every place in the lines, until release.
func (q *queue) fill() (release func()) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.free = 0
	q.unknown.n, q.known.n = q.unknown.limit, q.known.limit
	return func() {
		q.mu.Lock()
		defer q.mu.Unlock()
		q.free, q.unknown.n, q.known.n = q.slots, 0, 0
	}
}

// waiters are callers of a queue with one slot, which is taken. order has the names of
// those who got the slot, in order.
type waiters struct {
	q         *queue
	wg        sync.WaitGroup
	mu        sync.Mutex
	order     []string
	displaced []string
}

func newWaiters(perSlot int) *waiters {
	w := &waiters{q: newQueue(1, perSlot)}
	w.q.acquire(hashCaller{key: "first"})
	return w
}

// join starts a waiting caller in a synctest bubble.
func (w *waiters) join(p hashCaller, name string) {
	w.wg.Go(func() {
		turn := w.q.acquire(p)
		w.mu.Lock()
		if turn {
			w.order = append(w.order, name)
		} else {
			w.displaced = append(w.displaced, name)
		}
		w.mu.Unlock()
		if turn {
			w.q.release()
		}
	})
	synctest.Wait()
}

// run releases the slot and waits until every caller has had it.
func (w *waiters) run() {
	w.q.release()
	w.wg.Wait()
}

func TestHashQueue_FairSlots(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWaiters(16)
		for i := range 6 {
			w.join(hashCaller{key: "flood"}, fmt.Sprint("flood ", i))
		}

		w.join(hashCaller{key: "office"}, "office 0")
		w.join(hashCaller{key: "office"}, "office 1")
		for i := range 3 {
			w.join(hashCaller{known: true, key: "admin 1"}, fmt.Sprint("known ", i))
		}

		w.join(hashCaller{known: true, key: "admin 2"}, "other 0")
		w.run()
		want := []string{"known 0", "flood 0", "other 0", "office 0", "known 1", "flood 1",
			"known 2", "office 1", "flood 2", "flood 3", "flood 4", "flood 5"}
		if !slices.Equal(w.order, want) {
			t.Errorf("%q, want %q", w.order, want)
		}
		if w.q.free != 1 ||
			w.q.unknown.n+w.q.known.n+len(w.q.unknown.waiting)+len(w.q.known.waiting) != 0 {
			t.Errorf("something is left: %+v", w.q)
		}
	})
}

func TestHashQueue_FullMakesRoom(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWaiters(5) // four callers can wait
		for i := range 6 {
			w.join(hashCaller{key: "flood"}, fmt.Sprint("flood ", i))
		}

		w.join(hashCaller{key: "office"}, "office 0")
		w.join(hashCaller{key: "home"}, "home 0")
		w.join(hashCaller{key: "office"}, "office 1") // would have as many waiting as the flood
		w.join(hashCaller{key: "cafe"}, "cafe 0")
		w.join(hashCaller{key: "train"}, "train 0") // each key has one waiting
		w.join(hashCaller{known: true, key: "admin 1"}, "known 0")
		w.run()
		if want := []string{"known 0", "flood 0", "office 0", "home 0", "cafe 0"}; !slices.Equal(w.order, want) {
			t.Errorf("%q had a slot, want %q", w.order, want)
		}
		if want := []string{"flood 4", "flood 5", "flood 3", "flood 2", "office 1", "flood 1",
			"train 0"}; !slices.Equal(w.displaced, want) {
			t.Errorf("%q had none, want %q", w.displaced, want)
		}
	})
}

func TestHashQueue_NetworkSharesKey(t *testing.T) {
	for _, tc := range []struct {
		a, b string
		same bool
	}{
		{"203.0.113.1", "203.0.113.254", true}, {"203.0.113.1", "203.0.112.1", false},
		{"2001:db8:1:1::1", "2001:db8:1:ffff::2", true}, {"2001:db8:1::1", "2001:db8:2::1", false},
	} {
		if same := unknownCaller(netip.MustParseAddr(tc.a)) == unknownCaller(netip.MustParseAddr(tc.b)); same != tc.same {
			t.Errorf("%s and %s: %t", tc.a, tc.b, same)
		}
	}
}
