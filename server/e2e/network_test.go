package e2e

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// selfSigned creates a certificate for the loopback with its key, and a pool that trusts
// it.
func selfSigned(t *testing.T) (cert, key string, pool *x509.CertPool) {
	t.Helper()
	return certificateUntil(t, time.Now().Add(time.Hour))
}

// certificateUntil is selfSigned for a certificate that expires at a time.
func certificateUntil(t *testing.T, end time.Time) (cert, key string, pool *x509.CertPool) {
	t.Helper()
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}

	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "reeve"},
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
		NotBefore:   end.Add(-2 * time.Hour), NotAfter: end,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &private.PublicKey, private)
	if err != nil {
		t.Fatal(err)
	}

	secret, err := x509.MarshalPKCS8PrivateKey(private)
	if err != nil {
		t.Fatal(err)
	}

	dir := t.TempDir()
	cert, key, pool = filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem"), x509.NewCertPool()
	for path, block := range map[string]*pem.Block{
		cert: {Type: "CERTIFICATE", Bytes: der},
		key:  {Type: "PRIVATE KEY", Bytes: secret},
	} {
		if err := os.WriteFile(path, pem.EncodeToMemory(block), 0o600); err != nil {
			t.Fatal(err)
		}
	}

	pem, err := os.ReadFile(cert)
	if err != nil || !pool.AppendCertsFromPEM(pem) {
		t.Fatal("the certificate cannot be read back", err)
	}

	return cert, key, pool
}

func TestTLS(t *testing.T) {
	t.Parallel()
	cert, key, pool := selfSigned(t)
	p := start(t, t.TempDir(), "REEVE_SERVER__TLS_CERT="+cert, "REEVE_SERVER__TLS_KEY="+key)
	if !strings.HasPrefix(p.url, "https://127.0.0.1:") {
		t.Errorf("it serves %s", p.url)
	}

	for proto, next := range map[string][]string{"HTTP/1.1": {"http/1.1"}, "HTTP/2.0": {"h2"}} {
		t.Run(proto, func(t *testing.T) {
			transport := &http.Transport{
				TLSClientConfig:   &tls.Config{RootCAs: pool, NextProtos: next},
				ForceAttemptHTTP2: proto == "HTTP/2.0",
			}
			defer transport.CloseIdleConnections()
			c := newClient(t, p)
			c.http = &http.Client{Transport: transport, Timeout: time.Minute}
			c.signIn(password)
			c.want(200, "PUT", "/system/setting", values("site.title", proto))
			if got := c.title(); got != proto {
				t.Errorf("the title is %q", got)
			}

			resp, err := c.http.Get(p.url + "/health")
			if err != nil {
				t.Fatal(err)
			}

			resp.Body.Close()
			if resp.Proto != proto {
				t.Errorf("the answer came over %s", resp.Proto)
			}
		})
	}

	t.Run("older than 1.2 is refused", func(t *testing.T) {
		conn, err := tls.Dial("tcp", strings.TrimPrefix(p.url, "https://"), &tls.Config{
			RootCAs:    pool,
			MinVersion: tls.VersionTLS10,
			MaxVersion: tls.VersionTLS11,
		})
		if err == nil {
			conn.Close()
			t.Error("TLS 1.1 is spoken")
		}
	})
	t.Run("plain HTTP gets no answer of ours", func(t *testing.T) {
		resp, err := http.Get("http://" + strings.TrimPrefix(p.url, "https://") + "/health")
		if err == nil {
			resp.Body.Close()
			if resp.StatusCode != 400 {
				t.Errorf("%s", resp.Status)
			}
		}
	})
	p.stop()
}

