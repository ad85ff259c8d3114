package config

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"regexp"
	"slices"
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
		IgnoredFields: k.Strings("server.ignored_fields"), CORSOrigins: k.Strings("server.cors_origins"), AllowedHosts: k.Strings("server.allowed_hosts"), RedisTargets: k.Strings("monitor.redis.targets"),
		MetricsToken: k.String("metrics.token"), MaxConnections: k.Int("server.max_connections"), Effective: c.effective(),
	}
	for _, step := range []func(*server.Config) error{c.setRecipients, checkRedis, c.checkListener, c.setMonitor, c.setProxies, setOrigins, checkHosts, c.setWebhooks, c.setPublicURL, c.setForward} {
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

func (c *Config) checkListener(s *server.Config) error {
	if (s.TLSCert == "") != (s.TLSKey == "") {
		return errors.New("server.tls_cert and server.tls_key belong together: set both or neither")
	}
	if err := c.checkOptional("server.max_connections", 16, 1_000_000); err != nil {
		return err
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

func setOrigins(s *server.Config) error {
	return parseOrigins("server.cors_origins", s.CORSOrigins)
}

// parseOrigins replaces origins of a key by their canonical form.
func parseOrigins(key string, origins []string) error {
	for i, text := range origins {
		origin, ok := server.ParseOrigin(text)
		if !ok {
			return fmt.Errorf("%s: %q is not an origin like https://app.example.org", key, text)
		}
		origins[i] = origin
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
	if _, ok := server.ParseOrigin(s.PublicURL); s.PublicURL != "" && !ok {
		return fmt.Errorf("server.public_url: %q is not an origin like https://reeve.example.org", s.PublicURL)
	}
	return nil
}

// setForward sets the origins of forward authentication. The URL of this server is server.public_url
// by default.
func (c *Config) setForward(s *server.Config) error {
	f := server.Forward{
		URL:         strings.TrimSuffix(c.values.String("forward_auth.url"), "/"),
		Origins:     c.values.Strings("forward_auth.origins"),
		CrossOrigin: c.values.Strings("forward_auth.cross_origin"),
	}
	if f.URL == "" && len(f.Origins) > 0 {
		if f.URL = s.PublicURL; f.URL == "" {
			return errors.New("forward_auth.origins needs forward_auth.url or server.public_url, to which browsers are sent to sign in")
		}
	}
	if f.URL != "" {
		url := []string{f.URL}
		if err := parseOrigins("forward_auth.url", url); err != nil {
			return err
		}
		f.URL = url[0]
	}
	if err := errors.Join(parseOrigins("forward_auth.origins", f.Origins), parseOrigins("forward_auth.cross_origin", f.CrossOrigin)); err != nil {
		return err
	}
	for _, origin := range f.CrossOrigin {
		if !slices.Contains(f.Origins, origin) {
			return fmt.Errorf("forward_auth.cross_origin: %q is not in forward_auth.origins", origin)
		}
	}
	s.Forward = f
	return nil
}

// hostName matches a host name in lower case or capitals, without a port.
var hostName = regexp.MustCompile(`^[A-Za-z0-9]([A-Za-z0-9.-]*[A-Za-z0-9])?$`)

func checkHosts(s *server.Config) error {
	for _, name := range s.AllowedHosts {
		if !hostName.MatchString(name) {
			return fmt.Errorf("server.allowed_hosts: %q is not a host name like reeve.example.org", name)
		}
	}
	return nil
}
