package web

import (
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"net/netip"

	"reeve/auth"
	"reeve/server/listen"
	"reeve/store/errs"
)

// Gated returns a Listener that accepts connections from l within the server's limit.
func (s *Server) Gated(l net.Listener) *listen.Listener {
	answer := rejection
	if s.Config.TLSCert != "" {
		answer = nil
	}
	return listen.New(l, s.Limits.Connections, s.fromProxy, answer)
}

// fromProxy reports whether a connection is from a trusted proxy: all its clients have its address.
func (s *Server) fromProxy(addr netip.Addr) bool {
	return auth.IsTrusted(addr, s.Now().TrustedProxies)
}

// rejection returns the response to a connection that is rejected before its request is read.
func rejection(e *errs.Error) []byte {
	body, err := json.Marshal(failureOf(e, errs.English))
	if err != nil {
		panic(err) // strings and numbers can always be encoded
	}

	code := Status[e.Kind].Code
	head := fmt.Sprintf("HTTP/1.1 %d %s\r\n", code, http.StatusText(code))
	for _, h := range [][2]string{
		{"Content-Type", "application/json"},
		{"Content-Length", fmt.Sprint(len(body))},
		{"Retry-After", "1"},
		{"Connection", "close"},
		{"Cache-Control", "no-store"},
		{"Content-Security-Policy", noContent[0]},
		{"Cross-Origin-Resource-Policy", sameOrigin[0]},
		{"X-Content-Type-Options", noSniff[0]},
	} {
		head += h[0] + ": " + h[1] + "\r\n"
	}

	return append([]byte(head+"\r\n"), body...)
}
