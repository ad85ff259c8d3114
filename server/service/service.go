// Package service talks to the program that supervises the server, which is systemd: it takes the
// socket that systemd listens on, and reports when the server is ready, stops, needs more time, and
// is alive. Without systemd all of it does nothing.
package service

import (
	"context"
	"fmt"
	"net"
	"time"

	"github.com/coreos/go-systemd/v22/activation"
	"github.com/coreos/go-systemd/v22/daemon"
)

// Socket returns the socket of socket activation; nil if the server was started without one.
func Socket() (net.Listener, error) {
	all, err := activation.Listeners()
	if err != nil {
		return nil, fmt.Errorf("take the socket of the service: %w", err)
	}
	switch {
	case len(all) == 0:
		return nil, nil
	case len(all) > 1 || all[0] == nil:
		return nil, fmt.Errorf("the service has %d sockets, and must have one stream socket", len(all))
	}
	return all[0], nil
}

// extendBy is the time that Extend asks for, and extendEvery how often it asks.
const (
	extendBy    = 30 * time.Second
	extendEvery = 2 * time.Second
)

// Extend keeps the supervisor waiting until the returned function is called: the start migrates,
// verifies and completes restores, and the end finishes requests, which takes as long as it takes.
func Extend() (stop func()) {
	ctx, cancel := context.WithCancel(context.Background())
	ask := func() { notify(fmt.Sprintf("EXTEND_TIMEOUT_USEC=%d", extendBy.Microseconds())) }
	ask()
	go every(ctx, extendEvery, ask)
	return cancel
}

// Ready reports that the server accepts connections, and what it serves.
func Ready(status string) { notify(daemon.SdNotifyReady + "\nSTATUS=" + status) }

// Stopping reports that the server has begun to stop.
func Stopping() { notify(daemon.SdNotifyStopping) }

// Watch reports every half of the supervisor's interval that the server is alive, until ctx ends or
// a call of check does not return. Without an interval it does nothing.
func Watch(ctx context.Context, check func()) {
	interval, err := daemon.SdWatchdogEnabled(false)
	if err != nil || interval == 0 {
		return
	}
	every(ctx, interval/2, func() {
		check()
		notify(daemon.SdNotifyWatchdog)
	})
}

func every(ctx context.Context, interval time.Duration, do func()) {
	tick := time.NewTicker(interval)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			do()
		}
	}
}

// notify sends a state. A supervisor that does not listen is none of the server's concern.
func notify(state string) { daemon.SdNotify(false, state) }
