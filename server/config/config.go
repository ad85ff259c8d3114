// Package config reads and checks Reeve's configuration: the values that the program
// needs before it opens the database, and those that could lock everyone out if they
// were changed in the console. Everything else is a setting in the database.
//
// The table keys declares every key with its default and its documentation; Example prints
// it as config.example.toml. Load returns a Config, from which Server makes the
// configuration of the HTTP server.
//
// Each source overrides those before it: defaults, file, environment, flags. An unknown key
// is an error in a file, where it is probably a mistake, and a warning in the environment,
// which platforms add variables to. Effective values never contain a secret.
//
//	c, err := config.Load("reeve.toml", map[string]string{"server.listen": ":8080"})
//	db, err := store.Open(c.DataDir, options)
//	settings, err := c.Server()
package config

import (
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/knadh/koanf/providers/confmap"
	"github.com/knadh/koanf/v2"

	"reeve/store/kv"
)

// DefaultFile is read if it exists and no other file is given.
const DefaultFile = "config.toml"

// Config is the configuration in effect.
type Config struct {
	File         string // path of the file that was read; "" for none
	DataDir      string // directory of the database
	BcryptCost   int    // cost of a password hash, 10 to 15
	Breached     string // path of a list of leaked passwords; "" for none
	LoginLogDays int    // retention of the sign-in log; 0 uses the setting
	LoginLogRows int    // maximum length of the sign-in log; 0 uses the setting
	PublicURL    string // URL at which people reach the server; "" if unknown. Server checks it
	LogLevel     string // debug, info, warn or error
	ChangeLog    kv.LogLimits
	Files        *kv.FileStorage // bucket that has the contents of files, too; nil for none
	Cluster      *Cluster        // nil for one node
	Warnings     []string

	path    string            // argument of Load
	flags   map[string]string // argument of Load
	values  *koanf.Koanf
	sources map[string]string // file, environment or flag, by key; a missing key has its default
	sealed  bool              // made by Default, so that Reload changes nothing
}

// Load merges defaults, the file at path, the environment and flags, and checks the
// values that every command needs. An empty path means config.toml if that exists.
// flags maps configuration keys to values.
func Load(path string, flags map[string]string) (*Config, error) {
	given := path
	if path == "" {
		if _, err := os.Stat(DefaultFile); err == nil {
			path = DefaultFile
		}
	}

	c := newConfig(flags)
	c.File, c.path = path, given
	for _, load := range []func() error{c.loadDefaults, c.loadFile, c.loadEnvironment} {
		if err := load(); err != nil {
			return nil, err
		}
	}
	return c, c.finish()
}

// Default returns the default configuration with some values, by key, which takes nothing from a
// file or the environment.
func Default(values map[string]string) (*Config, error) {
	c := newConfig(values)
	c.sealed = true
	if err := c.loadDefaults(); err != nil {
		return nil, err
	}
	return c, c.finish()
}

// Given reports whether a key was set to a value, instead of having its default.
func (c *Config) Given(name string) bool { return c.sources[name] != "" }

func newConfig(flags map[string]string) *Config {
	return &Config{flags: flags, values: koanf.New("."), sources: map[string]string{}}
}

// finish sets the values of flags, reads what the program uses itself, and checks all.
func (c *Config) finish() error {
	if err := c.loadFlags(c.flags); err != nil {
		return err
	}
	err := errors.Join(c.read(), c.check())
	if err == nil && c.unpinged() {
		c.Warnings = append(c.Warnings, unpinged)
	}
	return err
}

// read sets the fields from the values.
func (c *Config) read() error {
	c.DataDir, c.LogLevel = c.values.String("data.dir"), c.values.String("log.level")
	c.PublicURL = canonicalURL(c.values.String("server.public_url")) // Server reports any other
	c.BcryptCost, c.Breached = c.values.Int("auth.bcrypt_cost"), c.values.String("auth.breached_passwords")
	c.LoginLogDays, c.LoginLogRows = c.values.Int("security.login_log_days"), c.values.Int("security.login_log_rows")
	return errors.Join(c.setChangeLog(), c.setFiles(), c.setCluster())
}

// setChangeLog reads the limits of the change log.
func (c *Config) setChangeLog() (err error) {
	limits := &c.ChangeLog
	if limits.MaxAge, err = c.days("audit.max_age"); err != nil {
		return err
	}
	if limits.MinAge, err = c.days("audit.min_age"); err != nil {
		return err
	}
	if limits.MaxAge != 0 && limits.MaxAge < limits.MinAge {
		return errors.New("audit.max_age must not be less than audit.min_age")
	}

	limits.MaxBytes = c.values.Int64("audit.max_size")
	if limits.MaxBytes < 0 || limits.MaxBytes > 0 && limits.MaxBytes < 16<<20 {
		return fmt.Errorf("audit.max_size must be 0 or a number of at least %d", 16<<20)
	}

	return nil
}

// days reads a duration that may be in days, like 90d.
func (c *Config) days(name string) (time.Duration, error) {
	text := c.values.String(name)
	if number, inDays := strings.CutSuffix(text, "d"); inDays {
		if n, err := strconv.Atoi(number); err == nil && n >= 0 && n <= 36_500 {
			return time.Duration(n) * 24 * time.Hour, nil
		}
	}
	d, err := time.ParseDuration(text)
	if err != nil || d < 0 {
		return 0, fmt.Errorf("%s must be a duration such as 90d or 24h", name)
	}
	return d, nil
}

func (c *Config) loadDefaults() error {
	defaults := map[string]any{}
	for _, key := range keys {
		defaults[key.name] = key.value
	}
	return c.values.Load(confmap.Provider(defaults, "."), nil)
}

func (c *Config) loadFlags(flags map[string]string) error {
	set := map[string]any{}
	for name, text := range flags {
		known, ok := find(name)
		if !ok {
			return fmt.Errorf("unknown key %s", name)
		}
		set[name], c.sources[name] = known.parse(text), "flag"
		if err := known.checkType(set[name]); err != nil {
			return err
		}
	}
	return c.values.Load(confmap.Provider(set, "."), nil)
}
