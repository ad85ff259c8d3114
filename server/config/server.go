package config

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"strings"
	"time"

	"filippo.io/age"

	"reeve/server"
	"reeve/server/monitor"
	"reeve/server/webhook"
)

// Server returns the checked configuration of the HTTP server. The caller adds what
// does not come from the configuration, like Version and Console.
func (c *Config) Server() (server.Config, error) {
	k := c.values
	s := server.Config{
		Listen: k.String("server.listen"), TLSCert: k.String("server.tls_cert"), TLSKey: k.String("server.tls_key"),
		IgnoredFields: k.Strings("server.ignored_fields"), CORSOrigins: k.Strings("server.cors_origins"), RedisTargets: k.Strings("monitor.redis.targets"),
		MetricsToken: k.String("metrics.token"), MaxConnections: k.Int("server.max_connections"), Effective: c.effective(),
	}
	for _, step := range []func(*server.Config) error{c.setRecipients, checkRedis, checkListener, c.setMonitor, c.setProxies, checkOrigins, c.setWebhooks, c.setPublicURL, c.setForward} {
		if err := step(&s); err != nil {
			return s, err
		}
	}
	return s, nil
}

func (c *Config) setRecipients(s *server.Config) error {
	list := c.values.Strings("backup.recipients")
	if len(list) == 0 {
		return nil // age rejects an empty list
	}
	recipients, err := age.ParseRecipients(strings.NewReader(strings.Join(list, "\n")))
	if err != nil {
		return fmt.Errorf("backup.recipients must be age recipients like age1…: %w", err)
	}
	s.BackupRecipients = recipients
	return nil
}

func checkRedis(s *server.Config) error {
	if err := s.CheckRedis(); err != nil {
		return fmt.Errorf("monitor.redis.targets: %w", err)
	}
	return nil
}

func checkListener(s *server.Config) error {
	if (s.TLSCert == "") != (s.TLSKey == "") {
		return errors.New("server.tls_cert and server.tls_key belong together: set both or neither")
	}
	if n := s.MaxConnections; n != 0 && (n < 16 || n > 1_000_000) {
		return errors.New("server.max_connections must be 0 or a number from 16 to 1000000")
	}
	if _, _, err := net.SplitHostPort(s.Listen); err != nil {
		return fmt.Errorf("server.listen must be like 127.0.0.1:8080: %w", err)
	}
	return nil
}

func (c *Config) setMonitor(s *server.Config) error {
	age, err := time.ParseDuration(c.values.String("monitor.max_age"))
	if err != nil || age < time.Minute {
		return errors.New("monitor.max_age must be a duration of at least one minute, such as 168h or 30m")
	}
	bytes := c.values.Int64("monitor.max_bytes")
	if bytes < 0 || bytes > 0 && bytes < 4<<20 {
		return fmt.Errorf("monitor.max_bytes must be 0 or at least %d", 4<<20)
	}
	minFree := c.values.Int64("monitor.min_free")
	if minFree < 0 {
		return errors.New("monitor.min_free must be 0 or more")
	}
	s.Monitor = monitor.Config{Off: bytes == 0, MaxBytes: bytes, MinFree: minFree, MaxAge: age}
	return nil
}

func (c *Config) setProxies(s *server.Config) error {
	for _, text := range c.values.Strings("server.trusted_proxies") {
		network, err := netip.ParsePrefix(text)
		if addr, errAddr := netip.ParseAddr(text); err != nil && errAddr == nil {
			network, err = addr.Prefix(addr.BitLen())
		}
		if err != nil {
			return fmt.Errorf("server.trusted_proxies: %q is neither an address nor a network like 10.0.0.0/8", text)
		}
		s.TrustedProxies = append(s.TrustedProxies, network)
	}
	return nil
}

func checkOrigins(s *server.Config) error {
	for _, origin := range s.CORSOrigins {
		if scheme, host, ok := strings.Cut(origin, "://"); !ok || scheme != "http" && scheme != "https" || host == "" || strings.ContainsAny(host, "/*") {
			return fmt.Errorf("server.cors_origins: %q is not an origin like https://app.example.org", origin)
		}
	}
	return nil
}

func (c *Config) setWebhooks(s *server.Config) (err error) {
	if s.WebhookAllow, err = webhook.ParseAllow(c.values.Strings("webhooks.allow")); err != nil {
		return fmt.Errorf("webhooks.allow: %w", err)
	}
	return nil
}

func (c *Config) setPublicURL(s *server.Config) error {
	s.PublicURL = c.PublicURL
	if s.PublicURL != "" && !isOrigin(s.PublicURL) {
		return fmt.Errorf("server.public_url: %q is not an origin like https://reeve.example.org, in lower case", s.PublicURL)
	}
	return nil
}

// isOrigin reports whether a text is an origin in lower case, without a path.
func isOrigin(text string) bool {
	u, err := url.Parse(text)
	return err == nil && (u.Scheme == "http" || u.Scheme == "https") && u.Host != "" && u.Scheme+"://"+u.Host == text && text == strings.ToLower(text)
}

// setForward sets the origins of forward authentication. The URL of this server is server.public_url
// by default.
func (c *Config) setForward(s *server.Config) error {
	s.Forward = server.Forward{URL: strings.TrimSuffix(c.values.String("forward_auth.url"), "/"), Origins: c.values.Strings("forward_auth.origins")}
	if s.Forward.URL == "" && len(s.Forward.Origins) > 0 {
		s.Forward.URL = s.PublicURL
	}
	for _, origin := range append([]string{s.Forward.URL}, s.Forward.Origins...) {
		if origin == "" && len(s.Forward.Origins) == 0 {
			continue
		}
		if !isOrigin(origin) {
			return fmt.Errorf("forward_auth: %q is not an origin like https://app.example.org, in lower case; url and origins belong together", origin)
		}
	}
	return nil
}
