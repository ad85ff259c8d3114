package web

import "net/http"

const nodeHeader = "Reeve-Node" // name of the node that answers

// Every response has headers, whichever handler sends it, so that browsers do not sniff its
// type, run it or frame it. Responses that can be documents also have those of DocumentHeaders.
// Handlers replace headers where they need another value, like the console. The values are
// shared and never changed, so that setting them allocates nothing.
var (
	noContent  = []string{"default-src 'none'; frame-ancestors 'none'"}
	FileSafe   = []string{"default-src 'none'; frame-ancestors 'none'; sandbox"} // for uploaded files
	noReferrer = []string{"no-referrer"}
	sameOrigin = []string{"same-origin"}
	noSniff    = []string{"nosniff"}
	closing    = []string{"close"}
	onlyTLS    = []string{"max-age=31536000"} // this host only: its subdomains may use plain HTTP
	anyOrigin  = []string{"cross-origin"}
	ClearCache = []string{`"cache"`} // not cookies or storage, which would include those of other applications on this host
)

// Headers sets the headers of every response. The names are in canonical form.
func (s *Server) Headers(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h["Content-Security-Policy"] = noContent
		h["Cross-Origin-Resource-Policy"] = sameOrigin
		h["X-Content-Type-Options"] = noSniff
		if r.TLS != nil {
			h["Strict-Transport-Security"] = onlyTLS
		}
		if s.nodeName != nil {
			h[nodeHeader] = s.nodeName
		}
		if s.draining.Load() {
			h["Connection"] = closing
		}
		next.ServeHTTP(w, r)
	})
}

// DocumentHeaders sets the headers of a response that a browser may open or follow: it must not
// send the URL as a referrer, nor share its window with other sites. JSON needs neither, and a read
// without them is a few percent faster.
func DocumentHeaders(h http.Header) {
	h["Referrer-Policy"] = noReferrer
	h["Cross-Origin-Opener-Policy"] = sameOrigin
}
