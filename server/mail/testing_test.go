package mail

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"errors"
	"io"
	"log"
	"math/big"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/emersion/go-sasl"
	"github.com/emersion/go-smtp"
)

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// secret is the password in every test. No Fault may contain it.
const secret = "password-canary-äöü"

// testMessage is an ordinary message.
func testMessage() *Message {
	return &Message{
		To:      "ada@example.org",
		ToName:  "Ada Lovelace",
		Subject: "Grüße",
		ID:      "1f6b2c@reeve.example.org",
		Text:    "Grüße\n\n.\nhttps://example.org/?a=b&c=d\n",
		HTML:    "<p>Grüße</p>\n",
	}
}

// received is one message at a server.
type received struct {
	from, to string
	utf8     bool // MAIL FROM had SMTPUTF8
	data     string
}

// server is an SMTP server. Its fields are set before start.
type server struct {
	t          *testing.T
	mechanisms []string
	options    func(*smtp.Server)
	reject     func(stage, address string) error // called for every command; nil for none

	mu          sync.Mutex
	messages    []received
	connections int
	wire        strings.Builder // what was sent in both directions, without TLS
}

// counted is a listener that counts the connections of a server.
type counted struct {
	net.Listener
	server *server
}

func (c counted) Accept() (net.Conn, error) {
	conn, err := c.Listener.Accept()
	if err == nil {
		c.server.mu.Lock()
		c.server.connections++
		c.server.mu.Unlock()
	}
	return conn, err
}

// start starts the server on loopback, and returns how to reach it.
func (s *server) start(t *testing.T, security string) Server {
	t.Helper()
	s.t = t
	l, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	l = counted{l, s}
	to := Server{
		Host:     "127.0.0.1",
		Port:     l.Addr().(*net.TCPAddr).Port,
		Security: security,
		From:     "reeve@example.org",
		Name:     "Reeve",
	}

	certificate, roots := testCertificate(t)
	backend := smtp.NewServer(s)
	backend.ErrorLog = log.New(io.Discard, "", 0)
	backend.Domain = "mx.example.org"
	backend.Debug = s
	backend.AllowInsecureAuth = security == NoTLS
	if security != NoTLS {
		backend.TLSConfig = &tls.Config{Certificates: []tls.Certificate{certificate}}
		to.Roots = roots
	}
	if s.options != nil {
		s.options(backend)
	}
	if security == TLSImplicit {
		l = tls.NewListener(l, backend.TLSConfig)
	}

	ended := make(chan struct{})
	go func() {
		defer close(ended)
		// It ends with an error when it is closed.
		_ = backend.Serve(l)
	}()

	t.Cleanup(func() {
		backend.Close()
		l.Close() // if Serve has not begun, Close does not know the listener
		<-ended
	})
	if len(s.mechanisms) > 0 {
		to.Username, to.Password = "reeve", secret
	}

	return to
}

// Write records what was sent in both directions.
func (s *server) Write(b []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.wire.Write(b)
}

func (s *server) sent() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.wire.String()
}

// got returns the messages, over how many connections.
func (s *server) got() ([]received, int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.messages, s.connections
}

func (s *server) rejected(stage, address string) error {
	if s.reject == nil {
		return nil
	}
	return s.reject(stage, address)
}

func (s *server) NewSession(*smtp.Conn) (smtp.Session, error) {
	if err := s.rejected(StageConnect, ""); err != nil {
		return nil, err
	}
	return &session{server: s}, nil
}

// session is one connection to a server.
type session struct {
	server   *server
	signedIn bool
	current  received
}

func (s *session) AuthMechanisms() []string { return s.server.mechanisms }

