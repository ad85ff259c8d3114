package web

import (
	"net/http"
	"net/url"
	"strings"
)

// A reverse proxy can serve this server below a path of a host that it shares with other programs.
// The proxy passes the path on, and this file removes it; what the server sends to browsers begins
// with it. Paths without it are served as they are: for proxies that remove it, for health checks,
// which do not pass the proxy, and for /.reeve/callback on the hosts of other programs.

// belowBase removes the base path from the paths of requests.
func (s *Server) belowBase(next http.Handler) http.Handler {
	base := s.Config.BasePath
	if base == "" {
		return next
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		path, below := cutBase(r.URL.Path, base)
		if !below {
			next.ServeHTTP(w, r)
			return
		}
		inner := *r
		inner.URL = new(url.URL)
		*inner.URL = *r.URL
		inner.URL.Path = path
		inner.URL.RawPath, _ = cutBase(r.URL.RawPath, base)
		next.ServeHTTP(w, &inner)
	})
}

// cutBase returns a path without the base path that it begins with.
func cutBase(path, base string) (rest string, below bool) {
	rest, below = strings.CutPrefix(path, base)
	switch {
	case !below || rest != "" && rest[0] != '/':
		return "", false
	case rest == "":
		rest = "/"
	}
	return rest, true
}

// URL returns the URL of a path of this server, for the pages of its host; "" for none.
func (s *Server) URL(path string) string {
	if path == "" {
		return ""
	}
	return s.Config.BasePath + path
}

// originOf returns the origin of a URL.
func originOf(text string) string {
	u, err := url.Parse(text)
	if err != nil {
		return text
	}
	return u.Scheme + "://" + u.Host
}
