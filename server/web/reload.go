package web

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"slices"
	"time"

	"reeve/store"
)

// current is the configuration in force, and values that are made from it. Origins in settings are
// added to those of the configuration.
type current struct {
	Config
	cors, programs []string         // origins of the configuration alone
	hosts          *hosts           // nil for any
	certificate    *tls.Certificate // nil without TLS
}

// Now returns the configuration in force. Unlike Server.Config, with which the server was made, it
// follows Reload.
func (s *Server) Now() *Config { return &s.current.Load().Config }

// Reload replaces the part of the configuration that a running server can change: proxies, allowed
// hosts, origins, the programs of forward authentication, the token of metrics, and the certificate,
// whose files it reads again. It changes nothing if there is an error. Requests in flight go on with
// what they have read.
func (s *Server) Reload(config Config) error {
	s.reloading.Lock()
	defer s.reloading.Unlock()
	next := &current{Config: s.Config}
	next.TrustedProxies, next.AllowedHosts = config.TrustedProxies, config.AllowedHosts
	next.CORSOrigins, next.MetricsToken = config.CORSOrigins, config.MetricsToken
	next.Forward.Origins, next.Forward.CrossOrigin = config.Forward.Origins, config.Forward.CrossOrigin
	next.Effective, next.BackupRecipients = config.Effective, config.BackupRecipients
	next.PrivateFiles = config.PrivateFiles
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

	next.cors, next.programs = config.CORSOrigins, config.Forward.Origins
	return s.replace(next)
}

// replace puts a configuration in force, with the origins in settings.
func (s *Server) replace(next *current) error {
	err := s.DB.View(store.System, func(tx *store.Tx) error {
		next.CORSOrigins = slices.Concat(next.cors, store.CORSOrigins.Origins(tx))
		next.Forward.Origins = next.programs
		if next.Forward.URL != "" {
			next.Forward.Origins = slices.Concat(next.programs, store.ForwardOrigins.Origins(tx))
		}
		return nil
	})
	if err != nil {
		return err
	}
	next.hosts = newHosts(&next.Config)
	s.current.Store(next)
	return nil
}

// originsEvery is how often settings with origins are read again: an undo can change them, too.
const originsEvery = time.Second

// FollowSettings puts changed settings with origins in force.
func (s *Server) FollowSettings() {
	s.reloading.Lock()
	defer s.reloading.Unlock()
	next := *s.current.Load()
	if err := s.replace(&next); err != nil {
		s.Log.Error().Err(err).Msg("the settings with origins could not be read")
	}
}

// followSettings calls FollowSettings until ctx ends.
func (s *Server) followSettings(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-time.After(originsEvery):
			s.FollowSettings()
		}
	}
}
