package s3_test

import (
	"bytes"
	"context"
	"encoding/pem"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"reeve/store/disk/disktest"
	"reeve/store/s3"
	"reeve/store/s3/s3test"
)

// passing is a server that passes requests on, and flips a bit of the content of each PUT if Flip is set.
type passing struct {
	*httputil.ReverseProxy
	flip atomic.Bool
	seen atomic.Value // host of the last request
}

func newPassing(t *testing.T, to string) *passing {
	t.Helper()
	u, err := url.Parse(to)
	if err != nil {
		t.Fatal(err)
	}
	return &passing{ReverseProxy: &httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) {
		r.SetURL(u)
		r.Out.Host = r.In.Host // which is signed
	}}}
}

func (p *passing) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	p.seen.Store(r.Host + r.URL.Path)
	if r.Method == "PUT" && p.flip.Load() {
		r.Body = &flipped{ReadCloser: r.Body, at: 4000}
	}
	p.ReverseProxy.ServeHTTP(w, r)
}

// flipped is a body of which a bit is flipped.
type flipped struct {
	io.ReadCloser
	at int // offset of the bit
}

func (f *flipped) Read(p []byte) (int, error) {
	n, err := f.ReadCloser.Read(p)
	if f.at >= 0 && f.at < n {
		p[f.at] ^= 1
	}
	f.at -= n
	return n, err
}

// TestBucket_HostAndCA stores objects in a bucket whose name is in the host of URLs, without and with
// TLS and certificates of its own, and lets a bit of what is sent flip: the service refuses it.
func TestBucket_HostAndCA(t *testing.T) {
	if !disktest.InOwnProcess(t) { // the names of hosts are those of the process
		return
	}
	t.Setenv("VGW_VIRTUAL_DOMAIN", "example.com")
	server := s3test.Start(t)
	pass := newPassing(t, server.URL)
	plain, sealed := httptest.NewServer(pass), httptest.NewTLSServer(pass)
	defer plain.Close()
	defer sealed.Close()
	http.DefaultTransport.(*http.Transport).DialContext = func(ctx context.Context, network, address string) (net.Conn, error) {
		_, port, err := net.SplitHostPort(address)
		if err != nil {
			return nil, err
		}
		return (&net.Dialer{}).DialContext(ctx, network, net.JoinHostPort("127.0.0.1", port))
	}
	ca := filepath.Join(t.TempDir(), "ca.pem")
	disktest.WriteFile(t, ca, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: sealed.Certificate().Raw}))
	large := make([]byte, 20<<20) // more than one part
	rand.NewChaCha8([32]byte{}).Read(large)
	port := func(s *httptest.Server) string { return s.URL[strings.LastIndexByte(s.URL, ':'):] }
	for name, test := range map[string]struct {
		endpoint, style, ca string
		host, path          string
	}{
		"host":         {"http://example.com" + port(plain), "host", "", "bucket.example.com", "/"},
		"host and TLS": {"https://example.com" + port(sealed), "host", ca, "bucket.example.com", "/"},
		"path":         {"http://127.0.0.1" + port(plain), "path", "", "127.0.0.1", "/bucket/"},
		"path and TLS": {"https://127.0.0.1" + port(sealed), "path", ca, "127.0.0.1", "/bucket/"},
		"any and TLS":  {"https://127.0.0.1" + port(sealed), "", ca, "127.0.0.1", "/bucket/"},
	} {
		t.Run(name, func(t *testing.T) {
			o := server.Options()
			o.Endpoint, o.Style, o.CA, o.Prefix = test.endpoint, test.style, test.ca, name
			b := s3test.Bucket(t, o)
			for object, content := range map[string][]byte{"a/small": large[:100_000], "a/single": large[:8<<20], "a/large": large} {
				put(t, b, object, content)
				if !bytes.Equal(get(t, b, object), content) {
					t.Errorf("%s is another one", object)
				}
				pass.flip.Store(true)
				err := b.Put(t.Context(), object+" flipped", int64(len(content)), io.MultiReader(bytes.NewReader(content)))
				pass.flip.Store(false)
				if err == nil || o.CA != "" && !strings.Contains(err.Error(), "the bytes were damaged on their way") {
					t.Errorf("%s is damaged on its way: %v", object, err)
				}
			}
			if got := names(t, b, "a/"); strings.Contains(got, "flipped") || strings.Count(got, ",") != 2 {
				t.Errorf("list: %s", got)
			}
			if got, _ := pass.seen.Load().(string); !strings.HasPrefix(got, test.host) || !strings.Contains(got, test.path) {
				t.Errorf("the last request is for %s", got)
			}
			if o.CA == "" {
				return
			}
			o.CA = ""
			_, err := s3test.Bucket(t, o).List(t.Context(), "")
			if err == nil || !strings.Contains(err.Error(), "certificate") {
				t.Errorf("a certificate that no one has signed: %v", err)
			}
		})
	}
	o := server.Options()
	o.CA = filepath.Join(t.TempDir(), "empty.pem")
	disktest.WriteFile(t, o.CA, []byte("no certificate"))
	if _, err := s3.New(o); err == nil || !strings.Contains(err.Error(), "has no PEM certificates") {
		t.Error(err)
	}
}

// sending is content that counts how often it is told that bytes are sent after all were read.
type sending struct {
	io.Reader
	left int // bytes that were not read
	sent int
}

func (s *sending) Read(p []byte) (int, error) {
	n, err := s.Reader.Read(p[:min(len(p), s.left)])
	if s.left -= n; s.left == 0 {
		err = io.EOF
	}
	return n, err
}

func (s *sending) Sent() {
	if s.left == 0 {
		s.sent++
	}
}

// TestPut_Sent: content is read before it is sent, and is told while it is, so that a slow network is not
// taken for one that has stalled.
func TestPut_Sent(t *testing.T) {
	b := s3test.Bucket(t, s3test.Start(t).Options())
	for _, size := range []int{100_000, 15 << 20, 40 << 20} {
		content := &sending{rand.NewChaCha8([32]byte{}), size, 0}
		if err := b.Put(t.Context(), fmt.Sprint("object ", size), int64(size), content); err != nil {
			t.Fatal(err)
		}
		if content.sent < 2 {
			t.Errorf("%d bytes are sent, which is said %d times", size, content.sent)
		}
	}
}
