package auth

import (
	"strconv"
	"strings"
	"time"
	"unicode"
)

// CounterOp is one operation on a counter of the throttling, told as the Redis
// command that another program would send for it.
type CounterOp struct {
	Command string // INCR, DECR, GET or DEL
	// Key is like throttle:name+addr:alice|10.0.0.1, with the name cut to 64 bytes, or #
	// and a fingerprint for a name that no user has. Of a realm but the admins', it is
	// throttle:app:name+addr: and so on.
	Key   string
	Value int64         // what the counter is after it; 0 for none
	TTL   time.Duration // of INCR: until the counter ends; else 0
	Began time.Time
	Took  time.Duration
}

// String is the command, with INCR and the EXPIRE that goes with it in one:
// INCR throttle:name+addr:alice|10.0.0.1 EX 900.
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

// watched are the counters with somebody who is told of each operation.
type watched struct {
	*counters
	tell func(CounterOp) // nil for nobody, which costs nothing
}

func (w watched) add(key string, d int, window time.Duration) (n int, left time.Duration) {
	if w.tell == nil {
		return w.counters.add(key, d, window)
	}
	began := time.Now()
	n, left = w.counters.add(key, d, window)
	op := CounterOp{Command: "INCR", Key: shownKey(key), Value: int64(n), TTL: left, Began: began, Took: time.Since(began)}
	if d < 0 {
		op.Command, op.TTL = "DECR", 0
	}
	w.tell(op)
	return n, left
}

func (w watched) get(key string) int {
	if w.tell == nil {
		return w.counters.get(key)
	}
	began := time.Now()
	n := w.counters.get(key)
	w.tell(CounterOp{Command: "GET", Key: shownKey(key), Value: int64(n), Began: began, Took: time.Since(began)})
	return n
}

func (w watched) drop(key string) {
	if w.tell == nil {
		w.counters.drop(key)
		return
	}
	began := time.Now()
	w.counters.drop(key)
	w.tell(CounterOp{Command: "DEL", Key: shownKey(key), Began: began, Took: time.Since(began)})
}

// shownKey makes what is told of a counter's own key: a kind, then a realm, an
// address and a name, as far as the kind has them, with blanks between; only the
// name, which is last, may have blanks itself.
func shownKey(key string) string {
	kind, rest, _ := strings.Cut(key, " ")
	if kind == "addr" || kind == "register" {
		return "throttle:" + kind + ":" + rest
	}
	realm, rest, _ := strings.Cut(rest, " ")
	realm += ":"
	if realm == "admin:" {
		realm = ""
	}
	if kind == "name" {
		return "throttle:" + realm + kind + ":" + shownName(rest)
	}
	if kind == "pair" {
		kind = "name+addr"
	}
	where, name, _ := strings.Cut(rest, " ")
	return "throttle:" + realm + kind + ":" + shownName(name) + "|" + where
}

const maxShownName = 64

// shownName bounds a name that anybody may have typed.
func shownName(name string) string {
	name = strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return unicode.ReplacementChar
		}
		return r
	}, name[:min(len(name), 2*maxShownName)])
	return strings.ToValidUTF8(name[:min(len(name), maxShownName)], "")
}
