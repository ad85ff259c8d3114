package mail

import (
	"context"
	"crypto/tls"
	"net"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/wneessen/go-mail/smtp"
)

// limits bounds how long a server is waited for.
type limits struct {
	command time.Duration // timeout of the connection, of the TLS handshake, and of each command
	accept  time.Duration // timeout of the answer to a message, while servers look for spam
	quit    time.Duration // timeout of the answer to QUIT
}

// programLimits are the limits in the program. RFC 5321 section 4.5.3.2 recommends minutes,
// which would let one bad server hold up all others. Only the answer to a message is given
// more time: a message that was accepted after that is sent again, and arrives twice.
var programLimits = limits{command: 15 * time.Second, accept: time.Minute, quit: 2 * time.Second}

// maxAnswer is the limit of the bytes that are read for one command, TLS handshakes included.
const maxAnswer = 64 << 10

// link is a connection to a server, below TLS.
type link struct {
	net.Conn
	left int   // bytes that may still be read for this command
	err  error // why nothing more can be read; nil while it can
}

func (l *link) Read(b []byte) (int, error) {
	if l.left <= 0 {
		l.err = errTooLong
		return 0, l.err
	}
	n, err := l.Conn.Read(b[:min(len(b), l.left)])
	l.left -= n
	if err != nil {
		l.err = err
	}
	return n, err
}

// next starts a command, which may take until limit.
func (l *link) next(limit time.Duration) {
	l.left = maxAnswer
	// If this fails, the connection is closed, which the command reports.
	_ = l.SetDeadline(time.Now().Add(limit))
}

// Client is a connection to a server. If the connection is lost, the next Send connects
// again. A Client must not be used by several goroutines at a time.
type Client struct {
	server Server
	limits limits
	link   *link
	smtp   *smtp.Client // nil while not connected
	closed bool
}

// Dial connects, negotiates TLS and authenticates. It returns when ctx ends, and after at
// most 15 s for each command. An error is a *Fault. The caller closes the Client.
func Dial(ctx context.Context, s Server) (*Client, error) {
	return dial(ctx, s, programLimits)
}

func dial(ctx context.Context, s Server, l limits) (*Client, error) {
	c := &Client{server: s, limits: l}
	if f := c.connect(ctx); f != nil {
		return nil, f
	}
	return c, nil
}

// connect opens the connection, or leaves it closed.
func (c *Client) connect(ctx context.Context) *Fault {
	s := &c.server
	switch {
	case !slices.Contains([]string{TLSRequired, TLSImplicit, NoTLS}, s.Security):
		return unusable(StageTLS, "unknown security "+strconv.Quote(oneLine(s.Security)))
	case s.Security == NoTLS && s.Username != "" && !isLoopback(s.Host):
		return unusable(StageAuth, "passwords are not sent in clear text; use TLS")
	}

	dialer := net.Dialer{Timeout: c.limits.command}
	conn, err := dialer.DialContext(ctx, "tcp", net.JoinHostPort(s.Host, strconv.Itoa(s.Port)))
	if err != nil {
		return c.fault(ctx, StageConnect, err)
	}

	stop := context.AfterFunc(ctx, func() { conn.Close() })
	defer stop()
	c.link = &link{Conn: conn}
	if f := c.greet(ctx); f != nil {
		c.disconnect()
		return f
	}

	return nil
}

// disconnect closes the connection without a command.
func (c *Client) disconnect() {
	if c.link != nil {
		c.link.Close() // nothing is left to be sent
	}
	c.link, c.smtp = nil, nil
}

// greet runs everything from the first byte to authentication.
func (c *Client) greet(ctx context.Context) *Fault {
	s := &c.server
	config := &tls.Config{ServerName: s.Host, RootCAs: s.Roots, MinVersion: tls.VersionTLS12}
	var conn net.Conn = c.link
	if s.Security == TLSImplicit {
		secure := tls.Client(c.link, config)
		c.link.next(c.limits.command)
		if err := secure.HandshakeContext(ctx); err != nil {
			return c.fault(ctx, StageTLS, err)
		}
		conn = secure
	}

	c.link.next(c.limits.command)
	client, err := smtp.NewClient(conn, s.Host)
	if err != nil {
		return c.fault(ctx, StageConnect, err)
	}

	c.smtp = client
	c.link.next(c.limits.command)
	if err := client.Hello(helloName()); err != nil {
		return c.fault(ctx, StageConnect, err)
	}
	if s.Security == TLSRequired {
		if offered, _ := client.Extension("STARTTLS"); !offered {
			return unusable(StageTLS, "the server does not offer STARTTLS")
		}
		c.link.next(c.limits.command)
		if err := client.StartTLS(config); err != nil {
			return c.fault(ctx, StageTLS, err)
		}
	}

	return c.authenticate(ctx)
}

// authenticate signs in with PLAIN or LOGIN, if there is a username.
func (c *Client) authenticate(ctx context.Context) *Fault {
	s := &c.server
	if s.Username == "" {
		return nil
	}

	clear := s.Security == NoTLS // and a loopback address, see connect
	var auth smtp.Auth
	_, offered := c.smtp.Extension("AUTH")
	switch mechanisms := strings.Fields(strings.ToUpper(offered)); {
	case slices.Contains(mechanisms, "PLAIN"):
		auth = smtp.PlainAuth("", s.Username, s.Password, s.Host, clear)
	case slices.Contains(mechanisms, "LOGIN"):
		auth = smtp.LoginAuth(s.Username, s.Password, s.Host, clear)
	default:
		return unusable(StageAuth,
			s.conceal("the server offers neither AUTH PLAIN nor AUTH LOGIN: "+strconv.Quote(offered)))
	}

	c.link.next(c.limits.command)
	if err := c.smtp.Auth(auth); err != nil {
		return c.fault(ctx, StageAuth, err)
	}

	return nil
}

// helloName returns the name of this machine for EHLO.
func helloName() string {
	name, err := os.Hostname()
	if err != nil || len(name) > maxAddress || !isASCII(name) || !isDomain(name) {
		return "localhost"
	}
	return name
}
