package server

import "net/http"

// Every response carries these headers, whichever handler makes it: browsers must not
// guess its type, run it, frame it, or send its address as a referrer.
// Handlers replace what they have a better value for, as the console does. The
// values are shared and never changed, so that setting them costs no memory.
var (
	noContent  = []string{"default-src 'none'; frame-ancestors 'none'"}
	fileSafe   = []string{"default-src 'none'; frame-ancestors 'none'; sandbox"} // of a file that somebody uploaded
	noReferrer = []string{"no-referrer"}
	sameOrigin = []string{"same-origin"}
	noSniff    = []string{"nosniff"}
	onlyTLS    = []string{"max-age=31536000"} // this host alone: others below its name may speak plain HTTP
	anyOrigin  = []string{"cross-origin"}
	clearCache = []string{`"cache"`} // not cookies or storage: those of other applications on this host would go too
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
