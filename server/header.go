package server

import "net/http"

// Every response has these headers, whichever handler sends it: browsers must not sniff
// its type, run it, frame it, or send its URL as a referrer. Handlers replace headers
// where they need another value, like the console. The values are shared and never
// changed, so that setting them allocates nothing.
var (
	noContent  = []string{"default-src 'none'; frame-ancestors 'none'"}
	fileSafe   = []string{"default-src 'none'; frame-ancestors 'none'; sandbox"} // for uploaded files
	noReferrer = []string{"no-referrer"}
	sameOrigin = []string{"same-origin"}
	noSniff    = []string{"nosniff"}
	onlyTLS    = []string{"max-age=31536000"} // this host only: its subdomains may use plain HTTP
	anyOrigin  = []string{"cross-origin"}
	clearCache = []string{`"cache"`} // not cookies or storage, which would include those of other applications on this host
)

// headers sets the headers of every response. The names are in canonical form.
func (s *Server) headers(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h["Content-Security-Policy"] = noContent
		h["Referrer-Policy"] = noReferrer
		h["Cross-Origin-Resource-Policy"] = sameOrigin
		h["Cross-Origin-Opener-Policy"] = sameOrigin
		h["X-Content-Type-Options"] = noSniff
		if r.TLS != nil {
			h["Strict-Transport-Security"] = onlyTLS
		}
		next.ServeHTTP(w, r)
	})
}
