// Package server is Reeve's HTTP interface: the table of routes and everything
// that is read from it. A request goes through request.go (who asks, may they),
// decode.go (what do they say), the handler in its resource's file, and back out
// in the envelope. It knows nothing of bbolt or of configuration files.
package server

import (
	"context"
	"crypto/rand"
	"crypto/tls"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"log"
	"net"
	"net/http"
	"net/netip"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"filippo.io/age"
	"github.com/julienschmidt/httprouter"
	"github.com/rs/zerolog"
	"reeve/auth"
	"reeve/server/picture"
	"reeve/server/redis"
	"reeve/store"
	"reeve/store/errs"
)

// Config is what the server needs to be told before it listens.
type Config struct {
	Listen         string // host:port
	TLSCert        string // PEM files; both or neither
	TLSKey         string
	TrustedProxies []netip.Prefix
	MaxConnections int // 0 for as many as the limit of descriptors allows
	Monitor        MonitorConfig
	Console        fs.FS    // index.html and assets/, as the console is built; nil for no console
	IgnoredFields  []string // of forms: not part of any record, yet no mistake in a body
	CORSOrigins    []string // exact origins, like https://admin.example.org; none by default
	RedisTargets   []string // name=redis://user:password@host:port/db, so secret
	Version        string
	// BackupRecipients are whom backups are encrypted to; without any they are not
	// encrypted, and lack secret.key.
	BackupRecipients []age.Recipient
	Root             bool          // the program runs as root, and not in a container
	PrivateFiles     []string      // of the configuration: no other user of the machine should read them
	MetricsToken     string        // lets a program read the metrics; without one there are none
	Effective        []ConfigValue // for people to look at, secrets masked
}

// How long a client may take.
const (
	headerTimeout   = 5 * time.Second
	idleTimeout     = 60 * time.Second
	writeTimeout    = 60 * time.Second // from the end of the header to the end of the answer; streams set their own
	shutdownTimeout = 20 * time.Second // for requests in flight
	maxHeaderBytes  = 64 << 10
	maxStreams      = 100       // requests at once on a connection of HTTP/2
	streamBuffer    = 256 << 10 // bytes that such a connection keeps for requests that do not read
)

// Server answers requests from one database.
type Server struct {
	config   Config
	db       *store.DB
	auth     *auth.Auth
	log      zerolog.Logger
	handler  http.Handler
	openapi  document
	images   *picture.Scaler
	jobs     *jobs
	links    *linkSigner
	failures failureLog
	limits   *limits
	suspects suspects
	decoding chan struct{} // large bodies, a few at a time
	grace    time.Duration // of slow transfers: paceTime, but for tests
	monitor  *monitor
	routes   []Route
	metrics  metrics
	parts    []func() part // of /system/health
	pulse    atomic.Pointer[pulse]
	started  time.Time
	idHead   string // random, the first half of every request id
	idTail   atomic.Uint64
}

// CheckRedis returns what is wrong with RedisTargets. The error contains no password.
func (c *Config) CheckRedis() error {
	_, err := redis.ParseTargets(c.RedisTargets)
	return err
}

// New builds the server; it does not listen yet.
func New(config Config, db *store.DB, a *auth.Auth, log zerolog.Logger) (*Server, error) {
	var head [6]byte
	rand.Read(head[:]) // never fails: crypto/rand ends the program instead
	connections, err := maxConnections(config.MaxConnections)
	if err != nil {
		return nil, err
	}
	s := &Server{
		config: config, db: db, auth: a, log: log, limits: newLimits(connections), grace: paceTime, started: time.Now(), idHead: hex.EncodeToString(head[:]),
		decoding: make(chan struct{}, max(1, runtime.NumCPU()-1)), // one core stays free of them, where there are two
	}
	s.images = picture.NewScaler()
	all := routes()
	if err := checkRoutes(all); err != nil {
		return nil, err
	}
	if s.openapi, err = newDocument(all, config.Version); err != nil {
		return nil, err
	}
	s.routes, s.monitor = all, newMonitor(config.Monitor, config.RedisTargets, db, log, all)
	s.jobs, s.links = newJobs(s), newLinkSigner()
	s.monitor.gauges(&s.metrics)
	db.OnSlowWrite(s.slowWrite)
	db.OnFull(s.monitor.giveWay)
	s.parts = []func() part{s.databaseHealth, s.secretsHealth, s.diskHealth, s.filesHealth, s.searchHealth, s.cacheHealth, s.clockHealth, s.monitorHealth, s.limitHealth, s.signInHealth, s.permissionsHealth}
	s.handler = s.headers(s.cors(s.router(all)))
	return s, nil
}

// Handler is the whole interface as an http.Handler.
func (s *Server) Handler() http.Handler { return s.handler }

func (s *Server) router(all []Route) *httprouter.Router {
	router := httprouter.New()
	router.RedirectTrailingSlash = false
	router.RedirectFixedPath = false
	router.HandleOPTIONS = false
	for i := range all {
		if all[i].Access == metricsToken && s.config.MetricsToken == "" {
			continue // as if it did not exist
		}
		router.Handle(all[i].Method, all[i].Path, s.serve(&all[i]))
		if all[i].head {
			router.Handle(http.MethodHead, all[i].Path, s.serve(&all[i]))
		}
	}
	router.NotFound = s.refuse(errs.New(errs.NotFound, "there is no such address"))
	badMethod := s.refuse(errs.New(errs.BadMethod, "this address does not take this method; the header Allow names those it takes"))
	router.MethodNotAllowed = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		// httprouter adds OPTIONS, which nothing here answers.
		takes := slices.DeleteFunc(strings.Split(w.Header().Get("Allow"), ", "), func(m string) bool { return m == http.MethodOptions })
		w.Header().Set("Allow", strings.Join(takes, ", "))
		badMethod.ServeHTTP(w, r)
	})
	s.console(router)
	return router
}

