package cli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"os/signal"
	"runtime"
	"syscall"
	"time"

	"github.com/spf13/pflag"

	"reeve/auth/breached"
	"reeve/embed"
	"reeve/server"
	"reeve/server/config"
	"reeve/server/ops"
	"reeve/server/service"
	"reeve/server/web"
	"reeve/store"
)

// ballastBytes is the size of an allocation that delays the garbage collector.
const ballastBytes = 24 << 20

// longestStop is how long a stop may take besides the time for requests, such as on a slow disk. After that
// systemd may end the process.
const longestStop = 2 * time.Minute

// serve runs the server until SIGTERM or SIGINT. The first start creates the database. A node whose
// records the log of commits no longer continues starts again, with a copy.
func (p *program) serve() error {
	for {
		err := p.serveOnce()
		if !errors.Is(err, errNeedsCopy) {
			return err
		}
		p.log.Warn().Msg("this node starts again, to take a copy of the data")
	}
}

func (p *program) serveOnce() (err error) {
	// A log whose reader has ended, or a closed terminal, must not end the server.
	signal.Ignore(syscall.SIGPIPE)
	reload := make(chan os.Signal, 1)
	signal.Notify(reload, syscall.SIGHUP)
	defer signal.Stop(reload)
	// The live heap is small, so the collector would run after every few megabytes of
	// garbage. This array is never touched and thus occupies no memory, but it counts
	// as live and makes the collector wait for as much more.
	ballast := make([]byte, ballastBytes)
	defer runtime.KeepAlive(ballast)
	started := service.Extend()
	defer started()
	socket, err := service.Socket()
	if err != nil {
		return err
	}

	settings, err := p.settings(socket)
	if err != nil {
		return err
	}
	if err := p.openBreached(); err != nil {
		return err
	}

	db, a, err := p.open()
	if err != nil {
		return err
	}

	defer func() { err = errors.Join(err, db.Close(), p.closeNode()) }()
	if p.node != nil {
		settings.Cluster = p.node
	}
	p.warn(server.Warnings(&settings, db.Dir()))
	// Go's scheduler gives a password hash one of its processors for a long time. With
	// one more processor for each hash that can run at once, requests do not wait in
	// the scheduler's queue: the operating system's scheduler prefers them.
	processors := runtime.GOMAXPROCS(0)
	runtime.GOMAXPROCS(processors + a.Workers())
	defer runtime.GOMAXPROCS(processors) // the server may start again in this process, with other data
	s, err := server.New(settings, db, a, p.log)
	if err != nil {
		return err
	}
	s.Backups.Examine = p.examinerOf(db)
	if err := p.configureBackups(s); err != nil {
		return err
	}
	ctx, end := context.WithCancel(context.Background())
	defer end()
	needsCopy, leave := p.runNode(db, end)
	defer leave()
	if paths := p.texts("apply"); paths != nil {
		c := p.clientOf(s)
		if err := errors.Join(p.applyAtStart(c, paths), c.close()); err != nil {
			return err
		}
	}
	// Until here a signal ends the process at once, so that a slow start can be
	// interrupted.
	signalled, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	go func() {
		<-signalled.Done()
		service.Stopping() // before the server stops, or the process could end first
		stop := service.Extend()
		time.AfterFunc(settings.Drain+settings.StopTimeout+longestStop, stop)
		end()
	}()
	go func() {
		for range reload {
			p.reload(s) // which logs an error
		}
	}()
	if stop, err := p.listenForCommands(s); err != nil {
		p.log.Warn().Err(err).Msg("commands can't reach this server while it runs")
	} else {
		defer stop()
	}
	scheme := "http"
	if settings.TLSCert != "" {
		scheme = "https"
	}

	err = s.Run(ctx, func(addr net.Addr) {
		url := scheme + "://" + addr.String()
		p.log.Info().Str("version", p.build()).Str("data", db.Dir()).Msg("serving " + url)
		started()
		service.Ready("serving " + url)
		go service.Watch(ctx, func() { // a read waits for no write, and so for no slow disk
			db.View(store.Anonymous, func(*store.Tx) error { return nil })
		})
	})

	p.log.Info().Msg("stopped")
	if needsCopy() && signalled.Err() == nil {
		err = errors.Join(err, errNeedsCopy)
	}
	return err
}

// health asks the server with this configuration whether it is ready.
func (p *program) health() error {
	settings, err := p.config.Server()
	if err != nil {
		return err
	}
	return service.Check(context.Background(), settings.Listen, settings.BasePath,
		settings.TLSCert != "")
}

// openBreached opens the list of leaked passwords, if one is configured.
func (p *program) openBreached() (err error) {
	if p.config.Breached == "" {
		return nil
	}
	if p.breached, err = breached.Open(p.config.Breached); err != nil {
		return fmt.Errorf("auth.breached_passwords: %w", err)
	}
	return nil
}

// settings returns the server's configuration with the values that depend on the
// program. socket takes the place of the address to listen on, unless it is nil.
func (p *program) settings(socket net.Listener) (web.Config, error) {
	settings, err := p.config.Server()
	if err != nil {
		return settings, err
	}
	if socket != nil {
		settings.Socket, settings.Listen = socket, socket.Addr().String()
	}

	settings.Version = p.Version
	if settings.Console, err = fs.Sub(embed.Console, "dist"); err != nil {
		return settings, err
	}
	if settings.Mail, err = fs.Sub(embed.Mail, "mail"); err != nil {
		return settings, err
	}
	if settings.Pages, err = fs.Sub(embed.Pages, "pages"); err != nil {
		return settings, err
	}
	if settings.Clients, err = fs.Sub(embed.SDK, "sdk"); err != nil {
		return settings, err
	}

	if settings.Manual, err = fs.Sub(embed.Manual, "manual"); err != nil {
		return settings, err
	}

	protect(&settings, p.config)
	return settings, nil
}

// protect sets what is warned about on a machine with other users. A container has none.
func protect(settings *web.Config, c *config.Config) {
	if ops.InContainer() {
		return
	}
	settings.Root = os.Geteuid() == 0
	for _, path := range []string{c.File, settings.TLSKey} {
		if path != "" {
			settings.PrivateFiles = append(settings.PrivateFiles, path)
		}
	}
}

func listenFlag(f *pflag.FlagSet, _ *program) {
	f.String("listen", "", "listen on this `ADDRESS` (server.listen)")
}

func serveFlags(f *pflag.FlagSet, p *program) {
	listenFlag(f, p)
	f.StringSlice("apply", nil, "apply this setup `FILE|DIR` before the server is ready; can be repeated")
}
