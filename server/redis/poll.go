// Package redis monitors external Redis servers: their statistics, the cost of each
// command, slow executions, and state changes (up, down).
//
// ParseTargets reads the configuration; a Poller polls each target every 15 seconds and
// emits Events. Its commands are read-only. A server is untrusted: the guard bounds
// what it can make this program read, its texts are cleaned before they are stored, and
// a target's password never appears in an Event, an error or the log.
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

// Timing of the polls.
const (
	pollEvery      = 15 * time.Second
	connectTimeout = 2 * time.Second // including a TLS handshake
	readTimeout    = 2 * time.Second // for one whole reply
	retryFirst     = time.Second     // doubles with each failure
	retryMax       = time.Minute
	downEvery      = time.Minute // interval of down events
)

// Poller monitors external Redis servers with read-only commands.
type Poller struct {
	targets                                               []Target
	log                                                   zerolog.Logger
	every, connect, read, retryFirst, retryMax, downEvery time.Duration
	roots                                                 *x509.CertPool // nil for the system's
}

func NewPoller(targets []Target, log zerolog.Logger) *Poller {
	return &Poller{
		targets: targets, log: log, every: pollEvery, connect: connectTimeout, read: readTimeout,
		retryFirst: retryFirst, retryMax: retryMax, downEvery: downEvery,
	}
}

// Run polls each target in a goroutine of its own until ctx ends, and returns when the
// last one has ended. emit is called by all of them concurrently and must not block for
// long.
func (p *Poller) Run(ctx context.Context, emit func(Event)) {
	var wg sync.WaitGroup
	for i := range p.targets {
		w := &watcher{Poller: p, target: &p.targets[i], emit: emit}
		wg.Go(func() { w.run(ctx) })
	}
	wg.Wait()
}

// watcher is the goroutine of one target and its state between polls.
type watcher struct {
	*Poller
	target *Target
	emit   func(Event)

	conn        redis.Conn // nil without a connection
	guard       *guard
	stopClosing func() bool // cancels closing the connection when the context ends

	past *totals // nil before the first poll

	failures int // since the last successful poll
	down     bool
	lastDown time.Time // time of the last down event
}

func (w *watcher) run(ctx context.Context) {
	defer w.disconnect()
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

// poll sends all commands, over a new connection if there is none. If the connection
// was closed while idle, it reconnects at once before the server counts as down:
// servers close idle connections as they like.
func (w *watcher) poll(ctx context.Context) (r *replies, err error) {
	// The replies are untrusted. An unexpected one must not end the program.
	defer func() {
		if p := recover(); p != nil {
			w.log.Error().Str("connection", w.target.name).Str("panic", fmt.Sprintf("%T", p)).Bytes("stack", debug.Stack()).Msg("polling Redis broke off")
			err = errRedisProtocol
		}
		if err != nil {
			w.disconnect()
		}
	}()
	reused := w.conn != nil
	if r, err = w.tryPoll(ctx); reused && closedByPeer(err) {
		w.disconnect()
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

// worked emits the events of a successful poll.
func (w *watcher) worked(r *replies) {
	if w.down {
		w.send(Event{Type: stateType, State: "up"})
	}
	w.failures, w.down = 0, false
	for _, e := range w.events(r) {
		w.send(e)
	}
}

// failed emits a down event if one is due, and returns the delay before the next poll.
func (w *watcher) failed(err error) time.Duration {
	if now := time.Now(); !w.down || now.Sub(w.lastDown) >= w.downEvery {
		w.down, w.lastDown = true, now
		w.send(Event{Type: stateType, State: "down", Error: reasonOf(err)})
	}
	wait := w.retryFirst
	for range w.failures {
		wait = min(2*wait, w.retryMax)
	}
	if wait < w.retryMax {
		w.failures++
	}
	return wait
}

func (w *watcher) send(e Event) {
	e.Connection, e.At = w.target.name, store.TimeOf(time.Now())
	w.emit(e)
}
