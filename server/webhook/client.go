package webhook

import (
	"context"
	"crypto/tls"
	"net"
	"net/http"
	"net/netip"
	"syscall"
	"time"
)

// limits of one delivery. Tests use shorter ones.
type limits struct {
	total, connect, header time.Duration
}

var defaultLimits = limits{
	total:   15 * time.Second,
	connect: 5 * time.Second,
	header:  10 * time.Second,
}

const (
	maxHeader     = 16 << 10 // bytes of a response's header
	maxBody       = 64 << 10 // bytes that are read of a response's body
	idleTime      = 30 * time.Second
	idlePerServer = 1
	maxIdle       = 16
	headerTable   = 4 << 10
)

// Client sends messages. It is safe for concurrent use.
type Client struct {
	allow  Allow
	agent  string
	limits limits
	secure *http.Transport // https
	plain  *http.Transport // http, only to destinations that allow names
}

// NewClient returns a Client that names itself Reeve and the version to receivers.
// Close closes its idle connections.
func NewClient(allow Allow, version string) *Client {
	return newClient(allow, version, &tls.Config{}, &net.Dialer{}, defaultLimits)
}

// newClient takes what tests replace: trusted certificates, the resolver, the limits.
func newClient(allow Allow, version string, trust *tls.Config, dialer *net.Dialer,
	limits limits) *Client {
	trust.MinVersion = tls.VersionTLS12
	dialer.Timeout = limits.connect
	c := &Client{allow: allow, agent: "Reeve/" + version, limits: limits}
	c.secure = c.transport(trust, c.dial(*dialer, false))
	c.plain = c.transport(trust, c.dial(*dialer, true))
	return c
}

// Close closes idle connections.
func (c *Client) Close() {
	c.secure.CloseIdleConnections()
	c.plain.CloseIdleConnections()
}

type dialFunc = func(ctx context.Context, network, address string) (net.Conn, error)

// transport returns a Transport that ignores proxies of the environment: a proxy would
// connect to addresses that are not allowed.
func (c *Client) transport(trust *tls.Config, dial dialFunc) *http.Transport {
	return &http.Transport{
		DialContext:            dial,
		TLSClientConfig:        trust.Clone(),
		TLSHandshakeTimeout:    c.limits.connect,
		ResponseHeaderTimeout:  c.limits.header,
		MaxResponseHeaderBytes: maxHeader,
		IdleConnTimeout:        idleTime,
		MaxIdleConns:           maxIdle,
		MaxIdleConnsPerHost:    idlePerServer,
		DisableCompression:     true, // a small response may decompress to a huge one
		ForceAttemptHTTP2:      true, // DialContext turns it off otherwise
		HTTP2: &http.HTTP2Config{
			MaxReceiveBufferPerConnection: maxBody,
			MaxReceiveBufferPerStream:     maxBody,
			MaxDecoderHeaderTableSize:     headerTable,
			MaxEncoderHeaderTableSize:     headerTable,
		},
	}
}

// refusedError reports a destination that may not be connected to.
type refusedError struct {
	addr  netip.Addr
	plain bool // whether only plain http is refused
}

func (e *refusedError) Error() string { return e.addr.String() + " is not allowed" }

// dial returns a function that connects to allowed destinations. An address is checked
// after the name is resolved and before the connection is made, so that a name cannot
// resolve to another address in between.
func (c *Client) dial(dialer net.Dialer, plain bool) dialFunc {
	anywhere := dialer
	dialer.Control = func(_, address string, _ syscall.RawConn) error {
		at, err := netip.ParseAddrPort(address)
		if err != nil {
			return err
		}
		return c.check(at.Addr(), plain)
	}
	return func(ctx context.Context, network, address string) (net.Conn, error) {
		host, _, err := net.SplitHostPort(address)
		if err != nil {
			return nil, err
		}
		if c.allow.hasHost(host) {
			return anywhere.DialContext(ctx, network, address)
		}
		return dialer.DialContext(ctx, network, address)
	}
}

// check returns an error if an address may not be connected to, by plain http or at all.
func (c *Client) check(addr netip.Addr, plain bool) error {
	switch {
	case c.allow.has(addr):
		return nil
	case !isPublic(addr):
		return &refusedError{addr: addr.Unmap()}
	case plain:
		return &refusedError{addr: addr.Unmap(), plain: true}
	}
	return nil
}
