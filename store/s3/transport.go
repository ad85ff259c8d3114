package s3

import (
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"os"
	"sync"
)

func transport(ca string) (*http.Transport, error) {
	t := http.DefaultTransport.(*http.Transport).Clone()
	t.ResponseHeaderTimeout, t.IdleConnTimeout = headerTimeout, idleTimeout
	t.TLSHandshakeTimeout = connectTimeout
	t.DisableCompression = true
	if ca == "" {
		return t, nil
	}
	text, err := os.ReadFile(ca)
	if err != nil {
		return nil, err
	}
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM(text) {
		return nil, fmt.Errorf("%s has no PEM certificates", ca)
	}
	t.TLSClientConfig = &tls.Config{RootCAs: pool, MinVersion: tls.VersionTLS12}
	return t, nil
}

// sender sends requests whose content is read no more when the response is closed, or there is an error: the
// client reads it from its beginning when it tries again, and a Transport may still read it for the request
// before, if the answer or the error came while it was sent.
type sender struct{ *http.Transport }

// RoundTrip implements http.RoundTripper.
func (s sender) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.Body == nil || r.ContentLength == 0 {
		return s.Transport.RoundTrip(r)
	}
	sent := *r
	content := &content{ReadCloser: r.Body, ended: make(chan struct{})}
	sent.Body = content
	response, err := s.Transport.RoundTrip(&sent)
	if err != nil {
		<-content.ended
		return nil, err
	}
	response.Body = answer{response.Body, content.ended}
	return response, nil
}

// content is the body of a request. A Transport closes each, which ends with a read that is under way.
type content struct {
	mu sync.Mutex
	io.ReadCloser
	closed bool
	ended  chan struct{} // closed with it
}

func (c *content) Read(p []byte) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return 0, fs.ErrClosed
	}
	return c.ReadCloser.Read(p)
}

func (c *content) Close() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return nil
	}
	c.closed = true
	close(c.ended)
	return c.ReadCloser.Close()
}

// answer is the body of a response to a request with content.
type answer struct {
	io.ReadCloser
	ended chan struct{} // closed when the content is read no more
}

func (a answer) Close() error {
	err := a.ReadCloser.Close()
	<-a.ended
	return err
}
