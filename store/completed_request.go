package store

import (
	"time"

	"reeve/store/kv"
)

// CompletedRequest is a request with an Idempotency-Key that has changed something. It is stored in
// the transaction of the change, so that a repeated request is recognized also after a crash.
type CompletedRequest struct {
	Ident
	Caller    string `json:"caller"`     // sender
	Key       string `json:"key"`        // SHA-256 of caller and Idempotency-Key, hexadecimal
	Request   string `json:"request"`    // SHA-256 of method, URL and body, hexadecimal
	Scope     string `json:"scope"`      // SHA-256 of the caller's data scope, hexadecimal
	RequestID string `json:"request_id"` // ID of the request that has made the change
	ETag      string `json:"etag"`       // ETag of the response; "" for none
	Answer    []byte `json:"answer"`     // data of the response, encrypted with the Idempotency-Key; nil if it is not stored
	kv.Timestamps
}

// Limits of completed requests. Beyond them the oldest are forgotten.
const (
	CompletedFor        = 24 * time.Hour
	MaxCompletedAnswer  = 8 << 10 // bytes
	maxCompleted        = 50_000
	maxCompletedPerUser = 2000
)

// CompletedRequests and their indexes.
var (
	CompletedRequests = kv.NewCollection[CompletedRequest]("completed_request").Unlogged()
	CompletedByKey    = kv.NewUnique(CompletedRequests, "key", func(r *CompletedRequest) string {
		return r.Key
	})
	CompletedByCaller = kv.NewEach(CompletedRequests, "caller", func(r *CompletedRequest) string {
		return r.Caller
	})
	CompletedByTime = kv.NewEach(CompletedRequests, "created_at", func(r *CompletedRequest) Time {
		return r.CreatedAt
	})
)

// AddCompleted stores a request, and forgets older ones beyond the limits.
func AddCompleted(tx *Tx, r *CompletedRequest) error {
	forget, err := CompletedByTime.Below(tx, tx.Now().Add(-CompletedFor), 2) // more than are added
	if err != nil {
		return err
	}

	own, err := CompletedByCaller.Count(tx, r.Caller)
	if err != nil {
		return err
	}

	all, err := CompletedRequests.Count(tx)
	if err != nil {
		return err
	}
	if own >= maxCompletedPerUser {
		forget = append(forget, CompletedByCaller.First(tx, r.Caller, r.Caller, 1)...)
	}
	if all >= maxCompleted {
		forget = append(forget, CompletedByTime.First(tx, 0, tx.Now(), 1)...)
	}

	for _, id := range Distinct(forget) {
		if err := CompletedRequests.Delete(tx, id); err != nil {
			return err
		}
	}

	return CompletedRequests.Create(tx, r)
}

// HasOldCompleted reports whether there are requests that are too old.
func HasOldCompleted(tx *Tx) (bool, error) {
	old, err := CompletedByTime.Below(tx, tx.Now().Add(-CompletedFor), 1)
	return len(old) > 0, err
}

// ForgetCompleted deletes up to limit requests that are too old. It reports whether there may be
// more.
func ForgetCompleted(tx *Tx, limit int) (more bool, err error) {
	old, err := CompletedByTime.Below(tx, tx.Now().Add(-CompletedFor), limit)
	for _, id := range old {
		if err == nil {
			err = CompletedRequests.Delete(tx, id)
		}
	}
	return len(old) == limit, err
}
