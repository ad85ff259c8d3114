package config

import (
	"cmp"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"time"

	"filippo.io/age"

	"reeve/server/monitor"
	"reeve/server/outgoing"
	"reeve/server/redis"
	"reeve/server/web"
)

// Server returns the checked configuration of the HTTP server. The caller adds what
// does not come from the configuration, like Version and Console.
func (c *Config) Server() (web.Config, error) {
	k := c.values
	s := web.Config{
		Listen:         k.String("server.listen"),
		TLSCert:        k.String("server.tls_cert"),
		TLSKey:         k.String("server.tls_key"),
		IgnoredFields:  k.Strings("server.ignored_fields"),
		CORSOrigins:    k.Strings("server.cors_origins"),
		AllowedHosts:   k.Strings("server.allowed_hosts"),
		RedisTargets:   k.Strings("monitor.redis.targets"),
		MetricsToken:   k.String("metrics.token"),
		MaxConnections: k.Int("server.max_connections"),
		Effective:      c.effective(),
	}
	for _, step := range []func(*web.Config) error{c.setRecipients, checkRedis, c.checkListener,
		c.setStop, c.setMonitor, c.setProxies, setOrigins, checkHosts, c.setOutgoing, c.setPublicURL,
		c.setForward} {
		if err := step(&s); err != nil {
			return s, err
		}
	}

	return s, nil
}

func (c *Config) setRecipients(s *web.Config) error {
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

func checkRedis(s *web.Config) error {
	if _, err := redis.ParseTargets(s.RedisTargets); err != nil {
		return fmt.Errorf("monitor.redis.targets: %w", err)
	}
	return nil
}

// duration reads a duration within bounds.
func (c *Config) duration(name string, low, high time.Duration) (time.Duration, error) {
	d, err := time.ParseDuration(c.values.String(name))
	if err != nil || d < low || d > high {
		return 0, fmt.Errorf("%s must be a duration from %s to %s, like 5s", name, low, high)
	}
	return d, nil
}

// setStop reads how the server stops.
func (c *Config) setStop(s *web.Config) (err error) {
	if s.Drain, err = c.duration("server.drain", 0, time.Minute); err != nil {
		return err
	}
	s.StopTimeout, err = c.duration("server.stop_timeout", time.Second, 10*time.Minute)
	return err
}

func (c *Config) checkListener(s *web.Config) error {
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

func (c *Config) setMonitor(s *web.Config) error {
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

func (c *Config) setProxies(s *web.Config) error {
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

func setOrigins(s *web.Config) error {
	return parseOrigins("server.cors_origins", s.CORSOrigins)
}

// parseOrigins replaces origins of a key by their canonical form.
func parseOrigins(key string, origins []string) error {
	for i, text := range origins {
		origin, ok := web.ParseOrigin(text)
		if !ok {
			return fmt.Errorf("%s: %q is not an origin like https://app.example.org", key, text)
		}
		origins[i] = origin
	}
	return nil
}

func (c *Config) setOutgoing(s *web.Config) (err error) {
	s.WebhookAllow, err = outgoing.ParseAllow("webhooks.allow", c.values.Strings("webhooks.allow"))
	if err == nil {
		s.ProviderAllow, err = outgoing.ParseAllow("providers.allow", c.values.Strings("providers.allow"))
	}
	return err
}

// basePath matches a path that needs no encoding, without a slash at its end.
var basePath = regexp.MustCompile(`^(/[A-Za-z0-9_~-][A-Za-z0-9._~-]*)+$`)

// setPublicURL sets the base path, and the public URL, which must end with it.
func (c *Config) setPublicURL(s *web.Config) error {
	s.BasePath = strings.TrimSuffix(c.values.String("server.base_path"), "/")
	if s.BasePath != "" && (len(s.BasePath) > 100 || !basePath.MatchString(s.BasePath)) {
		return fmt.Errorf("server.base_path: %q is not a path like /admin-tool, of letters, digits and ._~-", s.BasePath)
	}
	s.PublicURL = c.PublicURL
	return checkPublic("server.public_url", s.PublicURL, s.BasePath)
}

// checkPublic checks a URL of this server: an origin, and the base path after it.
func checkPublic(name, text, base string) error {
	origin, path, ok := splitURL(text)
	switch {
	case text == "" || ok && path == base:
		return nil
	case ok && path == "":
		return fmt.Errorf("%s: %q must end with server.base_path: %s%s", name, text, origin, base)
	case ok && base == "" && basePath.MatchString(path):
		return fmt.Errorf("%s: %q has a path, below which a proxy must serve this server: set server.base_path to it", name, text)
	}
	return fmt.Errorf("%s: %q is not a URL like https://reeve.example.org%s", name, text, base)
}

// canonicalURL returns a URL with its origin in the canonical form, and without a slash at its end.
func canonicalURL(text string) string {
	text = strings.TrimSuffix(text, "/")
	if origin, path, ok := splitURL(text); ok {
		return origin + path
	}
	return text // checkPublic reports it
}

// splitURL returns the canonical origin of a URL, and its path. ok is false if it has something
// else.
func splitURL(text string) (origin, path string, ok bool) {
	u, err := url.Parse(text)
	if err != nil {
		return "", "", false
	}
	origin, ok = web.ParseOrigin(strings.TrimSuffix(text, u.Path))
	return origin, u.Path, ok
}

// setForward sets the origins of forward authentication. The URL of this server is
// server.public_url by default.
func (c *Config) setForward(s *web.Config) error {
	f := web.Forward{
		URL:         canonicalURL(c.values.String("forward_auth.url")),
		Origins:     c.values.Strings("forward_auth.origins"),
		CrossOrigin: c.values.Strings("forward_auth.cross_origin"),
	}
	if f.URL = cmp.Or(f.URL, s.PublicURL); f.URL == "" && len(f.Origins) > 0 {
		return errors.New("forward_auth.origins needs forward_auth.url or server.public_url, to which browsers are sent to sign in")
	}
	if err := checkPublic("forward_auth.url", f.URL, s.BasePath); err != nil {
		return err
	}
	if err := errors.Join(parseOrigins("forward_auth.origins", f.Origins),
		parseOrigins("forward_auth.cross_origin", f.CrossOrigin)); err != nil {
		return err
	}

	for _, origin := range f.CrossOrigin {
		if !slices.Contains(f.Origins, origin) {
			return fmt.Errorf("forward_auth.cross_origin: %q is not in forward_auth.origins",
				origin)
		}
	}

	s.Forward = f
	return nil
}

// hostName matches a host name in lower case or capitals, without a port.
var hostName = regexp.MustCompile(`^[A-Za-z0-9]([A-Za-z0-9.-]*[A-Za-z0-9])?$`)

func checkHosts(s *web.Config) error {
	for _, name := range s.AllowedHosts {
		if !hostName.MatchString(name) {
			return fmt.Errorf("server.allowed_hosts: %q is not a host name like reeve.example.org",
				name)
		}
	}
	return nil
}
