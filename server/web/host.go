package web

import (
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"

	"reeve/store/errs"
)

// hosts are the names under which this server answers. A page of another site can make its own name
// resolve to this server (DNS rebinding), and would then be of the same origin. So a request for a
// name that is not one of them is refused once the public URL is known.
type hosts struct{ names []string }

func newHosts(config *Config) *hosts {
	if config.PublicURL == "" {
		return nil
	}

	h := &hosts{}
	for _, name := range config.AllowedHosts {
		h.names = append(h.names, strings.ToLower(name))
	}
	// A proxy asks for the programs behind it under their own names.
	for _, text := range append([]string{config.PublicURL, config.Forward.URL},
		config.Forward.Origins...) {
		if u, err := url.Parse(text); err == nil && u.Hostname() != "" {
			h.names = append(h.names, strings.ToLower(u.Hostname()))
		}
	}

	return h
}

// accepts reports whether the server answers a Host header. Addresses and names of one label, as in
// a local network or between containers, can't belong to another site.
func (h *hosts) accepts(host string) bool {
	name := host
	if bare, _, err := net.SplitHostPort(host); err == nil {
		name = bare
	}
	name = strings.TrimSuffix(strings.ToLower(strings.Trim(name, "[]")), ".")
	if !strings.Contains(name, ".") && !strings.Contains(name, ":") ||
		strings.HasSuffix(name, ".localhost") {
		return true
	}
	if _, err := netip.ParseAddr(name); err == nil {
		return true
	}
	return slices.Contains(h.names, name)
}

// checkHost returns a handler that refuses requests for other names. Health checks are answered
// under any name: they tell nothing.
func (s *Server) checkHost(next http.Handler) http.Handler {
	refuse := s.refuse(errs.New(errs.Malformed,
		"this server does not answer to this host name; add it to server.allowed_hosts in the configuration").Coded("unknown_host"))
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := s.current.Load().hosts
		if h != nil && r.URL.Path != "/health" && !strings.HasPrefix(r.URL.Path, "/health/") &&
			!h.accepts(r.Host) {
			refuse.ServeHTTP(w, r)
			return
		}
		next.ServeHTTP(w, r)
	})
}
