// Package redis monitors external Redis servers: their statistics, the cost of each
// command, slow executions, and state changes (up, down).
//
// ParseTargets reads the configuration; a Poller polls each target every 15 seconds, over
// a connection of its own, and emits Events. Its commands are read-only. A server is
// untrusted: the size of its replies is limited, its texts are cleaned before they are
// stored, and a target's password never appears in an Event.
//
//	targets, err := redis.ParseTargets([]string{"cache=redis://user:password@127.0.0.1:6379"})
//	redis.NewPoller(targets).Run(ctx, func(e redis.Event) { … })
package redis

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"net"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/gomodule/redigo/redis"

	"reeve/store/kv"
)

// Timing of the polls.
const (
	pollEvery   = 15 * time.Second
	pollTimeout = 5 * time.Second // of a whole poll
	downEvery   = time.Minute     // interval of down events
)

// Poller monitors external Redis servers with read-only commands.
type Poller struct {
	targets                   []Target
	every, timeout, downEvery time.Duration
	roots                     *x509.CertPool // nil for those of the system
}

func NewPoller(targets []Target) *Poller {
	return &Poller{targets: targets, every: pollEvery, timeout: pollTimeout, downEvery: downEvery}
}

// Run polls each target in a goroutine of its own until ctx ends, and returns when the
// last one has ended. emit is called by all of them concurrently and must not block for
// long.
func (p *Poller) Run(ctx context.Context, emit func(Event)) {
	var wg sync.WaitGroup
	for i := range p.targets {
		w := p.watch(&p.targets[i], emit)
		wg.Go(func() { w.run(ctx) })
	}
	wg.Wait()
}

// watcher is the goroutine of one target and its state between polls.
type watcher struct {
	*Poller
	target   *Target
	emit     func(Event)
	past     map[string]string // previous INFO; nil before the first
	nextSlow int64             // ID of the next entry of the slow log; -1 before the first reply
	down     bool
	lastDown time.Time // time of the last down event
}

func (p *Poller) watch(target *Target, emit func(Event)) *watcher {
	return &watcher{Poller: p, target: target, emit: emit, nextSlow: -1}
}

func (w *watcher) run(ctx context.Context) {
	tick := time.NewTicker(w.every)
	defer tick.Stop()
	for {
		w.poll(ctx)
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

// poll emits the events of a poll, and state changes.
func (w *watcher) poll(ctx context.Context) {
	events, err := w.ask(ctx)
	now := time.Now()
	switch {
	case ctx.Err() != nil:
	case err == nil && w.down:
		w.send(Event{Type: stateType, State: "up"})
	case err != nil && (!w.down || now.Sub(w.lastDown) >= w.downEvery):
		w.lastDown = now
		w.send(Event{Type: stateType, State: "down", Error: w.reasonOf(err)})
	}
	w.down = err != nil
	for _, e := range events {
		w.send(e)
	}
}

func (w *watcher) send(e Event) {
	e.Connection, e.At = w.target.name, kv.TimeOf(time.Now())
	w.emit(e)
}

// reasonOf returns the reason why a poll failed. The server may repeat the password that
// it was sent.
func (w *watcher) reasonOf(err error) string {
	var network net.Error
	var system syscall.Errno
	switch {
	case errors.As(err, &network) && network.Timeout():
		return "it does not answer in time"
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return "it closes the connection"
	case errors.As(err, &system):
		return system.Error()
	}
	return w.target.clean(err.Error(), maxReason)
}

// ask sends the commands of a poll. Providers of managed Redis may forbid SLOWLOG.
func (w *watcher) ask(ctx context.Context) ([]Event, error) {
	ctx, cancel := context.WithTimeout(ctx, w.timeout)
	defer cancel()
	conn, err := w.dial(ctx)
	if err != nil {
		return nil, err
	}

	defer conn.Close() // nothing is being written

	text, err := redis.String(redis.DoContext(conn, ctx, "INFO", "ALL"))
	if err != nil {
		return nil, err
	}
	if !strings.Contains(text, "redis_version:") {
		return nil, errors.New("its reply to INFO is not that of Redis")
	}

	slow, err := redis.SlowLogs(redis.DoContext(conn, ctx, "SLOWLOG", "GET", maxSlow))
	var refused redis.Error
	if err != nil && !errors.As(err, &refused) {
		return nil, err
	}

	events := w.compare(parseInfo(text))
	if refused != "" {
		events[0].Error = "it refuses SLOWLOG"
		return events, nil
	}

	return append(events, w.slow(slow[:min(len(slow), maxSlow)])...), nil
}

// dial connects and signs in.
func (w *watcher) dial(ctx context.Context) (redis.Conn, error) {
	dial := new(net.Dialer).DialContext
	if w.target.tls {
		dial = (&tls.Dialer{Config: &tls.Config{MinVersion: tls.VersionTLS12, RootCAs: w.roots}}).DialContext
	}

	limit := redis.DialContextFunc(func(ctx context.Context,
		network, addr string) (net.Conn, error) {
		conn, err := dial(ctx, network, addr)
		if err != nil {
			return nil, err
		}
		return &limited{Conn: conn, left: maxBytes}, nil
	})
	return redis.DialContext(ctx, "tcp", w.target.addr, limit,
		redis.DialUsername(w.target.username), redis.DialPassword(w.target.password),
		redis.DialDatabase(w.target.db))
}
