package auth

import (
	"strconv"
	"strings"
	"time"
	"unicode"
)

// CounterOp is one operation on a rate-limit counter, expressed as the equivalent Redis
// command.
type CounterOp struct {
	Command string // INCR, DECR, GET or DEL
	// Key is like throttle:name+addr:alice|10.0.0.1. The name is truncated to 64 bytes;
	// a name that no user has is replaced by # and its fingerprint. Keys of the app
	// realm begin with throttle:app: instead.
	Key   string
	Value int64         // value of the counter afterwards; 0 if it is gone
	TTL   time.Duration // remaining life of the counter after INCR; else 0
	Began time.Time
	Took  time.Duration
}

// String returns the command, with INCR and its EXPIRE in one: INCR
// throttle:name+addr:alice|10.0.0.1 EX 900.
func (o CounterOp) String() string {
	key := o.Key
	if strings.ContainsAny(key, ` "'\`) {
		key = strconv.Quote(key)
	}
	text := o.Command + " " + key
	if o.TTL > 0 {
		text += " EX " + strconv.FormatInt(int64((o.TTL+time.Second-1)/time.Second), 10)
	}
	return text
}

// tracedCounters are counters that report each operation.
type tracedCounters struct {
	*counters
	trace func(CounterOp) // nil for none, which costs nothing
}

func (w tracedCounters) add(key string, d int, window time.Duration) (n int, left time.Duration) {
	if w.trace == nil {
		return w.counters.add(key, d, window)
	}
	began := time.Now()
	n, left = w.counters.add(key, d, window)
	op := CounterOp{Command: "INCR", Key: displayKey(key), Value: int64(n), TTL: left, Began: began, Took: time.Since(began)}
	if d < 0 {
		op.Command, op.TTL = "DECR", 0
	}
	w.trace(op)
	return n, left
}

func (w tracedCounters) get(key string) int {
	if w.trace == nil {
		return w.counters.get(key)
	}
	began := time.Now()
	n := w.counters.get(key)
	w.trace(CounterOp{Command: "GET", Key: displayKey(key), Value: int64(n), Began: began, Took: time.Since(began)})
	return n
}

func (w tracedCounters) drop(key string) {
	if w.trace == nil {
		w.counters.drop(key)
		return
	}
	began := time.Now()
	w.counters.drop(key)
	w.trace(CounterOp{Command: "DEL", Key: displayKey(key), Began: began, Took: time.Since(began)})
}

// displayKey returns the reported form of a counter's key. The key is a kind, then a
// realm, an address and a name, as far as the kind has them, separated by blanks; only
// the name, which is last, may contain blanks.
func displayKey(key string) string {
	kind, rest, _ := strings.Cut(key, " ")
	if kind == "addr" || kind == "register" || kind == "challenge" {
		return "throttle:" + kind + ":" + rest
	}
	realm, rest, _ := strings.Cut(rest, " ")
	realm += ":"
	if realm == "admin:" {
		realm = ""
	}
	if kind == "name" {
		return "throttle:" + realm + kind + ":" + displayName(rest)
	}
	if kind == "pair" {
		kind = "name+addr"
	}
	where, name, _ := strings.Cut(rest, " ")
	return "throttle:" + realm + kind + ":" + displayName(name) + "|" + where
}

const maxDisplayName = 64

// displayName truncates a name, which is unverified input, and replaces what is not
// printable.
func displayName(name string) string {
	name = strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return unicode.ReplacementChar
		}
		return r
	}, name[:min(len(name), 2*maxDisplayName)])
	return strings.ToValidUTF8(name[:min(len(name), maxDisplayName)], "")
}
