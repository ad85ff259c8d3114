// Package web is the framework of Reeve's HTTP API. A Route is a value: method, path, access,
// title and handler. Routing, authorization, decoding of input, lists, the change log's origin,
// errors, idempotency, limits, metrics and monitoring follow from the table of routes. The
// package knows no resource.
//
// A request passes request.go (authentication and authorization), decode.go (input), the
// handler in its feature's package, and envelope.go (the response). Start with Route and
// Request. New builds a Server, Mount gives it the table, and Listen serves.
//
// Invariants: a write is authorized again inside its transaction. An error that is not an
// errs.Error is logged, and its text is never sent. Whatever a client can make the server hold
// is counted by a Limit.
package web

import (
	"cmp"
	"crypto/rand"
	"encoding/hex"
	"io/fs"
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
	"reeve/server/failure"
	"reeve/server/limit"
	"reeve/server/listen"
	"reeve/server/live"
	"reeve/server/monitor"
	"reeve/server/outgoing"
	"reeve/store"
	"reeve/store/errs"
)

// Config is the configuration of a Server.
type Config struct {
	Listen         string       // host:port
	Socket         net.Listener // listened on in place of Listen; nil for none
	TLSCert        string       // paths of PEM files; both or neither
	TLSKey         string
	BasePath       string   // path below which a proxy serves this server, like /admin-tool; "" for the root of its host
	PublicURL      string   // URL at which people reach this server, like https://reeve.example.org, with BasePath; "" if unknown
	AllowedHosts   []string // host names to answer to besides that of PublicURL
	TrustedProxies []netip.Prefix
	MaxConnections int           // 0 for as many as the limit of file descriptors allows
	Drain          time.Duration // time in which a stopping server still accepts requests
	StopTimeout    time.Duration // time that requests in flight get to finish; 20 s if it is 0
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
	Root             bool           // whether the program runs as root outside a container
	PrivateFiles     []string       // paths of configuration files that other users of the machine must not be able to read
	MetricsToken     string         // bearer token of GET /metrics; "" turns the endpoint off
	Forward          Forward        // forward authentication; without origins there is none
	WebhookAllow     outgoing.Allow // destinations of webhooks beyond the Internet
	ProviderAllow    outgoing.Allow // sign-in providers beyond the Internet
	Effective        []ConfigValue  // configuration for display, secrets masked
	Cluster          Cluster        // this server as one of several; nil for the only one
}

// Timeouts and limits of HTTP connections.
const (
	headerTimeout  = 5 * time.Second
	idleTimeout    = 60 * time.Second
	WriteTimeout   = 60 * time.Second // from the end of the header to the end of the response; streams set their own
	maxHeaderBytes = 64 << 10
	unwritten      = 20 * time.Second // until a connection is closed whose client reads nothing
	stopTimeout    = 20 * time.Second // default of Config.StopTimeout
	drainStep      = 10 * time.Millisecond
	probeTime      = time.Minute // in which every load balancer asks again
	streamBuffer   = 256 << 10   // bytes that an HTTP/2 connection buffers for requests that do not read
)

// Server has the parts that all features of a server share.
type Server struct {
	Config   Config
	DB       *store.DB
	Auth     *auth.Auth
	Log      zerolog.Logger
	handler  http.Handler
	draining atomic.Bool
	probed   atomic.Int64 // Unix time in nanoseconds of the last question whether it is ready; 0 for never
	current  atomic.Pointer[current]

	reloading sync.Mutex // held while current is replaced

	FailPage func(req *Request, e *errs.Error, code int) bool // sends an error as a page, if the client wants one
	Hides    func(path string) bool                           // reports whether a setting hides a path
	Failures failure.Log
	Limits   *limits
	running  live.Table[Request]
	origins  *http.CrossOriginProtection // check of requests with a session cookie
	Suspects Suspects
	Denials  denials
	decoding chan struct{} // semaphore for decoding large bodies
	making   chan struct{} // semaphore for making large responses
	Grace    time.Duration // grace period of slow transfers: limit.PaceTime, except in tests
	Monitor  *monitor.Monitor
	Routes   []Route
	Metrics  metrics
	Started  time.Time
	Cookies  CookieMarks
	idHead   string // random first half of every request ID
	idTail   atomic.Uint64
	nodeName []string // value of the header with the name of this node; nil for a server that is the only one
}

