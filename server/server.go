// Package server implements Reeve's HTTP API: the table of routes, and everything that
// follows from it. A request passes request.go (authentication and authorization),
// decode.go (input), the handler in its resource's file, and the envelope of the
// response. The package does not use bbolt or configuration files.
//
// Start with Route, the table in routes, and Request. New builds a Server; Run serves
// until its context ends.
//
// Invariants: every operation is one row of the route table, from which the router, the
// permission tree, the OpenAPI document and the tests follow. A write is authorized
// again inside its transaction. An error that is not an errs.Error is logged, and its
// text is never sent.
//
//	s, err := server.New(config, db, auth, log)
//	err = s.Run(ctx, func(addr net.Addr) { log.Info().Stringer("address", addr).Msg("serving") })
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
	"reeve/server/monitor"
	"reeve/server/picture"
	"reeve/server/redis"
	"reeve/server/sdk"
	"reeve/server/webhook"
	"reeve/store"
	"reeve/store/errs"
)

// Config is the configuration of a Server.
type Config struct {
	Listen         string // host:port
	TLSCert        string // paths of PEM files; both or neither
	TLSKey         string
	BasePath       string   // path below which a proxy serves this server, like /admin-tool; "" for the root of its host
	PublicURL      string   // URL at which people reach this server, like https://reeve.example.org, with BasePath; "" if unknown
	AllowedHosts   []string // host names to answer to besides that of PublicURL
	TrustedProxies []netip.Prefix
	MaxConnections int // 0 for as many as the limit of file descriptors allows
	Monitor        monitor.Config
	Console        fs.FS    // the built console: index.html and assets/; nil for no console
	Manual         fs.FS    // Markdown files; nil for no manual
	Mail           fs.FS    // templates of mails, see mail.ParseTemplates
	Pages          fs.FS    // pages for people without the console: frame.html and texts.json
	Clients        fs.FS    // the client libraries: typescript/, go/ and LICENSE; nil for none
	IgnoredFields  []string // unknown fields that are ignored in a body
	CORSOrigins    []string // exact origins, like https://admin.example.org; none by default
	RedisTargets   []string // name=redis://user:password@host:port/db, so secret
	Version        string
	// BackupRecipients are the recipients that backups are encrypted to. Without any,
	// backups are not encrypted and lack secret.key.
	BackupRecipients []age.Recipient
	Root             bool          // whether the program runs as root outside a container
	PrivateFiles     []string      // paths of configuration files that other users of the machine must not be able to read
	MetricsToken     string        // bearer token of GET /metrics; "" turns the endpoint off
	Forward          Forward       // forward authentication; without origins there is none
	WebhookAllow     webhook.Allow // destinations of webhooks beyond the Internet
	Effective        []ConfigValue // configuration for display, secrets masked
}

// Timeouts and limits of HTTP connections.
const (
	headerTimeout   = 5 * time.Second
	idleTimeout     = 60 * time.Second
	writeTimeout    = 60 * time.Second // from the end of the header to the end of the response; streams set their own
	shutdownTimeout = 7 * time.Second  // for requests in flight; Docker kills a container after 10 s
	maxHeaderBytes  = 64 << 10
	unwritten       = 20 * time.Second // until a connection is closed whose client reads nothing
	streamBuffer    = 256 << 10        // bytes that an HTTP/2 connection buffers for requests that do not read
)

// Server serves the API of one database.
type Server struct {
	config   Config
	db       *store.DB
	auth     *auth.Auth
	log      zerolog.Logger
	handler  http.Handler
	openapi  *apiDocuments                         // made for the first request, not at start: it takes 20 ms
	clients  func() (*sdk.Files, error)            // packed for the first request, not at start
	manual   func() (Encoded[manualAnswer], error) // rendered for the first request, not at start
	images   *picture.Scaler
	jobs     *jobs
	streams  *streams
	reads    *secretReads
	sender   *sender
	outbox   *outbox
	fields   *fieldKeeper
	pages    *pages
	links    *linkSigner
	failures failureLog
	limits   *limits
	origins  *http.CrossOriginProtection // of requests with a session cookie
	programs *http.CrossOriginProtection // of requests to programs behind a proxy
	suspects suspects
	denials  denials
	erasing  sync.Mutex    // held while an erasure is continued
	decoding chan struct{} // semaphore for decoding large bodies
	making   chan struct{} // semaphore for making large responses
	grace    time.Duration // grace period of slow transfers: paceTime, except in tests
	monitor  *monitor.Monitor
	routes   []Route
	choosers map[string][]string // see choosersOf
	metrics  metrics
	parts    []func() part // components of /system/health
	health   atomic.Pointer[cachedHealth]
	started  time.Time
	cookies  cookieMarks
	idHead   string // random first half of every request ID
	idTail   atomic.Uint64
}

// CheckRedis returns what is wrong with RedisTargets. The error contains no password.
func (c *Config) CheckRedis() error {
	_, err := redis.ParseTargets(c.RedisTargets)
	return err
}

