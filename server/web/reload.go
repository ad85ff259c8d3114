package web

import (
	"crypto/tls"
	"errors"
	"fmt"
)

// current is the configuration in force, and values that are made from it.
type current struct {
	Config
	hosts       *hosts           // nil for any
	certificate *tls.Certificate // nil without TLS
}

// Now returns the configuration in force. Unlike Server.Config, with which the server was made, it
// follows Reload.
func (s *Server) Now() *Config { return &s.current.Load().Config }

// Reload replaces the part of the configuration that a running server can change: proxies, allowed
// hosts, origins, the programs of forward authentication, the token of metrics, and the certificate,
// whose files it reads again. It changes nothing if there is an error. Requests in flight go on with
// what they have read.
func (s *Server) Reload(config Config) error {
	next := &current{Config: s.Config}
	next.TrustedProxies, next.AllowedHosts = config.TrustedProxies, config.AllowedHosts
	next.CORSOrigins, next.MetricsToken = config.CORSOrigins, config.MetricsToken
	next.Forward.Origins, next.Forward.CrossOrigin = config.Forward.Origins, config.Forward.CrossOrigin
	next.Effective = config.Effective
	if (config.TLSCert == "") != (s.Config.TLSCert == "") {
		return errors.New("server.tls_cert: to turn TLS on or off, restart the server")
	}
	if next.TLSCert, next.TLSKey = config.TLSCert, config.TLSKey; next.TLSCert != "" {
		certificate, err := tls.LoadX509KeyPair(next.TLSCert, next.TLSKey)
		if err != nil {
			return fmt.Errorf("load server.tls_cert and server.tls_key: %w", err)
		}
		next.certificate = &certificate
	}

	next.hosts = newHosts(&next.Config)
	s.current.Store(next)
	return nil
}
