package cli

import (
	"context"
	"errors"
	"io/fs"
	"net"
	"os"
	"os/signal"
	"runtime"
	"syscall"

	"reeve/embed"
	"reeve/server"
)

// ballastBytes is the size of an allocation that delays the garbage collector.
const ballastBytes = 24 << 20

// serve opens the database, which the first start creates, and serves it until a signal.
func (p *program) serve() (err error) {
	// Little lives on the heap, so the collector would run after every few megabytes of
	// garbage. This array is never touched and thus takes up no memory, but it counts as
	// live and makes the collector wait for as much more.
	ballast := make([]byte, ballastBytes)
	defer runtime.KeepAlive(ballast)
	settings, err := p.settings()
	if err != nil {
		return err
	}
	db, a, err := p.open()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	p.warn(settings.InstallationWarnings(db.Dir()))
	// Go's scheduler gives a password hash one of its processors for a long time. With one
	// more for each hash that can run at once, requests do not wait in its queue: the
	// operating system's scheduler lets them go first.
	runtime.GOMAXPROCS(runtime.GOMAXPROCS(0) + a.Workers())
	s, err := server.New(settings, db, a, p.log)
	if err != nil {
		return err
	}
	// Until here a signal ends the process at once, so that a slow start can be interrupted.
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	scheme := "http"
	if settings.TLSCert != "" {
		scheme = "https"
	}
	err = s.Run(ctx, func(addr net.Addr) {
		p.log.Info().Str("version", p.build()).Str("data", db.Dir()).Msg("serving " + scheme + "://" + addr.String())
	})
	p.log.Info().Msg("stopped")
	return err
}

// settings returns the server's configuration with what the program adds to it.
func (p *program) settings() (server.Config, error) {
	settings, err := p.config.Server()
	if err != nil {
		return settings, err
	}
	settings.Version = p.version
	if settings.Console, err = fs.Sub(embed.Console, "dist"); err != nil {
		return settings, err
	}
	container := server.InContainer()
	settings.Root = os.Geteuid() == 0 && !container
	for _, path := range []string{p.config.File, settings.TLSKey} {
		if path != "" && !container {
			settings.PrivateFiles = append(settings.PrivateFiles, path)
		}
	}
	if settings.PlainBeyondLoopback() {
		p.log.Warn().Str("listen", settings.Listen).Msg("passwords and tokens cross the network in the clear: set server.tls_cert and server.tls_key, or put a TLS proxy in front")
	}
	return settings, nil
}
