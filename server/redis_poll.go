package server

import (
	"context"
	"crypto/x509"
	"fmt"
	"runtime/debug"
	"sync"
	"time"

	"github.com/gomodule/redigo/redis"
	"github.com/rs/zerolog"
	"reeve/store"
)

// How external Redis servers are watched.
const (
	redisEvery          = 15 * time.Second
	redisConnectTimeout = 2 * time.Second // with a TLS handshake
	redisReadTimeout    = 2 * time.Second // of one whole answer
	redisRetryFirst     = time.Second     // doubles with each failure
	redisRetryMost      = time.Minute
	redisRemindEvery    = time.Minute // that a server is still down
)

// redisPoller watches external Redis servers by commands that change nothing.
type redisPoller struct {
	targets                                                 []redisTarget
	log                                                     zerolog.Logger
	every, connect, read, retryFirst, retryMost, remindEach time.Duration
	roots                                                   *x509.CertPool // nil for the system's
}

func newRedisPoller(targets []redisTarget, log zerolog.Logger) *redisPoller {
	return &redisPoller{
		targets: targets, log: log, every: redisEvery, connect: redisConnectTimeout, read: redisReadTimeout,
		retryFirst: redisRetryFirst, retryMost: redisRetryMost, remindEach: redisRemindEvery,
	}
}

// run polls each target in a goroutine of its own until ctx ends, and returns when
// the last has ended. emit is called by all of them and must not wait for long.
func (p *redisPoller) run(ctx context.Context, emit func(redisEvent)) {
	var wg sync.WaitGroup
	for i := range p.targets {
		w := &redisWatch{redisPoller: p, target: &p.targets[i], emit: emit}
		wg.Go(func() { w.run(ctx) })
	}
	wg.Wait()
}

// redisWatch is one target's goroutine and what it remembers between polls.
type redisWatch struct {
	*redisPoller
	target *redisTarget
	emit   func(redisEvent)

	conn  redis.Conn // nil while there is none
	guard *redisGuard
	unbid func() bool // the connection no longer ends with the context

	past *redisPast // nil before the first poll

	failures int // since the last poll that worked
	down     bool
	told     time.Time // when it was last said that it is down
}

func (w *redisWatch) run(ctx context.Context) {
	defer w.hangUp()
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-timer.C:
		}
		replies, err := w.poll(ctx)
		if ctx.Err() != nil {
			return
		}
		if err != nil {
			timer.Reset(w.failed(err))
			continue
		}
		w.worked(replies)
		timer.Reset(w.every)
	}
}

// poll asks everything, over a new connection where there is none. A connection
// that was closed while it lay idle is replaced at once, before the server counts
// as down: servers close idle ones as they like.
func (w *redisWatch) poll(ctx context.Context) (r *redisReplies, err error) {
	// The answers are a stranger's. What nobody thought of must not end the program.
	defer func() {
		if p := recover(); p != nil {
			w.log.Error().Str("connection", w.target.name).Str("panic", fmt.Sprintf("%T", p)).Bytes("stack", debug.Stack()).Msg("polling Redis broke off")
			err = errRedisNonsense
		}
		if err != nil {
			w.hangUp()
		}
	}()
	reused := w.conn != nil
	if r, err = w.tryPoll(ctx); reused && closedByPeer(err) {
		w.hangUp()
		r, err = w.tryPoll(ctx)
	}
	return r, err
}

func (w *redisWatch) tryPoll(ctx context.Context) (*redisReplies, error) {
	if w.conn == nil {
		if err := w.dial(ctx); err != nil {
			return nil, err
		}
	}
	w.guard.refill()
	return w.ask()
}

// worked passes on what a poll has found.
func (w *redisWatch) worked(r *redisReplies) {
	if w.down {
		w.send(redisEvent{Type: redisStateType, State: "up"})
	}
	w.failures, w.down = 0, false
	for _, e := range w.events(r) {
		w.send(e)
	}
}

// failed says why, if that is due, and returns how long to wait.
func (w *redisWatch) failed(err error) time.Duration {
	if now := time.Now(); !w.down || now.Sub(w.told) >= w.remindEach {
		w.down, w.told = true, now
		w.send(redisEvent{Type: redisStateType, State: "down", Error: redisReason(err)})
	}
	wait := w.retryFirst
	for range w.failures {
		wait = min(2*wait, w.retryMost)
	}
	if wait < w.retryMost {
		w.failures++
	}
	return wait
}

func (w *redisWatch) send(e redisEvent) {
	e.Connection, e.at = w.target.name, store.TimeOf(time.Now())
	w.emit(e)
}