// refuse answers every request with one error.
func (s *Server) refuse(err error) http.Handler {
	stats := s.metrics.of(nil)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		req := s.newRequest(w, r)
		defer s.record(stats, req, err)
		s.fail(req, err)
		s.logRequest("", req, err)
	})
}

func (s *Server) nextID() string {
	return s.idHead + "-" + strconv.FormatUint(s.idTail.Add(1), 36)
}

func (s *Server) clientAddr(r *http.Request) netip.Addr {
	peer, err := netip.ParseAddrPort(r.RemoteAddr)
	if err != nil {
		return netip.IPv4Unspecified() // not a network connection: a test's own request
	}
	if len(s.config.TrustedProxies) == 0 {
		return peer.Addr().Unmap().WithZone("")
	}
	return auth.ClientAddr(peer.Addr(), r.Header.Values("X-Forwarded-For"), s.config.TrustedProxies)
}

// Run listens and serves until ctx ends, then lets requests in flight finish.
// ready is told the address once connections are taken.
func (s *Server) Run(ctx context.Context, ready func(net.Addr)) error {
	srv := &http.Server{
		Handler:           s.handler,
		ReadHeaderTimeout: headerTimeout,
		ReadTimeout:       headerTimeout + bodyTimeout, // also of bodies that nobody wants to read
		IdleTimeout:       idleTimeout,
		WriteTimeout:      writeTimeout,
		MaxHeaderBytes:    maxHeaderBytes,
		HTTP2:             &http.HTTP2Config{MaxConcurrentStreams: maxStreams, MaxReceiveBufferPerConnection: streamBuffer, MaxReceiveBufferPerStream: streamBuffer},
		ErrorLog:          httpLog(s.log),
	}
	tcp, err := net.Listen("tcp", s.config.Listen)
	if err != nil {
		return fmt.Errorf("listen on %s: %w", s.config.Listen, err)
	}
	timed := newDeadlines(tcp, newGate(s.limits.connections, s.config.TrustedProxies, s.config.TLSCert == ""))
	listener := net.Listener(timed)
	if s.config.TLSCert != "" {
		cert, err := tls.LoadX509KeyPair(s.config.TLSCert, s.config.TLSKey)
		if err != nil {
			return errors.Join(fmt.Errorf("load server.tls_cert and server.tls_key: %w", err), listener.Close())
		}
		srv.TLSConfig = &tls.Config{MinVersion: tls.VersionTLS12, Certificates: []tls.Certificate{cert}, NextProtos: []string{"h2", "http/1.1"}}
		listener = tls.NewListener(listener, srv.TLSConfig)
	}
	abandoned := s.jobs.abandoned()
	var wg sync.WaitGroup
	tidy, stopTidying := context.WithCancel(context.Background())
	wg.Go(func() {
		s.auth.Run(tidy, func(err error) { s.log.Error().Err(err).Msg("keeping sessions tidy failed") })
	})
	wg.Go(func() { timed.watch(tidy) })
	wg.Go(func() { s.keepFiles(tidy) })
	wg.Go(func() { s.jobs.keep(tidy, abandoned) })
	wg.Go(func() { s.monitor.run(tidy) })
	wg.Go(func() { s.failures.run(tidy, s.log) })
	served := make(chan error, 1)
	wg.Go(func() { served <- srv.Serve(listener) })
	ready(listener.Addr())
	select {
	case err = <-served:
	case <-ctx.Done():
		deadline, cancel := context.WithTimeout(context.Background(), shutdownTimeout)
		err = srv.Shutdown(deadline)
		cancel()
		if errors.Is(err, context.DeadlineExceeded) {
			err = errors.Join(fmt.Errorf("requests were still running after %s and were cut off", shutdownTimeout), srv.Close())
		}
	}
	stopTidying()
	wg.Wait()
	if errors.Is(err, http.ErrServerClosed) {
		err = nil
	}
	return err
}

// emptyEvery is how often files are looked for that have been in the trash too long.
const emptyEvery = time.Hour

// keepFiles says what came of opening the files' database, and empties the trash.
func (s *Server) keepFiles(ctx context.Context) {
	warnings, err := s.db.FilesOpened()
	for _, warning := range warnings {
		s.log.Warn().Msg(warning)
	}
	if err != nil {
		s.log.Error().Err(err).Msg("files cannot be used")
		return
	}
	tick := time.NewTicker(emptyEvery)
	defer tick.Stop()
	for {
		if _, err := s.db.EmptyTrash(); err != nil {
			s.log.Error().Err(err).Msg("emptying the trash failed")
		}
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

// PlainBeyondLoopback tells whether passwords would cross a network in the clear.
func (c *Config) PlainBeyondLoopback() bool {
	host, _, err := net.SplitHostPort(c.Listen)
	if err != nil || c.TLSCert != "" || host == "localhost" {
		return false
	}
	addr, err := netip.ParseAddr(host)
	return err != nil || !addr.IsLoopback()
}

// httpLog takes what net/http has to say, which is about broken connections.
func httpLog(l zerolog.Logger) *log.Logger { return log.New(lineWriter{l}, "", 0) }

type lineWriter struct{ log zerolog.Logger }

func (w lineWriter) Write(b []byte) (int, error) {
	w.log.Debug().Msg(strings.TrimSpace(string(b)))
	return len(b), nil
}
