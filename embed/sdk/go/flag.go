package reeve

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"time"
)

// FlagContext is the user and the circumstances that a flag is evaluated for: targetingKey, such as
// "user:7", and attributes that rules can name. Reeve ignores it for the token of a session, whose
// flags are those of its user.
type FlagContext map[string]any

// FlagResult is the result of a flag.
type FlagResult[T any] struct {
	Value   T
	Variant string // name of the variant; empty if Reason is FlagError

	// Reason is STATIC, TARGETING_MATCH, SPLIT, DEFAULT or DISABLED as Reeve has said it, FlagStale
	// or FlagError.
	Reason string

	// Code is why there is no current value, in the codes of OpenFeature: FLAG_NOT_FOUND for a flag
	// that does not exist or that the key may not read, TARGETING_KEY_MISSING, INVALID_CONTEXT,
	// PARSE_ERROR, TYPE_MISMATCH, or GENERAL if Reeve can't be reached or refuses the key. Empty for
	// a current value.
	Code    string
	Message string // description of Code, in English
	Warning string // why rules about users could not match; empty if they could
}

// Reasons of results that Reeve has not evaluated now.
const (
	FlagStale = "STALE" // the value is the last one that is known
	FlagError = "ERROR" // the value is the one that the caller has given
)

// Codes of results that the client finds itself.
const (
	flagNotFound = "FLAG_NOT_FOUND"
	flagMismatch = "TYPE_MISMATCH"
	flagContext  = "INVALID_CONTEXT"
	flagGeneral  = "GENERAL"
)

const (
	defaultFlagAge = 10 * time.Second
	flagTimeout    = 2 * time.Second // timeout of one request, for which a page waits
	maxFlagPause   = time.Minute     // a longer Retry-After is cut
	maxFlagSets    = 1000            // contexts whose flags are kept, per Client and those made of it
)

// Flag returns the value of a feature flag, such as "shop.checkout", for a context, which may be
// nil. It does not fail: while Reeve can't be reached, it returns the last known value, and
// otherwise without one, as it does for a flag that the key may not read; FlagDetails tells why.
//
//	if reeve.Flag(ctx, client, "shop.checkout", reeve.FlagContext{"targetingKey": "user:7"}, false) {
//
// One request reads all flags for a context. They are kept for Options.FlagAge, and then confirmed
// with their ETag. The flags of the 1,000 contexts that were used last are kept.
func Flag[T any](ctx context.Context, c *Client, key string, about FlagContext, otherwise T) T {
	return FlagDetails(ctx, c, key, about, otherwise).Value
}

// FlagDetails is Flag with the reason of the value.
func FlagDetails[T any](ctx context.Context, c *Client, key string, about FlagContext,
	otherwise T) FlagResult[T] {
	result := FlagResult[T]{Value: otherwise, Reason: FlagError}
	found, failed := c.flag(ctx, key, about)
	if failed != nil {
		result = FlagResult[T]{Value: otherwise, Reason: FlagError, Code: failed.code, Message: failed.message}
	}
	if found == nil {
		return result
	}

	var value T
	if err := json.Unmarshal(found.Value, &value); err != nil {
		return FlagResult[T]{Value: otherwise, Reason: FlagError, Code: flagMismatch,
			Message: fmt.Sprintf("the value of the flag %s is not of the type %T", key, value)}
	}

	result.Value, result.Variant, result.Reason = value, found.Variant, found.Reason
	result.Warning = found.Metadata.Warning
	if failed != nil {
		result.Reason = FlagStale
	}
	return result
}

// evaluatedFlag is a flag in a response.
type evaluatedFlag struct {
	Key      string          `json:"key"`
	Value    json.RawMessage `json:"value"`
	Variant  string          `json:"variant"`
	Reason   string          `json:"reason"`
	Metadata struct {
		Warning string `json:"warning"`
	} `json:"metadata"`
	Code    string `json:"errorCode"`
	Details string `json:"errorDetails"`
}

type flagFailure struct{ code, message string }

// flagCache has the flags of contexts.
type flagCache struct {
	age time.Duration

	mu     sync.Mutex
	sets   map[[sha256.Size]byte]*flagSet // flags of each context; the key is a hash of credential and context
	until  time.Time                      // time before which Reeve is not asked, since it was not reached
	failed *flagFailure                   // failure at that time
}

// flagSet has the flags of one context, under the lock of its cache.
type flagSet struct {
	used    time.Time
	until   time.Time // time up to which flags and failed count
	etag    string
	flags   map[string]*evaluatedFlag // nil before the first response
	failed  *flagFailure              // failure of the last request; nil for none
	loading chan struct{}             // closed when the request that is under way ends; nil for none
}

