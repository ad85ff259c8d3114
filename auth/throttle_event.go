package auth

import (
	"slices"
	"strings"
	"time"
	"unicode"

	"reeve/store/kv"
)

// observedCounters are counters that report each use as a cache event: they are a cache in
// memory. Its key is like throttle:name+addr:alice|10.0.0.1. The name is truncated to 64
// bytes; a name that no user has is replaced by # and its fingerprint. Keys of the app
// realm begin with throttle:app: instead.
type observedCounters struct {
	*counters
	observe func(kv.CacheEvent) // nil for none
}

func (c observedCounters) report(op, key string, n int, began time.Time) {
	if c.observe != nil {
		c.observe(kv.CacheEvent{
			Cache: "throttle",
			Op:    op,
			Key:   displayKey(key),
			Size:  n,
			Began: began,
			Took:  time.Since(began),
		})
	}
}

func (c observedCounters) add(key string, d int, window time.Duration) (n int, left time.Duration) {
	began := time.Now()
	n, left = c.counters.add(key, d, window)
	c.report("set", key, n, began)
	return n, left
}

func (c observedCounters) get(key string) int {
	began, op := time.Now(), "hit"
	n := c.counters.get(key)
	if n == 0 {
		op = "miss"
	}
	c.report(op, key, n, began)
	return n
}

func (c observedCounters) drop(key string) {
	began := time.Now()
	c.counters.drop(key)
	c.report("forget", key, 0, began)
}

// displayKey returns the reported form of a counter's key. The key is a kind, then a
// realm, an address and a name, as far as the kind has them, separated by blanks; only
// the name, which is last, may contain blanks.
func displayKey(key string) string {
	kind, rest, _ := strings.Cut(key, " ")
	if slices.Contains(withoutRealm, kind) {
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

// withoutRealm are the kinds of counters of an address or a session's user alone.
var withoutRealm = []string{"addr", "register", "challenge", "link", "forgot", "change"}

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
