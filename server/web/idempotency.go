package web

import (
	"bytes"
	"context"
	"crypto/aes"
	"crypto/cipher"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"hash"
	"io"
	"net/http"
	"strings"
	"time"

	"reeve/server/limit"
	"reeve/store"
	"reeve/store/errs"
	"reeve/store/kv"
)

// A client that does not know whether a POST has succeeded repeats it with the same Idempotency-Key
// (draft-ietf-httpapi-idempotency-key-header). The key is stored in the transaction of the first
// write of the request. The response is stored with it, or in a write of its own if it is only
// known later, encrypted with the key, which is not stored.
const (
	IdempotencyHeader = "Idempotency-Key"
	replayedHeader    = "Idempotency-Replayed"
	MaxIdempotencyKey = 255 // bytes
)

// idempotency is the Idempotency-Key of a request.
type idempotency struct {
	caller  string
	key     string
	content hash.Hash // SHA-256 of method, URL and body
	file    hash.Hash // SHA-256 of the form file that is being read; nil for none
	running bool      // whether the handler runs, so that writes are those of the operation
	stored  bool      // whether a write has stored that the request is completed; the write may have failed afterwards
	answer  []byte    // data of the response, if it is known in the write; nil if not
	etag    string
}

// errReplay ends a request that was completed before: run sends the stored response.
type errReplay struct{ *store.CompletedRequest }

func (errReplay) Error() string { return "the request was completed before" }

// readIdempotency reads the Idempotency-Key of a POST request of a known caller.
func (req *Request) readIdempotency(rt *Route) error {
	values := req.HTTP.Header[IdempotencyHeader]
	if len(values) == 0 || !rt.Idempotent() {
		return nil
	}

	key := strings.TrimSpace(values[0])
	if n := len(key); n >= 2 && key[0] == '"' && key[n-1] == '"' { // a string of RFC 9651
		key = key[1 : n-1]
	}
	if len(values) > 1 || key == "" || len(key) > MaxIdempotencyKey ||
		strings.ContainsFunc(key, func(r rune) bool {
			return r <= ' ' || r > '~'
		}) {
		return errs.Field(errs.Malformed, IdempotencyHeader,
			"must be 1 to %d visible ASCII characters", MaxIdempotencyKey)
	}

	req.idempotency = &idempotency{caller: UserKey(req.Actor), key: key, content: sha256.New()}
	req.idempotency.add([]byte(rt.Method), []byte(req.HTTP.URL.RequestURI()))
	return nil
}

// Idempotent reports whether a route accepts an Idempotency-Key. After signing out, which is
// possible before a password change, the caller has no session to repeat it with.
func (rt *Route) Idempotent() bool {
	return rt.Method == http.MethodPost && !rt.ReadOnly && !rt.AllowedBeforePasswordChange &&
		rt.Access != Public && rt.Access != AnyRealm
}

// add adds parts of the request to its hash. It does nothing without a key.
func (i *idempotency) add(parts ...[]byte) {
	if i == nil {
		return
	}
	i.endFile()
	for _, part := range parts {
		fmt.Fprintf(i.content, "%d:", len(part)) // a hash never fails
		i.content.Write(part)
	}
}

// endFile adds the hash of the file that was read.
func (i *idempotency) endFile() {
	if i.file != nil {
		fmt.Fprintf(i.content, "file %x", i.file.Sum(nil))
		i.file = nil
	}
}

// tee returns a reader of a file that adds the file to the hash of the request. The boundaries of a
// form are not in it, since clients choose new ones when they repeat a request.
func (i *idempotency) tee(file io.Reader, name string) io.Reader {
	if i == nil {
		return file
	}
	i.add([]byte(name))
	i.file = sha256.New()
	return io.TeeReader(file, i.file)
}

// digest returns a hash of caller and key for a purpose.
func (i *idempotency) digest(purpose string) [sha256.Size]byte {
	return sha256.Sum256(fmt.Appendf(nil, "%s %d:%s %s", purpose, len(i.caller), i.caller, i.key))
}