// New returns a Server that does not listen yet.
func New(config Config, db *store.DB, a *auth.Auth, log zerolog.Logger) (*Server, error) {
	var head [6]byte
	rand.Read(head[:]) // never fails: crypto/rand ends the program instead
	connections, err := maxConnections(config.MaxConnections)
	if err != nil {
		return nil, err
	}
	s := &Server{
		config: config, db: db, auth: a, log: log, limits: newLimits(connections), grace: paceTime, started: time.Now(), idHead: hex.EncodeToString(head[:]),
		decoding: make(chan struct{}, max(1, runtime.NumCPU()-1)), // leaves one core to other requests, if there are two
		making:   make(chan struct{}, runtime.NumCPU()),
	}
	if s.cookies, err = newCookieMarks(db); err != nil {
		return nil, err
	}
	if s.origins, err = trustedOrigins(config.PublicURL, config.Forward.URL); err != nil {
		return nil, err
	}
	s.programs = http.NewCrossOriginProtection()
	for _, origin := range config.Forward.exposed() {
		log.Warn().Str("origin", origin).Msg("this program gets the sessions of its users, since browsers send cookies to every port of a host name: give it a host name other than that of forward_auth.url")
	}
	s.images = picture.NewScaler()
	all := routes()
	if err := checkRoutes(all); err != nil {
		return nil, err
	}
	s.openapi = newDocuments(func() (document, error) { return s.newDocument(all) })
	s.clients = sync.OnceValues(func() (*sdk.Files, error) { return packClients(config.Clients, config.Version) })
	s.manual = sync.OnceValues(func() (Encoded[manualAnswer], error) { return newManual(config.Manual, s.url(manualPages)) })
	s.routes, s.choosers, s.monitor = all, choosersOf(all), monitor.New(config.Monitor, config.RedisTargets, db, log)
	s.jobs, s.links, s.streams = newJobs(s), newLinkSigner(), newStreams(s)
	s.sender, s.reads, s.fields = newSender(s), newSecretReads(s), newFieldKeeper(s)
	if s.outbox, err = newOutbox(s); err != nil {
		return nil, err
	}
	if s.pages, err = newPages(config.Pages); err != nil {
		return nil, fmt.Errorf("read the HTML pages: %w", err)
	}
	s.monitor.Gauges(s.metrics.gauge)
	s.metrics.counter("reeve_monitor_dropped_total", "Requests whose events were dropped because the queue was full.", s.monitor.Dropped)
	db.OnSlowWrite(s.slowWrite)
	db.OnDiskFull(s.monitor.GiveWay)
	db.OnDamage(func(text string) { s.log.Error().Msg(text) })
	s.parts = []func() part{s.databaseHealth, s.secretsHealth, s.diskHealth, s.filesHealth, s.searchHealth, s.textHealth, s.cacheHealth, s.clockHealth, s.monitorHealth, s.changeLogHealth, s.webhookHealth, s.keyHealth, s.mailHealth, s.limitHealth, s.signInHealth, s.passwordHealth, s.permissionsHealth}
	s.handler = s.belowBase(s.headers(s.checkHost(s.cors(s.boundStreams(s.router(all))))))
	return s, nil
}

// Handler returns the whole API and the console as an http.Handler.
func (s *Server) Handler() http.Handler { return s.handler }

func (s *Server) router(all []Route) *httprouter.Router {
	router := httprouter.New()
	router.RedirectTrailingSlash = false
	router.RedirectFixedPath = false
	router.HandleOPTIONS = false
	for i := range all {
		if all[i].Access == metricsToken && s.config.MetricsToken == "" {
			continue // responds like an unknown path
		}
		router.Handle(all[i].Method, all[i].Path, s.serve(&all[i]))
		if all[i].Method == http.MethodGet {
			router.Handle(http.MethodHead, all[i].Path, s.serve(&all[i]))
		}
	}
	router.NotFound = s.keysWithSlashes(all, s.refuse(errUnknownPath))
	badMethod := s.refuse(errs.New(errs.BadMethod, "this path does not support this method; see the Allow header"))
	router.MethodNotAllowed = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if s.hides(r.URL.Path) {
			w.Header().Del("Allow")
			router.NotFound.ServeHTTP(w, r)
			return
		}
		// httprouter adds OPTIONS, which no route handles.
		takes := slices.DeleteFunc(strings.Split(w.Header().Get("Allow"), ", "), func(m string) bool { return m == http.MethodOptions })
		w.Header().Set("Allow", strings.Join(takes, ", "))
		badMethod.ServeHTTP(w, r)
	})
	s.console(router)
	s.serveClients(router)
	return router
}

