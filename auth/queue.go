package auth

import (
	"net/netip"
	"slices"
	"sync"
	"time"

	"reeve/store"
)

// place is where a caller waits for a hashing slot: in the line of known callers,
// who have a session or a valid device token, or in that of strangers. A line is
// shared fairly by its keys.
type place struct {
	known bool
	key   string
	spent *HashTime // nil if nobody wants to know
}

// HashTime adds up what the hashes of one attempt took.
type HashTime struct {
	Wait time.Duration // for a slot
	Took time.Duration
}

// strangerAt is the place of a caller at an address; a /24 of IPv4 and a /48 of IPv6
// count as one, which is what one customer can have.
func strangerAt(addr netip.Addr) place {
	bits := 24
	if addr.Is6() {
		bits = 48
	}
	if p, err := addr.WithZone("").Prefix(bits); err == nil {
		return place{key: p.String()}
	}
	return place{key: addr.String()}
}

func knownAs(a store.Account) place {
	return place{known: true, key: realm(a.App) + " " + a.ID.String()}
}

// newPasswords is the place of the hashes that administrators ask for.
var newPasswords = place{known: true, key: "passwords"}

// queue hands out hashing slots. While callers wait in both lines, slots go to the
// two in turn, so that each has half of them; within a line they go round the keys. A
// full line makes room for a key by displacing the last caller of the key that has
// the most waiting, so that no key can keep the others out.
type queue struct {
	slots int

	mu        sync.Mutex
	free      int
	lastKnown bool // the line that got the last slot
	strangers line
	known     line
}

// line is the callers of one kind who wait.
type line struct {
	most    int // callers that may wait
	n       int
	waiting map[string][]chan bool // by key; told whether they have a slot or were displaced
	order   []string               // of the keys of waiting, the next one first
}

func newQueue(slots, perSlot int) *queue {
	most := slots * (perSlot - 1)
	return &queue{
		slots: slots, free: slots,
		strangers: line{most: most, waiting: map[string][]chan bool{}},
		known:     line{most: most, waiting: map[string][]chan bool{}},
	}
}

// take waits for a slot and reports whether there is one, to be given back.
func (q *queue) take(p place) bool {
	q.mu.Lock()
	if q.free > 0 { // then nobody waits
		q.free--
		q.lastKnown = p.known
		q.mu.Unlock()
		return true
	}
	l := &q.strangers
	if p.known {
		l = &q.known
	}
	turn := l.join(p.key)
	q.mu.Unlock()
	return turn != nil && <-turn
}

// give passes a slot on.
func (q *queue) give() {
	q.mu.Lock()
	defer q.mu.Unlock()
	known := !q.lastKnown
	for range 2 {
		l := &q.strangers
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

// join adds a caller; nil when there is no room for the key.
func (l *line) join(key string) chan bool {
	if l.n >= l.most && !l.displace(len(l.waiting[key])) {
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

// displace ends the wait of the last caller of the longest key, if a key with so many
// waiting would still have no more than it.
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

// next takes out the first caller of the next key; nil for none.
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
