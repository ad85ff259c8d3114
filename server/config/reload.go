package config

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// reloadable are the keys that a running server can change. The files of a certificate are read again
// in any case.
var reloadable = []string{
	"forward_auth.cross_origin", "forward_auth.origins", "log.level", "metrics.token",
	"server.allowed_hosts", "server.cors_origins", "server.tls_cert", "server.tls_key",
	"server.trusted_proxies",
}

// Reload reads the configuration again, from the sources that Load was given. It returns the names of
// the keys that have changed, and of those that have changed and keep their values until a restart. Nothing changes one of Default.
func (c *Config) Reload() (next *Config, changed, kept []string, err error) {
	if c.sealed {
		return c, nil, nil, nil
	}
	if next, err = Load(c.path, c.flags); err != nil {
		return nil, nil, nil, err
	}
	all := map[string]bool{}
	for _, key := range slices.Concat(c.known(), next.known()) {
		all[key.name] = true
	}
	for _, key := range slices.Sorted(maps.Keys(all)) {
		was, is := c.values.Get(key), next.values.Get(key)
		if fmt.Sprint(was) == fmt.Sprint(is) {
			continue
		}
		if slices.Contains(reloadable, key) || strings.HasPrefix(key, "backup.") {
			changed = append(changed, key)
			continue
		}
		kept = append(kept, key)
		if err := next.values.Set(key, was); err != nil {
			return nil, nil, nil, err
		}
		next.sources[key] = c.sources[key]
	}
	return next, changed, kept, next.read()
}
