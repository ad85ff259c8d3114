package directory

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"log"
	"net"
	"net/url"
	"sync"
	"time"

	"github.com/go-ldap/ldap/v3"

	"reeve/server/outgoing"
	"reeve/store/errs"
)

const (
	timeLimit    = 10 * time.Second // of one sign-in
	connectLimit = 3 * time.Second  // for each server
	maxReceived  = 2 << 20          // bytes that a directory may send in one sign-in
	downLife     = 30 * time.Second // for which a server that can't be reached is tried last
)

func init() { ldap.Logger(log.New(io.Discard, "", 0)) } // errors are returned, too

// Client asks directories. It is safe for concurrent use.
type Client struct {
	secure, plain outgoing.Dial
	slots         outgoing.Slots // limit for each directory, by its servers

	mu   sync.Mutex
	down map[string]time.Time // time until which a server is tried last
}

// NewClient returns a Client that connects to servers on the Internet and to those that are allowed.
func NewClient(allow outgoing.Allow) *Client {
	dialer := net.Dialer{Timeout: connectLimit}
	return &Client{
		secure: allow.Dialer(dialer, false),
		plain:  allow.Dialer(dialer, true),
		down:   map[string]time.Time{},
	}
}

// conn is a connection to a server of a directory.
type conn struct {
	*ldap.Conn
	server string
	stop   func() bool
}

// Close closes the connection.
func (c *conn) Close() {
	c.stop()
	_ = c.Conn.Close() // nothing is sent any more
}

// connect returns a connection to the first server that can be reached. Those that could not be reached
// shortly before come last.
func (c *Client) connect(ctx context.Context, config *Config) (found *conn, err error) {
	roots, err := authorities(config.Certificates)
	if err != nil {
		return nil, err
	}
	for _, server := range c.order(config.Servers) {
		if found, err = c.dial(ctx, server, config, roots); err == nil || ctx.Err() != nil {
			break
		}
		c.mark(server)
	}
	return found, err
}

// order returns servers without those that are down, and then these.
func (c *Client) order(servers []string) (list []string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	now := time.Now()
	for _, down := range []bool{false, true} {
		for _, server := range servers {
			if now.Before(c.down[server]) == down {
				list = append(list, server)
			}
		}
	}
	return list
}

// mark has a server tried last for a while.
func (c *Client) mark(server string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	now := time.Now()
	for other, until := range c.down {
		if now.After(until) {
			delete(c.down, other)
		}
	}
	c.down[server] = now.Add(downLife)
}

func (c *Client) dial(ctx context.Context, server string, config *Config, roots *x509.CertPool) (*conn, error) {
	u, err := url.Parse(server)
	if err != nil {
		return nil, unreachable(server)
	}
	secure, port := u.Scheme == "ldaps", u.Port()
	if port == "" {
		port = map[bool]string{true: "636", false: "389"}[secure]
	}
	dial := c.secure
	if bool(config.Plain) && !secure {
		dial = c.plain
	}
	raw, err := dial(ctx, "tcp", net.JoinHostPort(u.Hostname(), port))
	if err != nil {
		return nil, connectFault(ctx, server, err)
	}
	deadline, _ := ctx.Deadline()
	deadline = deadline.Add(time.Second)
	_ = raw.SetDeadline(deadline) // ctx ends it before; fails only if it is closed
	limited := &limitedConn{Conn: raw, left: maxReceived}
	stop := context.AfterFunc(ctx, func() { _ = raw.Close() })

	settings := &tls.Config{MinVersion: tls.VersionTLS12, ServerName: u.Hostname(), RootCAs: roots}
	var stream net.Conn = limited
	if secure {
		shaken := tls.Client(limited, settings)
		if err := shaken.HandshakeContext(ctx); err != nil {
			stop()
			_ = raw.Close()
			return nil, tlsFault(ctx, server, err)
		}
		stream = shaken
	}
	l := ldap.NewConn(stream, secure)
	l.SetTimeout(time.Until(deadline))
	l.Start()
	out := &conn{l, server, stop}
	if !secure && !bool(config.Plain) {
		if err := l.StartTLS(settings); err != nil {
			out.Close()
			return nil, tlsFault(ctx, server, err)
		}
	}
	return out, nil
}

// authorities returns the authorities of the system and those in PEM; nil for those of the system.
func authorities(pem string) (*x509.CertPool, error) {
	if pem == "" {
		return nil, nil
	}
	roots, err := x509.SystemCertPool()
	if err != nil {
		roots = x509.NewCertPool()
	}
	if !roots.AppendCertsFromPEM([]byte(pem)) {
		return nil, errs.New(errs.Denied, "the certificates of the directory can't be read").Coded("directory_certificates")
	}
	return roots, nil
}

var errTooMuch = errors.New("the directory sends too much")

// limitedConn is a connection that ends after some bytes were received.
type limitedConn struct {
	net.Conn
	left int
}

func (l *limitedConn) Read(p []byte) (int, error) {
	if l.left <= 0 {
		return 0, errTooMuch
	}
	n, err := l.Conn.Read(p[:min(len(p), l.left)])
	l.left -= n
	return n, err
}
