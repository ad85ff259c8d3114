package webhook

import (
	"crypto/tls"
	"net"
	"net/http"
	"time"

	"reeve/server/outgoing"
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
	allow  outgoing.Allow
	agent  string
	limits limits
	secure *http.Transport // https
	plain  *http.Transport // http, only to destinations that allow names
}

// NewClient returns a Client that names itself Reeve and the version to receivers.
// Close closes its idle connections.
func NewClient(allow outgoing.Allow, version string) *Client {
	return newClient(allow, version, &tls.Config{}, &net.Dialer{}, defaultLimits)
}

// newClient takes what tests replace: trusted certificates, the resolver, the limits.
func newClient(allow outgoing.Allow, version string, trust *tls.Config, dialer *net.Dialer,
	limits limits) *Client {
	trust.MinVersion = tls.VersionTLS12
	dialer.Timeout = limits.connect
	c := &Client{allow: allow, agent: "Reeve/" + version, limits: limits}
	c.secure = c.transport(trust, allow.Dialer(*dialer, false))
	c.plain = c.transport(trust, allow.Dialer(*dialer, true))
	return c
}

// Close closes idle connections.
func (c *Client) Close() {
	c.secure.CloseIdleConnections()
	c.plain.CloseIdleConnections()
}

// transport returns a Transport that ignores proxies of the environment: a proxy would
// connect to addresses that are not allowed.
func (c *Client) transport(trust *tls.Config, dial outgoing.Dial) *http.Transport {
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