func (s *session) Auth(mechanism string) (sasl.Server, error) {
	check := func(username, password string) error {
		if err := s.server.rejected(StageAuth, username); err != nil {
			return err
		}
		if username != "reeve" || password != secret {
			return smtp.ErrAuthFailed
		}
		s.signedIn = true
		return nil
	}
	if mechanism == sasl.Plain {
		return sasl.NewPlainServer(func(_, username, password string) error {
			return check(username, password)
		}), nil
	}
	return &login{check: check}, nil
}

func (s *session) Mail(from string, options *smtp.MailOptions) error {
	if len(s.server.mechanisms) > 0 && !s.signedIn {
		return smtp.ErrAuthRequired
	}
	s.current = received{from: from, utf8: options.UTF8}
	return s.server.rejected(StageSender, from)
}

func (s *session) Rcpt(to string, _ *smtp.RcptOptions) error {
	s.current.to = to
	return s.server.rejected(StageRecipient, to)
}

func (s *session) Data(r io.Reader) error {
	b, err := io.ReadAll(r)
	if err != nil {
		return err
	}
	if err := s.server.rejected(StageData, s.current.to); err != nil {
		return err
	}
	s.current.data = string(b)
	s.server.mu.Lock()
	defer s.server.mu.Unlock()
	s.server.messages = append(s.server.messages, s.current)
	return nil
}

func (s *session) Reset()        {}
func (s *session) Logout() error { return nil }

// login is the server's part of AUTH LOGIN.
type login struct {
	check    func(username, password string) error
	username *string
	asked    bool
}

func (l *login) Next(response []byte) (challenge []byte, done bool, err error) {
	switch {
	case !l.asked:
		l.asked = true
		return []byte("Username:"), false, nil
	case l.username == nil:
		name := string(response)
		l.username = &name
		return []byte("Password:"), false, nil
	}
	return nil, true, l.check(*l.username, string(response))
}

// testCertificate returns a certificate for 127.0.0.1, and the authority that has signed it.
func testCertificate(t *testing.T) (tls.Certificate, *x509.CertPool) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	must(t, err)
	authority := &x509.Certificate{
		SerialNumber:          big.NewInt(1),
		Subject:               pkix.Name{CommonName: "authority"},
		IsCA:                  true,
		BasicConstraintsValid: true,
		NotBefore:             time.Now().Add(-time.Hour),
		NotAfter:              time.Now().Add(time.Hour),
		KeyUsage:              x509.KeyUsageCertSign,
	}
	leaf := &x509.Certificate{
		SerialNumber: big.NewInt(2),
		Subject:      pkix.Name{CommonName: "server"},
		IPAddresses:  []net.IP{net.IPv4(127, 0, 0, 1)},
		NotBefore:    authority.NotBefore,
		NotAfter:     authority.NotAfter,
		KeyUsage:     x509.KeyUsageDigitalSignature,
	}

	root, err := x509.CreateCertificate(rand.Reader, authority, authority, key.Public(), key)
	must(t, err)
	signed, err := x509.CreateCertificate(rand.Reader, leaf, authority, key.Public(), key)
	must(t, err)
	parsed, err := x509.ParseCertificate(root)
	must(t, err)
	roots := x509.NewCertPool()
	roots.AddCert(parsed)
	return tls.Certificate{Certificate: [][]byte{signed}, PrivateKey: key}, roots
}

// dialed connects with the limits of the program.
func dialed(t *testing.T, s Server) *Client {
	t.Helper()
	c, err := Dial(t.Context(), s)
	must(t, err)
	t.Cleanup(func() { c.Close() })
	return c
}

// faultOf returns the Fault that err is, which must not contain the password.
func faultOf(t *testing.T, err error) Fault {
	t.Helper()
	var f *Fault
	if !errors.As(err, &f) {
		t.Fatalf("got %v, want a Fault", err)
	}
	if strings.Contains(f.Error(), "canary") || len(f.Text) > maxText ||
		f.Text != oneLine(f.Text) ||
		f.Text == "" {
		t.Errorf("the text has %d bytes: %q", len(f.Text), f.Text)
	}
	return *f
}
