package provider

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"net/url"
	"sync"
	"time"

	"golang.org/x/oauth2"

	"reeve/server/outgoing"
	"reeve/store/errs"
)

const (
	timeLimit    = 10 * time.Second // of all requests of one step
	connectLimit = 5 * time.Second
	maxHeader    = 16 << 10
	maxBody      = 1 << 20 // bytes of a response
)

// Client asks providers. It is safe for concurrent use.
type Client struct {
	allow outgoing.Allow
	http  *http.Client
	slots outgoing.Slots // limit for each provider, by issuer

	mu    sync.Mutex
	known map[string]*known // key: issuer, or name of the kind
}

// NewClient returns a Client that names itself Reeve and the version to providers. Close closes its
// idle connections.
func NewClient(allow outgoing.Allow, version string) *Client {
	dialer := net.Dialer{Timeout: connectLimit}
	secure, plain := transport(allow.Dialer(dialer, false)), transport(allow.Dialer(dialer, true))
	return &Client{
		allow: allow,
		known: map[string]*known{},
		http: &http.Client{
			Transport: &bounded{secure, plain, "Reeve/" + version},
			Timeout:   timeLimit,
			CheckRedirect: func(*http.Request, []*http.Request) error {
				return http.ErrUseLastResponse
			},
		},
	}
}

// Close closes idle connections.
func (c *Client) Close() { c.http.CloseIdleConnections() }

func transport(dial outgoing.Dial) *http.Transport {
	return &http.Transport{
		DialContext:            dial,
		TLSClientConfig:        &tls.Config{MinVersion: tls.VersionTLS12},
		TLSHandshakeTimeout:    connectLimit,
		ResponseHeaderTimeout:  timeLimit,
		MaxResponseHeaderBytes: maxHeader,
		IdleConnTimeout:        30 * time.Second,
		MaxIdleConns:           16,
		MaxIdleConnsPerHost:    2,
		DisableCompression:     true, // a small response may decompress to a huge one
		ForceAttemptHTTP2:      true,
	}
}

// bounded sends requests by TLS or without, and limits the responses.
type bounded struct {
	secure, plain *http.Transport
	agent         string
}

func (b *bounded) RoundTrip(r *http.Request) (*http.Response, error) {
	via := b.secure
	if r.URL.Scheme == "http" {
		via = b.plain
	}
	r = r.Clone(r.Context())
	r.Header.Set("User-Agent", b.agent)
	answer, err := via.RoundTrip(r)
	if err == nil {
		answer.Body = &limitedBody{answer.Body, maxBody}
	}
	return answer, err
}

// CloseIdleConnections is called by http.Client.
func (b *bounded) CloseIdleConnections() {
	b.secure.CloseIdleConnections()
	b.plain.CloseIdleConnections()
}

var errTooLarge = errors.New("the response is too large")

// limitedBody returns errTooLarge after some bytes.
type limitedBody struct {
	io.ReadCloser
	left int
}

func (l *limitedBody) Read(p []byte) (int, error) {
	if l.left < 0 {
		return 0, errTooLarge
	}
	n, err := l.ReadCloser.Read(p[:min(len(p), l.left+1)])
	if l.left -= n; l.left < 0 {
		return 0, errTooLarge
	}
	return n, err
}

// with returns a context in which other packages use the client.
func (c *Client) with(ctx context.Context) context.Context {
	return context.WithValue(ctx, oauth2.HTTPClient, c.http)
}

// get decodes the JSON at an address. auth is the value of the header Authorization; "" for none.
func (c *Client) get(ctx context.Context, address, auth string, to any) error {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return unreachable(address)
	}
	r.Header.Set("Accept", "application/json")
	if auth != "" {
		r.Header.Set("Authorization", auth)
	}
	answer, err := c.http.Do(r)
	if err != nil {
		return fault(ctx, err, address)
	}
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		return errs.New(errs.Busy, "%s answered with the status %d", hostOf(address), answer.StatusCode).
			After(time.Minute).Coded("provider_status_code")
	}
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		return fault(ctx, err, address)
	}
	if json.Unmarshal(text, to) != nil {
		return notJSON(address)
	}
	return nil
}

func notJSON(address string) error {
	return errs.New(errs.Busy, "the response of %s is not valid JSON", hostOf(address)).
		After(time.Minute).Coded("provider_json")
}

func hostOf(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return ""
	}
	return u.Host
}

func unreachable(address string) error {
	return errs.New(errs.Busy, "%s can't be reached; sign in with your password, or try again later",
		hostOf(address)).After(time.Minute).Coded("provider_unreachable")
}

func tooMuch(address string) error {
	return errs.New(errs.Denied, "%s sent more than %d KiB", hostOf(address), maxBody>>10).Coded("provider_too_large")
}

// fault returns an error of a request in fixed words: texts of net/http contain the address.
func fault(ctx context.Context, err error, address string) error {
	var refused *outgoing.RefusedError
	var network net.Error
	switch {
	case errors.Is(err, errTooLarge):
		return tooMuch(address)
	case errors.As(err, &refused):
		return errs.New(errs.Denied, "%s", refused.Message(hostOf(address)))
	case ctx.Err() != nil, errors.As(err, &network) && network.Timeout():
		return errs.New(errs.Busy, "%s did not answer in time; sign in with your password, or try again later",
			hostOf(address)).After(time.Minute).Coded("provider_slow")
	}
	return unreachable(address)
}

// exchangeFault returns why a code was not exchanged.
func (c *Client) exchangeFault(ctx context.Context, err error, address string) error {
	var answer *oauth2.RetrieveError
	var network *url.Error
	switch {
	case errors.As(err, &answer):
	case errors.As(err, &network), ctx.Err() != nil:
		return fault(ctx, err, address)
	default:
		return notJSON(address) // or no token in it
	}
	switch code := answer.ErrorCode; {
	case code == "invalid_grant", code == "bad_verification_code":
		return ErrState // the code has expired or was used
	case code != "":
		return refusal(code)
	}
	return errs.New(errs.Busy, "%s answered with the status %d", hostOf(address), answer.Response.StatusCode).
		After(time.Minute).Coded("provider_status_code")
}
