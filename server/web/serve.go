package web

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log"
	"net"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/rs/zerolog"

	"reeve/server/listen"
)

// Background is work beside requests.
type Background struct {
	Start func() error            // called before requests are accepted
	Tasks []func(context.Context) // each in a goroutine, until requests have finished
	Stop  func()                  // called when the server begins to shut down
}

// Listen listens and serves until ctx ends, then lets requests in flight finish. It calls
// ready with the address once it accepts connections.
func (s *Server) Listen(ctx context.Context, beside Background, ready func(net.Addr)) error {
	srv := &http.Server{
		Handler:           s.handler,
		ReadHeaderTimeout: headerTimeout,
		ReadTimeout:       headerTimeout + bodyTimeout, // also for bodies that no handler reads
		IdleTimeout:       idleTimeout,
		WriteTimeout:      WriteTimeout,
		MaxHeaderBytes:    maxHeaderBytes,
		HTTP2: &http.HTTP2Config{
			MaxConcurrentStreams:          maxStreams,
			MaxReceiveBufferPerConnection: streamBuffer,
			MaxReceiveBufferPerStream:     streamBuffer,
			WriteByteTimeout:              unwritten,
		},
		ErrorLog: httpLog(s.Log),
	}

	socket := s.Config.Socket
	if socket == nil {
		var err error
		if socket, err = net.Listen("tcp", s.Config.Listen); err != nil {
			return fmt.Errorf("listen on %s: %w", s.Config.Listen, err)
		}
	}

	gated := s.Gated(socket)
	listener := net.Listener(gated)
	if s.Config.TLSCert != "" {
		srv.TLSConfig = &tls.Config{
			MinVersion: tls.VersionTLS12,
			GetCertificate: func(*tls.ClientHelloInfo) (*tls.Certificate, error) {
				return s.current.Load().certificate, nil
			},
			NextProtos: []string{"h2", "http/1.1"},
		}
		listener = tls.NewListener(listener, srv.TLSConfig)
	}
	if err := beside.Start(); err != nil {
		return errors.Join(err, listener.Close())
	}

	var wg sync.WaitGroup
	tidy, stopTidying := context.WithCancel(context.Background())
	wg.Go(func() {
		s.Auth.Run(tidy, func(err error) {
			s.Log.Error().Err(err).Msg("maintaining sessions and the sign-in log failed")
		})
	})
	wg.Go(func() { gated.Watch(tidy) })
	wg.Go(func() { s.Monitor.Run(tidy) })
	wg.Go(func() { s.Failures.Run(tidy, s.Log) })
	wg.Go(func() { s.keepCompleted(tidy) })
	wg.Go(func() { s.followSettings(tidy) })
	for _, task := range beside.Tasks {
		wg.Go(func() { task(tidy) })
	}

	served := make(chan error, 1)
	wg.Go(func() { served <- srv.Serve(listener) })
	ready(listener.Addr())
	var err error
	select {
	case err = <-served:
	case <-ctx.Done():
		s.drain(gated)
		beside.Stop()
		gated.CutOff()
		listener.Close() // which fails only if it is closed
		<-served         // from here on, srv knows each connection that was accepted
		err = s.shutdown(srv, gated)
	}

	stopTidying()
	wg.Wait()
	if errors.Is(err, http.ErrServerClosed) {
		err = nil
	}

	return err
}

// httpLog returns a logger for net/http, which mostly reports broken connections.
func httpLog(l zerolog.Logger) *log.Logger { return log.New(lineWriter{l}, "", 0) }

type lineWriter struct{ log zerolog.Logger }

func (w lineWriter) Write(b []byte) (int, error) {
	w.log.Debug().Msg(strings.TrimSpace(string(b)))
	return len(b), nil
}

// drain goes on accepting requests for Config.Drain, so that load balancers and clients find another
// server or the next start: it is not ready, and each response closes its connection. It ends early
// when no connection is open and no one must be told.
func (s *Server) drain(l *listen.Listener) {
	s.draining.Store(true)
	end := time.Now().Add(s.Config.Drain)
	for time.Now().Before(end) && (l.Open() > 0 || s.balanced()) {
		time.Sleep(drainStep)
	}
}

// Draining reports whether the server has begun to stop.
func (s *Server) Draining() bool { return s.draining.Load() }

// firstRequest is how long a stop waits for the requests of connections that were accepted before.
const firstRequest = time.Second

// shutdown lets requests in flight finish, and cuts off those that take too long. Shutdown of net/http closes
// a connection without an answer if its request comes only then, so what was accepted is served before.
func (s *Server) shutdown(srv *http.Server, l *listen.Listener) error {
	deadline, cancel := context.WithTimeout(context.Background(), s.Config.StopTimeout)
	defer cancel()
	srv.SetKeepAlivesEnabled(false) // closes idle connections
	for end := time.Now().Add(min(firstRequest, s.Config.StopTimeout)); l.Open() > 0 && time.Now().Before(end); {
		time.Sleep(drainStep)
	}
	err := srv.Shutdown(deadline)
	if errors.Is(err, context.DeadlineExceeded) {
		s.Log.Warn().Msgf("requests were still running after %s and were cut off", s.Config.StopTimeout)
		err = srv.Close()
	}
	return err
}
