// Package redis watches external Redis servers for monitoring: their statistics, the cost of
// each command, slow executions, and when a server goes down and comes back.
//
// ParseTargets reads the configuration; a Poller asks each target every 15 seconds and
// emits Events. The commands it sends change nothing on the server. A server is untrusted:
// the guard bounds what it can make this program read, its texts are cleaned before they
// are kept, and a target's password never appears in an Event, an error or the log.
//
//	targets, err := redis.ParseTargets([]string{"cache=redis://user:password@127.0.0.1:6379"})
//	redis.NewPoller(targets, log).Run(ctx, func(e redis.Event) { … })
package redis

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
	pollEvery      = 15 * time.Second
	connectTimeout = 2 * time.Second // with a TLS handshake
	readTimeout    = 2 * time.Second // of one whole answer
	retryFirst     = time.Second     // doubles with each failure
	retryMax       = time.Minute
	remindEvery    = time.Minute // that a server is still down
)

// Poller watches external Redis servers by commands that change nothing.
type Poller struct {
	targets                                                 []Target
	log                                                     zerolog.Logger
	every, connect, read, retryFirst, retryMost, remindEach time.Duration
	roots                                                   *x509.CertPool // nil for the system's
}

func NewPoller(targets []Target, log zerolog.Logger) *Poller {
	return &Poller{
		targets: targets, log: log, every: pollEvery, connect: connectTimeout, read: readTimeout,
		retryFirst: retryFirst, retryMost: retryMax, remindEach: remindEvery,
	}
}

// run polls each target in a goroutine of its own until ctx ends, and returns when
// the last has ended. emit is called by all of them and must not wait for long.
func (p *Poller) Run(ctx context.Context, emit func(Event)) {
	var wg sync.WaitGroup
	for i := range p.targets {
		w := &watcher{Poller: p, target: &p.targets[i], emit: emit}
		wg.Go(func() { w.run(ctx) })
	}
	wg.Wait()
}

// watcher is one target's goroutine and what it remembers between polls.
type watcher struct {
	*Poller
	target *Target
	emit   func(Event)

	conn  redis.Conn // nil while there is none
	guard *guard
	unbid func() bool // the connection no longer ends with the context

	past *totals // nil before the first poll

	failures int // since the last poll that worked
	down     bool
	told     time.Time // when it was last said that it is down
}

func (w *watcher) run(ctx context.Context) {
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
func (w *watcher) poll(ctx context.Context) (r *replies, err error) {
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

func (w *watcher) tryPoll(ctx context.Context) (*replies, error) {
	if w.conn == nil {
		if err := w.dial(ctx); err != nil {
			return nil, err
		}
	}
	w.guard.refill()
	return w.ask()
}

// worked passes on what a poll has found.
func (w *watcher) worked(r *replies) {
	if w.down {
		w.send(Event{Type: stateType, State: "up"})
	}
	w.failures, w.down = 0, false
	for _, e := range w.events(r) {
		w.send(e)
	}
}

// failed says why, if that is due, and returns how long to wait.
func (w *watcher) failed(err error) time.Duration {
	if now := time.Now(); !w.down || now.Sub(w.told) >= w.remindEach {
		w.down, w.told = true, now
		w.send(Event{Type: stateType, State: "down", Error: reasonOf(err)})
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

func (w *watcher) send(e Event) {
	e.Connection, e.At = w.target.name, store.TimeOf(time.Now())
	w.emit(e)
}