// flag returns a flag, and the failure because of which it is nil or may be out of date.
func (c *Client) flag(ctx context.Context, key string, about FlagContext) (*evaluatedFlag,
	*flagFailure) {
	if about == nil {
		about = FlagContext{}
	}
	body, err := json.Marshal(map[string]any{"context": about})
	if err != nil {
		return nil, &flagFailure{flagContext, "the context can't be encoded: " + err.Error()}
	}

	flags, failed := c.flagsOf(ctx, body)
	found := flags[key]
	switch {
	case flags == nil:
		return nil, failed
	case found == nil:
		group, _, _ := strings.Cut(key, ".")
		return nil, &flagFailure{flagNotFound,
			"the flag does not exist, or the client may not read it, which needs the permission system.setting.read." + group}
	case found.Code != "":
		return nil, &flagFailure{found.Code, found.Details}
	}
	return found, failed
}

// flagsOf returns the flags of the context in a body; nil if they are not known. One caller asks
// Reeve; others get the last flags in the meantime, and wait if there are none.
func (c *Client) flagsOf(ctx context.Context, body []byte) (map[string]*evaluatedFlag,
	*flagFailure) {
	cache := c.flags
	cache.mu.Lock()
	defer cache.mu.Unlock()
	set := cache.set(sha256.Sum256(append([]byte(c.key+"\n"), body...)))
	for {
		now := time.Now()
		switch set.used = now; {
		case now.Before(set.until), set.flags != nil && set.loading != nil:
			return set.flags, set.failed
		case now.Before(cache.until):
			return set.flags, cache.failed
		case set.loading == nil:
			return c.loadFlags(ctx, set, body)
		}

		loaded := set.loading
		cache.mu.Unlock()
		select {
		case <-loaded:
		case <-ctx.Done():
		}
		cache.mu.Lock()
		if err := ctx.Err(); err != nil {
			return set.flags, &flagFailure{flagGeneral, err.Error()}
		}
	}
}

// set returns the flags with a key, new ones if there are none. It removes those that have not been
// used for the longest time if there are too many.
func (f *flagCache) set(key [sha256.Size]byte) *flagSet {
	if set := f.sets[key]; set != nil {
		return set
	}

	if len(f.sets) >= maxFlagSets {
		var oldest [sha256.Size]byte
		var used time.Time
		for other, set := range f.sets {
			if used.IsZero() || set.used.Before(used) {
				oldest, used = other, set.used
			}
		}
		delete(f.sets, oldest)
	}

	f.sets[key] = &flagSet{}
	return f.sets[key]
}

// loadFlags asks Reeve for flags. The cache is locked, but not during the request.
func (c *Client) loadFlags(ctx context.Context, set *flagSet,
	body []byte) (map[string]*evaluatedFlag, *flagFailure) {
	cache, a := c.flags, c.newAttempt(http.MethodPost, "/ofrep/v1/evaluate/flags")
	a.body, a.limit = body, min(c.timeout, flagTimeout)
	a.header.Set("Content-Type", "application/json")
	if set.etag != "" {
		a.header.Set("If-None-Match", set.etag)
	}
	set.loading = make(chan struct{})

	cache.mu.Unlock()
	res, err := c.sendOnce(ctx, a)
	cache.mu.Lock()
	close(set.loading)
	set.loading = nil
	if err == nil && set.keep(res) {
		set.until, set.failed = time.Now().Add(cache.age), nil
		return set.flags, nil
	}

	failed, pause := c.flagFailed(a, res, err), cache.age
	if err == nil {
		pause = max(pause, min(res.retryAfter(), maxFlagPause))
	}
	switch until := time.Now().Add(pause); {
	case ctx.Err() != nil: // the caller has given up, which says nothing about Reeve
		return set.flags, failed
	case err != nil && !errors.Is(err, errTooLarge), err == nil && res.status >= 500:
		cache.until, cache.failed = until, failed
	default: // Reeve refuses this request
		set.until, set.failed = until, failed
	}

	if c.warned.now() {
		c.logger.Warn("reeve: flags can't be evaluated; the last known values stay", "error",
			failed.message)
	}
	return set.flags, failed
}

// keep stores the flags of a response, and reports whether it has some.
func (s *flagSet) keep(res *response) bool {
	if res.status == http.StatusNotModified {
		return s.flags != nil
	}
	var data struct {
		Flags []*evaluatedFlag `json:"flags"`
	}
	if res.status != http.StatusOK || json.Unmarshal(res.body, &data) != nil ||
		data.Flags == nil {
		return false
	}

	s.etag, s.flags = res.header.Get("ETag"), make(map[string]*evaluatedFlag, len(data.Flags))
	for _, flag := range data.Flags {
		if flag != nil {
			s.flags[flag.Key] = flag
		}
	}
	return true
}

// flagFailed returns the failure of a request for flags.
func (c *Client) flagFailed(a *attempt, res *response, err error) *flagFailure {
	if err != nil {
		return &flagFailure{flagGeneral, c.unanswered(a, err).Message}
	}
	var e evaluatedFlag
	if json.Unmarshal(res.body, &e) != nil || e.Code == "" {
		return &flagFailure{flagGeneral,
			fmt.Sprintf("%s does not answer like Reeve (%d); is the URL right?", c.url, res.status)}
	}
	return &flagFailure{e.Code, e.Details}
}
