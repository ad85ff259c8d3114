package auth

import (
	"net/netip"
	"slices"
	"sync"
	"time"

	"reeve/store"
)

// hashCaller identifies a caller in the queue for hashing slots. The queue has two
// lines: known callers, who have a session or a valid device token, and unknown ones. A
// line is shared fairly between its keys.
type hashCaller struct {
	known  bool
	key    string
	timing *HashTime // nil if the caller does not measure it
}

// HashTime sums up the duration of the hashes of one attempt.
type HashTime struct {
	Wait time.Duration // time in the queue
	Took time.Duration
}

// unknownCaller returns the hashCaller of a client address. A /24 of IPv4 and a /48 of
// IPv6 share one key, since one customer can have a whole network.
func unknownCaller(addr netip.Addr) hashCaller {
	bits := 24
	if addr.Is6() {
		bits = 48
	}
	if p, err := addr.WithZone("").Prefix(bits); err == nil {
		return hashCaller{key: p.String()}
	}
	return hashCaller{key: addr.String()}
}

func knownCaller(a store.Account) hashCaller {
	return hashCaller{known: true, key: realm(a.App) + " " + a.ID.String()}
}

// newPasswords is the hashCaller for passwords that administrators set.
var newPasswords = hashCaller{known: true, key: "passwords"}

// queue assigns hashing slots. While callers wait in both lines, slots alternate
// between the two, so that each gets half; within a line they rotate over the keys. A
// full line makes room for a key by displacing the last caller of the key with the most
// waiting callers, so that no key can shut out the others.
type queue struct {
	slots int

	mu        sync.Mutex
	free      int
	lastKnown bool // whether the last slot went to the known line
	unknown   line
	known     line
}

// line is the waiting callers of one kind.
type line struct {
	limit   int // maximum of n
	n       int
	waiting map[string][]chan bool // callers by key; true is a slot, false a displacement
	order   []string               // keys of waiting, the next one first
}

func newQueue(slots, perSlot int) *queue {
	most := slots * (perSlot - 1)
	return &queue{
		slots: slots, free: slots,
		unknown: line{limit: most, waiting: map[string][]chan bool{}},
		known:   line{limit: most, waiting: map[string][]chan bool{}},
	}
}

// waiting returns the number of callers that wait for a slot.
func (q *queue) waiting() int {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.unknown.n + q.known.n
}

// acquire waits for a slot and reports whether the caller got one; it must release it.
func (q *queue) acquire(p hashCaller) bool {
	q.mu.Lock()
	if q.free > 0 { // so no caller waits
		q.free--
		q.lastKnown = p.known
		q.mu.Unlock()
		return true
	}
	l := &q.unknown
	if p.known {
		l = &q.known
	}
	turn := l.join(p.key)
	q.mu.Unlock()
	return turn != nil && <-turn
}

// release passes the slot to the next caller.
func (q *queue) release() {
	q.mu.Lock()
	defer q.mu.Unlock()
	known := !q.lastKnown
	for range 2 {
		l := &q.unknown
		if known {
			l = &q.known
		}
		if turn := l.next(); turn != nil {
			q.lastKnown = known
			turn <- true
			return
		}
		known = !known
	}

	q.free++
}

// join adds a caller. It returns nil if there is no room for the key.
func (l *line) join(key string) chan bool {
	if l.n >= l.limit && !l.displace(len(l.waiting[key])) {
		return nil
	}
	if len(l.waiting[key]) == 0 {
		l.order = append(l.order, key)
	}
	turn := make(chan bool, 1)
	l.waiting[key] = append(l.waiting[key], turn)
	l.n++
	return turn
}

// displace ends the wait of the last caller of the longest key, if a key with have
// waiting callers would still have no more than that one after joining.
func (l *line) displace(have int) bool {
	longest := ""
	for _, key := range l.order {
		if len(l.waiting[key]) > len(l.waiting[longest]) {
			longest = key
		}
	}

	turns := l.waiting[longest]
	if len(turns) <= have+1 {
		return false
	}

	last := len(turns) - 1
	turns[last] <- false
	l.waiting[longest] = turns[:last]
	l.n--
	return true
}

// next removes and returns the first caller of the next key; nil if no caller waits.
func (l *line) next() chan bool {
	if len(l.order) == 0 {
		return nil
	}
	key := l.order[0]
	turn := l.waiting[key][0]
	l.order = slices.Delete(l.order, 0, 1)
	l.n--
	if rest := l.waiting[key][1:]; len(rest) > 0 {
		l.waiting[key] = rest
		l.order = append(l.order, key)
	} else {
		delete(l.waiting, key)
	}
	return turn
}