func (i *idempotency) lookup() string {
	sum := i.digest("key")
	return hex.EncodeToString(sum[:])
}

func (i *idempotency) request() string {
	i.endFile()
	return hex.EncodeToString(i.content.Sum(nil))
}

// scopeHash returns a hash of the data scope of the caller, beyond which a stored response must not
// be sent.
func scopeHash(tx *store.Tx) string {
	b, err := json.Marshal(store.ScopeIn(tx, store.ActorOf(tx)))
	if err != nil {
		panic(err) // numbers can always be encoded
	}
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:])
}

// aead returns the cipher of the response. Its key is that of one request, so every nonce is right.
func (i *idempotency) aead() cipher.AEAD {
	key := i.digest("response")
	block, err := aes.NewCipher(key[:])
	if err != nil {
		panic(err) // cannot happen: the length is correct
	}
	aead, err := cipher.NewGCMWithRandomNonce(block)
	if err != nil {
		panic(err) // cannot happen: it is AES
	}
	return aead
}

// completed returns an error if the request was completed before: errReplay, or 422 if another
// request was completed with the key. The body must have been read.
func (req *Request) completed(tx *store.Tx) error {
	i := req.idempotency
	if i == nil || !i.running {
		return nil
	}

	done, err := store.CompletedByKey.Get(tx, i.lookup())
	switch {
	case errs.Is(err, errs.NotFound):
		return nil
	case err != nil:
		return err
	case done.RequestID == req.ID || done.CreatedAt.Add(store.CompletedFor) <= tx.Now():
		return nil
	case done.Request != i.request():
		return errs.Field(errs.Invalid, IdempotencyHeader, "was used for another request").Coded("idempotency_key_reused")
	case done.Scope != scopeHash(tx):
		done.Answer = nil // it may have data that the caller must not read any more
	}

	return errReplay{done}
}

// seekCompleted is completed in a transaction of its own, before a handler does anything.
func (req *Request) seekCompleted() error {
	if req.idempotency == nil {
		return nil
	}
	req.idempotency.running = true
	return req.DB.View(req.Actor, req.completed)
}

// complete stores, at the end of the first write of a request, that it is completed.
func (req *Request) complete(tx *store.Tx) error {
	i := req.idempotency
	if i == nil || !i.running {
		return nil
	}

	old, err := store.CompletedByKey.Get(tx, i.lookup())
	switch {
	case err == nil && old.RequestID == req.ID:
		return nil // in an earlier write
	case err == nil: // it has expired
		err = store.CompletedRequests.Delete(tx, old.ID)
	case errs.Is(err, errs.NotFound):
		err = nil
	}
	if err != nil {
		return err
	}

	done := &store.CompletedRequest{
		Caller:    i.caller,
		Key:       i.lookup(),
		Request:   i.request(),
		Scope:     scopeHash(tx),
		RequestID: req.ID,
	}
	req.seal(done)
	i.stored = true
	return store.AddCompleted(tx, done)
}

// seal sets the response of a completed request, unless it has a secret or is too large.
func (req *Request) seal(done *store.CompletedRequest) {
	i := req.idempotency
	if i.answer == nil || req.Route.Reveals || len(i.answer) > store.MaxCompletedAnswer {
		return
	}
	done.Answer, done.ETag = i.aead().Seal(nil, nil, i.answer, nil), i.etag
}

// noteAnswer keeps the data of a response in the write that makes it.
func (req *Request) noteAnswer(data any) error {
	if req.idempotency == nil {
		return nil
	}
	var out Envelope
	err := out.put(data)
	req.idempotency.answer, req.idempotency.etag = out.Bytes.Bytes(), out.ETag
	if r, ok := data.(Revised); ok {
		req.idempotency.etag = recordTag(r)
	}
	return err
}

// actOnce runs an operation, or sends the response that it had when it was completed before.
func (req *Request) actOnce(rt *Route, out *Envelope) error {
	err := rt.Act(req, out)
	var before errReplay
	if errors.As(err, &before) {
		if err := req.ConfirmCompleted(before.CompletedRequest); err != nil {
			return err
		}
		req.DB.ConfirmTaken() // the first request may still wait for that, or have ended with its node
		return req.replay(out, before.CompletedRequest)
	}
	req.settle(out, err)
	return err
}

