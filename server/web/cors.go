package web

import (
	"net/http"
	"slices"
	"strings"
)

const (
	corsMethods = "GET, HEAD, POST, PUT, DELETE"

	// corsHeaders are the request headers that clients usually send, and corsExposed
	// the response headers that they may read, besides those that CORS always allows.
	corsHeaders = "Accept, Accept-Language, Authorization, Cache-Control, Content-Type, Idempotency-Key, If-Match, If-Modified-Since, " +
		"If-None-Match, If-Range, If-Unmodified-Since, Range, Reeve-Commit, Reeve-Read, X-Act-As, X-Reason, X-Requested-With"
	corsExposed = "Accept-Ranges, Allow, Content-Disposition, Content-Range, ETag, Idempotency-Replayed, RateLimit-Limit, RateLimit-Policy, RateLimit-Remaining, RateLimit-Reset, Reeve-Commit, Reeve-Entry, Reeve-Node, Retry-After, WWW-Authenticate, X-Request-Id"

	maxCORSHeaders = 32 // further headers that one preflight allows
)

// Cors lets pages of the configured origins call the API. By default none may, and
// credentials are never allowed: tokens are sent in a header.
func (s *Server) Cors(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		origins := s.Now().CORSOrigins
		if len(origins) == 0 {
			next.ServeHTTP(w, r)
			return
		}

		h := w.Header()
		h.Add("Vary", "Origin")
		origin := r.Header.Get("Origin")
		if !slices.Contains(origins, CanonicalOrigin(origin)) {
			next.ServeHTTP(w, r)
			return
		}

		h.Set("Access-Control-Allow-Origin", origin)
		h["Cross-Origin-Resource-Policy"] = anyOrigin
		h.Set("Access-Control-Expose-Headers", corsExposed)
		if r.Method == http.MethodOptions && r.Header.Get("Access-Control-Request-Method") != "" {
			h.Add("Vary", "Access-Control-Request-Headers")
			h.Set("Access-Control-Allow-Methods", corsMethods)
			h.Set("Access-Control-Allow-Headers",
				allowHeaders(r.Header.Values("Access-Control-Request-Headers")))
			h.Set("Access-Control-Max-Age", "600")
			w.WriteHeader(http.StatusNoContent)
			return
		}

		next.ServeHTTP(w, r)
	})
}

// allowHeaders returns the request headers that a preflight allows: corsHeaders and the
// requested ones, since libraries add their own (traceparent, X-XSRF-TOKEN). No header
// grants anything, except those in which a proxy names its client, which are left out.
func allowHeaders(asked []string) string {
	allowed := strings.Split(corsHeaders, ", ")
	most := len(allowed) + maxCORSHeaders
	for name := range strings.SplitSeq(strings.Join(asked, ","), ",") {
		name = strings.TrimSpace(name)
		known := func(other string) bool { return strings.EqualFold(other, name) }
		forwarding := slices.ContainsFunc(forwardingHeaders, known) ||
			len(name) > 11 && strings.EqualFold(name[:11], "X-Forwarded")
		if isToken(name) && !forwarding && !slices.ContainsFunc(allowed, known) &&
			len(allowed) < most {
			allowed = append(allowed, name)
		}
	}
	return strings.Join(allowed, ", ")
}

// isToken reports whether name is a valid header name (RFC 9110, 5.6.2).
func isToken(name string) bool {
	return name != "" && len(name) <= MaxLine && strings.IndexFunc(name, func(r rune) bool {
		return r <= ' ' || r > '~' || strings.ContainsRune(`"(),/:;<=>?@[\]{}`, r)
	}) < 0
}