func (s *Server) Router(all []Route, files ...func(*httprouter.Router)) *httprouter.Router {
	router := httprouter.New()
	router.RedirectTrailingSlash = false
	router.RedirectFixedPath = false
	router.HandleOPTIONS = false
	for i := range all {
		handle := s.serve(&all[i])
		if serve := handle; all[i].Access == MetricsToken {
			handle = func(w http.ResponseWriter, r *http.Request, params httprouter.Params) {
				if s.Now().MetricsToken == "" { // like an unknown path
					router.NotFound.ServeHTTP(w, r)
					return
				}
				serve(w, r, params)
			}
		}
		router.Handle(all[i].Method, all[i].Path, handle)
		if all[i].Method == http.MethodGet {
			router.Handle(http.MethodHead, all[i].Path, handle)
		}
	}

	router.NotFound = s.keysWithSlashes(all, s.refuse(errUnknownPath))
	badMethod := s.refuse(errs.New(errs.BadMethod,
		"this path does not support this method; see the Allow header"))
	router.MethodNotAllowed = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if s.Hides(r.URL.Path) || r.URL.Path == metricsPath && s.Now().MetricsToken == "" {
			w.Header().Del("Allow")
			router.NotFound.ServeHTTP(w, r)
			return
		}
		// httprouter adds OPTIONS, which no route handles.
		takes := slices.DeleteFunc(strings.Split(w.Header().Get("Allow"), ", "),
			func(m string) bool {
				return m == http.MethodOptions
			})
		w.Header().Set("Allow", strings.Join(takes, ", "))
		badMethod.ServeHTTP(w, r)
	})

	for _, add := range files {
		add(router)
	}

	return router
}

