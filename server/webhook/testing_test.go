package webhook

import (
	"bufio"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"
	"time"

	"reeve/server/outgoing"
	"reeve/store/errs"
)

// Parts of a receiver's URL that no Result may contain, and that receivers repeat.
const (
	hiddenPath  = "/services/T0001/path-canary"
	hiddenQuery = "token=query-canary&x=%2Fodd-canary"
)

var testMessage = &Message{
	ID:   "msg_1",
	Type: "user.created",
	Body: []byte(`{"type":"user.created","data":{"id":7}}`),
}

// shortLimits are for tests in which a limit must be reached.
var shortLimits = limits{total: 2 * time.Second, connect: time.Second, header: time.Second}

// testClient returns a Client with the limits of production that is allowed to connect
// to some destinations.
func testClient(t *testing.T, allow ...string) *Client {
	t.Helper()
	return testClientWith(t, nil, defaultLimits, allow...)
}

func testClientWith(t *testing.T, roots *x509.CertPool, limits limits, allow ...string) *Client {
	t.Helper()
	c := newClient(allowing(t, allow...), "test", &tls.Config{RootCAs: roots}, &net.Dialer{},
		limits)
	t.Cleanup(c.Close)
	return c
}

// rawServer accepts connections on loopback and gives each to serve once the head of
// its request has been read. It returns its URL, with a path and query to hide.
func rawServer(t *testing.T, serve func(conn net.Conn)) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan struct{})
	t.Cleanup(func() {
		stop()
		l.Close()
		<-ended
	})
	go func() {
		defer close(ended)
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			context.AfterFunc(ctx, func() { conn.Close() })
			go func() {
				defer conn.Close()
				if _, err := http.ReadRequest(bufio.NewReader(conn)); err == nil {
					serve(conn)
				}
			}()
		}
	}()

	return "http://" + l.Addr().String() + hiddenPath + "?" + hiddenQuery
}

// testServer starts an HTTP server and returns its URL, with a path and query to hide.
func testServer(t *testing.T, serve http.HandlerFunc) string {
	t.Helper()
	s := httptest.NewServer(serve)
	t.Cleanup(s.Close)
	return s.URL + hiddenPath + "?" + hiddenQuery
}

// counted starts an HTTP server that must not be asked, and returns how often it was
// connected to.
func counted(t *testing.T) (url string, connections *atomic.Int64) {
	t.Helper()
	connections = new(atomic.Int64)
	s := httptest.NewUnstartedServer(http.NotFoundHandler())
	s.Config.ConnState = func(_ net.Conn, state http.ConnState) {
		if state == http.StateNew {
			connections.Add(1)
		}
	}
	s.Start()
	t.Cleanup(s.Close)
	return s.URL, connections
}

// certificate makes a certificate and a pool that trusts it.
func certificate(t *testing.T, from, to time.Time, addresses []net.IP,
	names ...string) (tls.Certificate, *x509.CertPool) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	must(t, err)
	template := &x509.Certificate{
		SerialNumber:          big.NewInt(1),
		Subject:               pkix.Name{CommonName: "test"},
		NotBefore:             from,
		NotAfter:              to,
		DNSNames:              names,
		IPAddresses:           addresses,
		KeyUsage:              x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign,
		ExtKeyUsage:           []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
		BasicConstraintsValid: true,
		IsCA:                  true,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	must(t, err)
	leaf, err := x509.ParseCertificate(der)
	must(t, err)
	pool := x509.NewCertPool()
	pool.AddCert(leaf)
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key, Leaf: leaf}, pool
}

// validCertificate is one for 127.0.0.1 that is valid now.
func validCertificate(t *testing.T) (tls.Certificate, *x509.CertPool) {
	t.Helper()
	return certificate(t, time.Now().Add(-time.Hour), time.Now().Add(time.Hour),
		[]net.IP{net.IPv4(127, 0, 0, 1)})
}

// tlsServer starts an HTTPS server and returns its URL, with a path and query to hide.
func tlsServer(t *testing.T, config *tls.Config, serve http.HandlerFunc) string {
	t.Helper()
	s := httptest.NewUnstartedServer(serve)
	s.TLS, s.EnableHTTP2 = config, true
	s.Config.ErrorLog = quiet(t)
	s.StartTLS()
	t.Cleanup(s.Close)
	return s.URL + hiddenPath + "?" + hiddenQuery
}

// failed sends a message that must fail with a code, and without a response.
func failed(t *testing.T, c *Client, url, code string) errs.Message {
	t.Helper()
	r := sent(t, c, url)
	if r.Fault.Code() != code || r.Status != 0 {
		t.Errorf("%q (%s), status %d, want %s", r.Fault, r.Fault.Code(), r.Status, code)
	}
	return r.Fault
}

func allowing(t testing.TB, texts ...string) outgoing.Allow {
	t.Helper()
	allow, err := outgoing.ParseAllow("webhooks.allow", texts)
	must(t, err)
	return allow
}