// ConfirmCompleted returns an error if a completed request was not committed: it was found in a
// transaction that has failed since.
func (req *Request) ConfirmCompleted(done *store.CompletedRequest) error {
	return req.DB.View(req.Actor, func(tx *store.Tx) error {
		stored, err := store.CompletedByKey.Get(tx, done.Key)
		if errs.Is(err, errs.NotFound) || err == nil && stored.RequestID != done.RequestID {
			return errs.New(errs.Busy,
				"the first request with this Idempotency-Key has failed; repeat it").After(limit.Retry)
		}
		return err
	})
}

// settle stores the response of an operation that has made it after its writes. If the operation
// has failed after a write, it forgets the request, so that it can be repeated. If this fails, or
// the program ends before it, a repeated request gets already_done instead.
func (req *Request) settle(out *Envelope, failed error) {
	i := req.idempotency
	switch {
	case i == nil || !i.stored:
		return
	case failed != nil && errs.Is(failed, errs.Busy): // whether the write was made may be unknown
		return
	case failed == nil && (i.answer != nil || req.Route.Reveals):
		return
	}

	if failed == nil {
		_, data, _ := bytes.Cut(out.Bytes.Bytes(), []byte(dataMember))
		i.answer, i.etag = data, req.Writer.Header().Get("Etag")
	}

	err := req.Server.DB.WithRecorder(nil).For("settling a repeatable request", nil).Update(store.System, func(tx *store.Tx) error {
		done, err := store.CompletedByKey.Get(tx, i.lookup())
		if err != nil || done.RequestID != req.ID {
			return UnlessMissing(err) // the write was not committed
		}
		if failed != nil {
			return store.CompletedRequests.Delete(tx, done.ID)
		}
		_, err = store.CompletedRequests.UpdateQuietly(tx, done.ID,
			func(done *store.CompletedRequest) error {
				req.seal(done)
				return nil
			})
		return err
	})
	if err != nil {
		req.Server.Log.Warn().Err(err).Str("request", req.ID).Msg("the response of a repeatable request was not stored")
	}
}

// replay writes the stored response of a completed request to out.
func (req *Request) replay(out *Envelope, done *store.CompletedRequest) error {
	req.NamePosition() // the client may not have got that of the write
	if done.Answer == nil {
		return errs.New(errs.Conflict,
			"this request was already carried out; its response is not stored").Coded("already_done")
	}

	data, err := req.idempotency.aead().Open(nil, nil, done.Answer, nil)
	if err != nil {
		return fmt.Errorf("decrypt the response of completed request %d: %w", done.ID, err)
	}

	out.Bytes.Reset()
	out.Bytes.WriteString(dataMember)
	out.Bytes.Write(data)
	h := req.Writer.Header()
	h[replayedHeader] = []string{"true"}
	if delete(h, "Etag"); done.ETag != "" {
		h["Etag"] = []string{done.ETag}
	}

	return nil
}

// keepCompleted deletes completed requests that are too old, even when no new ones come, until ctx
// ends.
func (s *Server) keepCompleted(ctx context.Context) {
	tick := time.NewTicker(time.Hour)
	defer tick.Stop()
	for {
		if err := s.forgetCompleted(); err != nil {
			s.Log.Error().Err(err).Msg("forgetting completed requests failed")
		}
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

func (s *Server) forgetCompleted() (err error) {
	db := s.DB.WithRecorder(nil).For("forgetting completed requests", nil)
	for more := true; more && err == nil; {
		var old bool
		err = db.View(store.System, func(tx *store.Tx) (err error) {
			old, err = store.HasOldCompleted(tx)
			return err
		})
		if err != nil || !old {
			return err // without a write
		}
		err = db.Update(store.System, func(tx *store.Tx) (err error) {
			more, err = store.ForgetCompleted(tx, kv.MaxRecordsPerWrite)
			return err
		})
	}
	return err
}