// keysWithSlashes serves the routes of protocols whose path ends with a key, also for keys that
// contain an encoded slash, which the router takes for another path. Their clients understand no
// other answer than the protocol's.
func (s *Server) keysWithSlashes(all []Route, unknown http.Handler) http.Handler {
	type keyed struct {
		rt           *Route
		prefix, name string
		handle       httprouter.Handle
	}
	var routes []keyed
	for i := range all {
		rt := &all[i]
		if at := strings.LastIndexByte(rt.Path, '/') + 1; rt.Protocol != nil && !rt.Protocol.Form &&
			strings.HasPrefix(rt.Path[at:], ":") {
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
	stats := s.Metrics.Of(nil)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		req := s.NewRequest(w, r)
		defer s.record(stats, req, err)
		s.Fail(req, err)
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
	proxies := s.Now().TrustedProxies
	if len(proxies) == 0 {
		return peer.Addr().Unmap().WithZone("")
	}
	return auth.ClientAddr(peer.Addr(), r.Header.Values("X-Forwarded-For"), proxies)
}

// PlainBeyondLoopback reports whether passwords would cross a network unencrypted: there is neither a
// certificate nor a trusted proxy on another host in front of an HTTPS URL.
func (c *Config) PlainBeyondLoopback() bool {
	host, _, err := net.SplitHostPort(c.Listen)
	proxied := strings.HasPrefix(c.PublicURL, "https://") && slices.ContainsFunc(c.TrustedProxies, func(n netip.Prefix) bool {
		return !n.Addr().IsLoopback()
	})
	if err != nil || c.TLSCert != "" || proxied || host == "localhost" {
		return false
	}
	addr, err := netip.ParseAddr(host)
	return err != nil || !addr.IsLoopback()
}

// WideProxies returns the trusted networks that are larger than any private one: clients in them can
// claim any address in X-Forwarded-For.
func (c *Config) WideProxies() (wide []string) {
	for _, n := range c.TrustedProxies {
		if n.Addr().Is4() && n.Bits() < 8 || n.Addr().Is6() && n.Bits() < 7 {
			wide = append(wide, n.String())
		}
	}
	return wide
}

// Forward configures forward authentication.
type Forward struct {
	URL     string   // public URL of this server, like https://reeve.example.org
	Origins []string // origins of the programs, like https://app.example.org

	CrossOrigin []string // those of Origins whose programs accept changes from pages of other origins
}

// ConfigValue is one key of the effective configuration. The caller masks secret
// values.
type ConfigValue struct {
	Key    string `json:"key"`
	Value  string `json:"value" doc:"Effective value; secrets are masked"`
	Source string `json:"source" doc:"Source of the value: default, file, environment or flag"`
}

func New(config Config, db *store.DB, a *auth.Auth, log zerolog.Logger) (*Server, error) {
	var head [6]byte
	rand.Read(head[:]) // never fails: crypto/rand ends the program instead
	connections, err := listen.MaxConnections(config.MaxConnections)
	if err != nil {
		return nil, err
	}

	config.StopTimeout = cmp.Or(config.StopTimeout, stopTimeout)
	s := &Server{
		Config:   config,
		DB:       db,
		Auth:     a,
		Log:      log,
		Limits:   newLimits(connections),
		Grace:    limit.PaceTime,
		Started:  time.Now(),
		idHead:   hex.EncodeToString(head[:]),
		decoding: make(chan struct{}, max(1, runtime.NumCPU()-1)), // leaves one core to other requests, if there are two
		making:   make(chan struct{}, runtime.NumCPU()),
		Monitor:  monitor.New(config.Monitor, config.RedisTargets, db, log),
	}
	if err := s.Reload(config); err != nil {
		return nil, err
	}
	if s.Cookies, err = NewCookieMarks(db); err != nil {
		return nil, err
	}
	if s.origins, err = trustedOrigins(config.PublicURL, config.Forward.URL); err != nil {
		return nil, err
	}

	if name := s.NodeName(); name != "" {
		s.nodeName = []string{name}
	}
	s.Monitor.Gauges(s.Metrics.Gauge)
	s.Metrics.Counter("reeve_monitor_dropped_total",
		"Requests whose events were dropped because the queue was full.", s.Monitor.Dropped)
	db.OnSlowWrite(s.slowWrite)
	db.OnDiskFull(s.Monitor.GiveWay)
	db.OnDamage(func(text string) { s.Log.Error().Msg(text) })
	return s, nil
}

// Mount makes the handler of a table of routes. files add the paths of compiled-in files.
func (s *Server) Mount(all []Route, files ...func(*httprouter.Router)) error {
	if err := CheckRoutes(all); err != nil {
		return err
	}
	s.Routes = all
	s.handler = s.belowBase(s.Headers(s.checkHost(s.Cors(s.boundStreams(s.Router(all, files...))))))
	return nil
}

// Handler returns the whole API and the console as an http.Handler.
func (s *Server) Handler() http.Handler { return s.handler }

// balanced reports whether connections can come from a load balancer that does not know yet that the
// server stops: one that has asked recently whether it is ready. A socket that the supervisor holds
// keeps connections for the next start.
func (s *Server) balanced() bool {
	return s.Config.Socket == nil && time.Since(time.Unix(0, s.probed.Load())) < probeTime
}

// Probed records that a client has asked whether the server is ready.
func (s *Server) Probed() { s.probed.Store(time.Now().UnixNano()) }

// ReportLog logs that the change log could not be written, unless the server is only busy.
func (s *Server) ReportLog(what string, err error) {
	if err != nil && !errs.Is(err, errs.Busy) {
		s.Log.Error().Err(err).Msg(what + " could not be added to the change log")
	}
}
