package web

import (
	"net/http"
	"net/url"
	"strings"

	"reeve/store/errs"
)

// An origin is a scheme, a host and a port (RFC 6454). Origins are compared in their canonical form
// only.

// ParseOrigin returns the canonical form of an origin. ok is false if the text is none like
// https://app.example.org.
func ParseOrigin(text string) (origin string, ok bool) {
	text = strings.ToLower(text)
	u, err := url.Parse(text)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "" ||
		u.Scheme+"://"+u.Host != text || strings.ContainsAny(u.Host, "*,") ||
		strings.HasSuffix(u.Host, ":") {
		return "", false
	}
	return CanonicalOrigin(text), true
}

// CanonicalOrigin returns an origin as browsers write it: in lower case, and without the default
// port of its scheme.
func CanonicalOrigin(text string) string {
	text = strings.ToLower(text)
	if origin, ok := strings.CutSuffix(text, ":443"); ok && strings.HasPrefix(text, "https://") {
		return origin
	}
	if origin, ok := strings.CutSuffix(text, ":80"); ok && strings.HasPrefix(text, "http://") {
		return origin
	}
	return text
}

// FirstForwarded returns the value that a header like X-Forwarded-Proto has for the connection of
// the client. Each proxy in a row may append one of its own.
func FirstForwarded(h http.Header, name string) string {
	first, _, _ := strings.Cut(h.Get(name), ",")
	return strings.TrimSpace(first)
}

// trustedOrigins returns the check for requests with a cookie. urls are the server's public URLs,
// for proxies that change the header Host; "" is none.
func trustedOrigins(urls ...string) (*http.CrossOriginProtection, error) {
	protection := http.NewCrossOriginProtection()
	for _, url := range urls {
		if url == "" {
			continue
		}
		if err := protection.AddTrustedOrigin(originOf(url)); err != nil {
			return nil, err
		}
	}
	return protection, nil
}

// SameOrigin returns an error for a request that changes something and that a browser has sent for
// a page of another origin.
func (req *Request) SameOrigin() error { return CheckOrigin(req.Server.origins, req.HTTP) }

// CheckOrigin returns an error for a request of a page of another origin. Proxies may name the
// default port in Host.
func CheckOrigin(protection *http.CrossOriginProtection, r *http.Request) error {
	if protection.Check(r) == nil {
		return nil
	}
	origin := r.Header.Get("Origin")
	scheme, _, _ := strings.Cut(origin, "://")
	if r.Header.Get("Sec-Fetch-Site") == "" &&
		CanonicalOrigin(scheme+"://"+r.Host) == CanonicalOrigin(origin) {
		return nil
	}
	return errs.New(errs.Denied,
		"the browser has sent this request for a page of another origin; a session cookie is not accepted from there").Coded("cross_origin")
}