// keysWithSlashes serves the routes of protocols whose path ends with a key, also for keys that contain an
// encoded slash, which the router takes for another path. Their clients understand no other answer than the
// protocol's.
func (s *Server) keysWithSlashes(all []Route, unknown http.Handler) http.Handler {
	type keyed struct {
		rt           *Route
		prefix, name string
		handle       httprouter.Handle
	}
	var routes []keyed
	for i := range all {
		rt := &all[i]
		if at := strings.LastIndexByte(rt.Path, '/') + 1; rt.protocol != nil && !rt.protocol.form && strings.HasPrefix(rt.Path[at:], ":") {
			routes = append(routes, keyed{rt, rt.Path[:at], rt.Path[at+1:], s.serve(rt)})
		}
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		for _, k := range routes {
			if key, ok := strings.CutPrefix(r.URL.Path, k.prefix); ok && r.Method == k.rt.Method {
				k.handle(w, r, httprouter.Params{{Key: k.name, Value: key}})
				return
			}
		}
		unknown.ServeHTTP(w, r)
	})
}

// errUnknownPath is the answer to a path without a route, and to one that a setting hides.
var errUnknownPath = errs.New(errs.NotFound, "unknown path")

// refuse returns a handler that answers every request with err.
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
		return netip.IPv4Unspecified() // not a network connection, but a request of a test
	}
	if len(s.config.TrustedProxies) == 0 {
		return peer.Addr().Unmap().WithZone("")
	}
	return auth.ClientAddr(peer.Addr(), r.Header.Values("X-Forwarded-For"), s.config.TrustedProxies)
}

// Run listens and serves until ctx ends, then lets requests in flight finish. It calls
// ready with the address once it accepts connections.
func (s *Server) Run(ctx context.Context, ready func(net.Addr)) error {
	srv := &http.Server{
		Handler:           s.handler,
		ReadHeaderTimeout: headerTimeout,
		ReadTimeout:       headerTimeout + bodyTimeout, // also for bodies that no handler reads
		IdleTimeout:       idleTimeout,
		WriteTimeout:      writeTimeout,
		MaxHeaderBytes:    maxHeaderBytes,
		HTTP2:             &http.HTTP2Config{MaxConcurrentStreams: maxStreams, MaxReceiveBufferPerConnection: streamBuffer, MaxReceiveBufferPerStream: streamBuffer, WriteByteTimeout: unwritten},
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
	s.reportLog("the start", s.logStart())
	abandoned := s.jobs.abandoned()
	if err := s.sender.confirmAfterRestore(); err != nil {
		return errors.Join(fmt.Errorf("prepare webhooks: %w", err), listener.Close())
	}
	var wg sync.WaitGroup
	tidy, stopTidying := context.WithCancel(context.Background())
	wg.Go(func() {
		s.auth.Run(tidy, func(err error) { s.log.Error().Err(err).Msg("maintaining sessions and the sign-in log failed") })
	})
	wg.Go(func() { timed.watch(tidy) })
	wg.Go(func() { s.keepFiles(tidy) })
	wg.Go(func() { s.jobs.keep(tidy, abandoned) })
	wg.Go(func() { s.monitor.Run(tidy) })
	wg.Go(func() { s.failures.run(tidy, s.log) })
	wg.Go(func() { s.keepChangeLog(tidy) })
	wg.Go(func() { s.keepErasures(tidy) })
	wg.Go(func() { s.keepCompleted(tidy) })
	wg.Go(func() { s.streams.run(tidy) })
	wg.Go(func() { s.sender.run(tidy) })
	wg.Go(func() { s.outbox.run(tidy) })
	wg.Go(func() { s.fields.run(tidy) })
	served := make(chan error, 1)
	wg.Go(func() { served <- srv.Serve(listener) })
	ready(listener.Addr())
	select {
	case err = <-served:
	case <-ctx.Done():
		s.streams.end()
		timed.stopping.Store(true)
		err = s.shutdown(srv)
	}
	stopTidying()
	wg.Wait()
	if errors.Is(err, http.ErrServerClosed) {
		err = nil
	}
	return err
}

// emptyEvery is the interval of checks for files to remove from the trash.
const emptyEvery = time.Hour

// keepFiles logs the warnings from opening the files database, and empties the trash
// periodically.
func (s *Server) keepFiles(ctx context.Context) {
	warnings, err := s.db.FilesOpened()
	for _, warning := range warnings {
		s.log.Warn().Msg(warning)
	}
	if err != nil {
		s.log.Error().Err(err).Msg("the files database is unavailable")
		return
	}
	tick := time.NewTicker(emptyEvery)
	defer tick.Stop()
	for {
		if _, err := store.EmptyTrash(s.db); err != nil {
			s.log.Error().Err(err).Msg("emptying the trash failed")
		}
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

// PlainBeyondLoopback reports whether passwords would cross a network unencrypted.
func (c *Config) PlainBeyondLoopback() bool {
	host, _, err := net.SplitHostPort(c.Listen)
	if err != nil || c.TLSCert != "" || host == "localhost" {
		return false
	}
	addr, err := netip.ParseAddr(host)
	return err != nil || !addr.IsLoopback()
}

// httpLog returns a logger for net/http, which mostly reports broken connections.
func httpLog(l zerolog.Logger) *log.Logger { return log.New(lineWriter{l}, "", 0) }

type lineWriter struct{ log zerolog.Logger }

func (w lineWriter) Write(b []byte) (int, error) {
	w.log.Debug().Msg(strings.TrimSpace(string(b)))
	return len(b), nil
}