func TestWarningOfPlainHTTP(t *testing.T) {
	t.Parallel()
	cert, key, _ := selfSigned(t)
	for name, tc := range map[string]struct {
		words []string
		warns bool
	}{
		"loopback":               {[]string{"--listen", "127.0.0.1:0"}, false},
		"loopback by name":       {[]string{"--listen", "localhost:0"}, false},
		"another loopback":       {[]string{"--listen", "127.9.9.9:0"}, false},
		"every interface":        {[]string{"--listen", "0.0.0.0:0"}, true},
		"every interface, short": {[]string{"--listen", ":0"}, true},
		"every interface, TLS": {[]string{"--listen", "0.0.0.0:0",
			"REEVE_SERVER__TLS_CERT=" + cert, "REEVE_SERVER__TLS_KEY=" + key}, false},
		"behind a TLS proxy": {[]string{"--listen", "0.0.0.0:0",
			"REEVE_SERVER__TRUSTED_PROXIES=10.77.0.0/24", "REEVE_SERVER__PUBLIC_URL=https://reeve.example.org"}, false},
		"a TLS proxy on this machine": {[]string{"--listen", "0.0.0.0:0",
			"REEVE_SERVER__TRUSTED_PROXIES=127.0.0.1", "REEVE_SERVER__PUBLIC_URL=https://reeve.example.org"}, true},
		"behind another proxy": {[]string{"--listen", "0.0.0.0:0",
			"REEVE_SERVER__TRUSTED_PROXIES=10.77.0.0/24", "REEVE_SERVER__PUBLIC_URL=http://reeve.example.org"}, true},
		"a URL without a proxy": {[]string{"--listen", "0.0.0.0:0",
			"REEVE_SERVER__PUBLIC_URL=https://reeve.example.org"}, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := start(t, t.TempDir(), tc.words...)
			p.stop()
			if got := strings.Contains(strings.Join(p.log.messages(t, "warn"), "\n"),
				"sent unencrypted"); got != tc.warns {
				t.Errorf("warned: %t\n%s", got, &p.log)
			}
		})
	}
}

func TestForwardedAddress_TrustedProxiesOnly(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct{ trusted, forwarded, want string }{
		"nobody is trusted":        {"", "203.0.113.7", "127.0.0.1"},
		"somebody else is trusted": {"10.0.0.0/8", "203.0.113.7", "127.0.0.1"},
		"the peer is trusted":      {"127.0.0.1", "203.0.113.7", "203.0.113.7"},
		"its network is trusted":   {"127.0.0.0/8", "203.0.113.7", "203.0.113.7"},
		"a chain, the last is ours": {"127.0.0.0/8,10.0.0.0/8", "203.0.113.7, 10.1.2.3",
			"203.0.113.7"},
		"a chain, the first is made": {"127.0.0.0/8", "198.51.100.1, 203.0.113.7", "203.0.113.7"},
		"nonsense":                   {"127.0.0.0/8", "nobody", "127.0.0.1"},
		"IPv6":                       {"127.0.0.0/8", "2001:db8::7", "2001:db8::7"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := start(t, t.TempDir(), "REEVE_SERVER__TRUSTED_PROXIES="+tc.trusted)
			c := newClient(t, p)
			c.extra["X-Forwarded-For"] = tc.forwarded
			c.signIn(password)
			info := into[struct {
				Info struct {
					LoginIP string `json:"login_ip"`
				}
			}](t, c.want(200, "GET", "/admin/info", ""))
			if info.Info.LoginIP != tc.want {
				t.Errorf("login_ip is %q, want %q", info.Info.LoginIP, tc.want)
			}
		})
	}
}

func TestCORS_ConfiguredOriginsOnly(t *testing.T) {
	t.Parallel()
	const ours, other = "https://app.example.org", "https://app.example.org.evil.example"
	for name, tc := range map[string]struct{ configured, origin, allowed string }{
		"nothing is configured": {"", ours, ""},
		"the configured one":    {"https://a.example," + ours, ours, ours},
		"another one":           {ours, other, ""},
		"the null origin":       {ours, "null", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := newClient(t, start(t, t.TempDir(), "REEVE_SERVER__CORS_ORIGINS="+tc.configured))
			c.extra["Origin"] = tc.origin
			plain := c.want(200, "GET", "/health", "")
			c.extra["Access-Control-Request-Method"] = "PUT"
			c.extra["Access-Control-Request-Headers"] = "authorization,content-type"
			flight := c.call("OPTIONS", "/system/setting", "")
			for what, a := range map[string]*answer{"an answer": plain, "a preflight": flight} {
				if got := a.header.Get("Access-Control-Allow-Origin"); got != tc.allowed {
					t.Errorf("%s allows %q, want %q", what, got, tc.allowed)
				}
				if a.header.Get("Access-Control-Allow-Credentials") != "" {
					t.Errorf("%s allows credentials", what)
				}
			}

			if tc.allowed != "" && (flight.status != 204 || len(flight.raw) != 0 ||
				!strings.Contains(flight.header.Get("Access-Control-Allow-Methods"), "PUT") ||
				!bytes.Contains(bytes.ToLower([]byte(flight.header.Get("Access-Control-Allow-Headers"))), []byte("authorization"))) {
				t.Errorf("the preflight answers %d %v", flight.status, flight.header)
			}
		})
	}
}
