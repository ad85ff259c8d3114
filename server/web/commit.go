package web

import (
	"context"
	"errors"
	"strconv"
	"strings"
	"time"

	"reeve/server/limit"
	"reeve/store"
	"reeve/store/errs"
)

// With several nodes, each request may come to another one. The response to a write names the position
// of the write in the log of commits, and a request that names it reads what was written, at any node. A
// browser sends the position in a cookie.
const (
	commitHeader = "Reeve-Commit"
	readHeader   = "Reeve-Read"
	readLatest   = "latest"
	CommitName   = "reeve_commit" // of the cookie

	commitCookieLife = 10 * time.Minute // beyond the delay of a node that serves
	maxBehind        = 2 * time.Second  // time that a request waits
)

// codeBehind is the code of the error of Cluster.Serving while a node applies what others have written.
const codeBehind = "node_behind"

// Limits of requests that wait for a position. A forged position holds a place for maxBehind.
const (
	maxWaiting           = 1000
	MaxWaitingPerAddress = maxWaiting / 2
)

// CommitCookie returns the name of the cookie with the position of the last write.
func (s *Server) CommitCookie(secure bool) string {
	return s.CookieName(CommitName+s.Cookies.Session, secure)
}

// NamePosition lets the response name the position of this node, as that to a write does, since the client
// learns of a write of another request.
func (req *Request) NamePosition() { req.wrote.Store(true) }

// nameCommit sets the headers of a response with the position of this node, if the request has written.
func (req *Request) nameCommit() {
	if !req.wrote.Load() {
		return
	}
	epoch, number, ok := req.Server.DB.CommitPosition()
	if !ok {
		return
	}
	position := EventID(epoch, number)
	req.Writer.Header()[commitHeader] = []string{position}
	if len(req.HTTP.Header["Authorization"]) == 0 { // a browser, perhaps
		secure := req.Secure()
		req.SetCookie(req.Server.HiddenCookie(req.Server.CommitCookie(secure), position,
			int(commitCookieLife/time.Second), secure))
	}
}

// CommitOf returns the position of the commits that a transaction reads; "" for one node.
func CommitOf(tx *store.Tx) string {
	epoch, number, ok := tx.CommitPosition()
	if !ok {
		return ""
	}
	return EventID(epoch, number)
}

// commitSent returns the highest position of an epoch that the client has sent; 0 for none.
func (req *Request) commitSent(epoch string) (number uint64) {
	note := func(text string) {
		if sent, digits, ok := strings.Cut(strings.TrimSpace(text), "-"); ok && sent == epoch {
			if n, err := strconv.ParseUint(digits, 10, 64); err == nil {
				number = max(number, n)
			}
		}
	}
	for _, text := range req.HTTP.Header[commitHeader] {
		note(text)
	}
	if len(req.HTTP.Header["Cookie"]) > 0 {
		for _, c := range req.sentAs(false, func(_, secure bool) string { return req.Server.CommitCookie(secure) }) {
			note(c.Value)
		}
	}
	return number
}

// catchUp waits until this node has what the client has written or read elsewhere.
func (req *Request) catchUp() error {
	db := req.Server.DB
	epoch, at, ok := db.CommitPosition()
	if !ok {
		return nil
	}
	latest := false
	if read := req.HTTP.Header[readHeader]; len(read) > 0 {
		if len(read) > 1 || strings.TrimSpace(read[0]) != readLatest {
			return errs.Field(errs.Malformed, readHeader, "must be latest")
		}
		latest = true
	}
	if to := req.commitSent(epoch); latest || to > at {
		return req.await(latest, epoch, to)
	}
	return nil
}

// await waits until this node has what any node has by now, if latest is set, and what it has at a position.
func (req *Request) await(latest bool, epoch string, to uint64) error {
	db := req.Server.DB
	place := &held{
		limit:  req.Server.Limits.Waiting,
		n:      1,
		shares: []limit.Share{{Client: req.ClientKey(), Most: MaxWaitingPerAddress}},
	}
	if place.acquire() != nil {
		return errBehind()
	}
	defer place.release()
	ctx, cancel := context.WithTimeout(req.HTTP.Context(), maxBehind)
	defer cancel()
	var err error
	if latest {
		err = db.WaitForLatest(ctx)
	}
	if err == nil {
		err = db.WaitForCommit(ctx, epoch, to)
	}
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		return errBehind()
	case err != nil:
		return retried(err)
	}
	return req.Server.NotServing() // it may have been long
}

// errNewToken stands for the refusal of a token that another node may have issued a moment ago.
var errNewToken = errors.New("this node does not know the token yet")

// mayBeNew reports whether a request was refused because of such a token. So clients need no position with a new
// token. A browser has the position in a cookie.
func (req *Request) mayBeNew(tx *store.Tx, refusal error) bool {
	if !errs.Is(refusal, errs.Unauthenticated) {
		return false
	}
	_, _, several := req.Server.DB.CommitPosition()
	token, _ := req.bearer()
	return several && req.Server.Auth.Unknown(tx, token)
}

// errBehind is the answer to a request that this node can't serve yet. It has no cause, which would be
// logged with every request.
func errBehind() error {
	return errs.New(errs.Busy, "this node has not applied the change that the request names yet; try again, or at another node").
		Coded("behind").After(limit.Retry)
}

// NotServing returns why this node must not answer requests now; nil if it may.
func (s *Server) NotServing() error {
	if s.Config.Cluster == nil {
		return nil
	}
	if err := s.Config.Cluster.Serving(); err != nil {
		return retried(err)
	}
	return nil
}

// retried returns an error with which the client is told to try again.
func retried(err error) error {
	e := *errs.Of(err) // a copy, since others may have it
	if e.RetryAfter == 0 && e.Kind == errs.Busy {
		e.RetryAfter = limit.Retry
	}
	return &e
}

// enter returns an error if this node can't serve a request of a route now. Requests of clients that have
// seen more than this node wait for it.
func (req *Request) enter(rt *Route) error {
	if rt.AlwaysServed {
		return nil
	}
	err := req.Server.NotServing()
	if err != nil && errs.Of(err).Code == codeBehind { // which ends by itself, mostly within milliseconds
		epoch, _, _ := req.Server.DB.CommitPosition()
		err = req.await(true, epoch, 0)
	}
	if err != nil {
		return err
	}
	return req.catchUp()
}
