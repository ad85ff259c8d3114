package config

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// check checks the values that every command needs. Server checks the others.
func (c *Config) check() error {
	if cost := c.values.Int64("auth.bcrypt_cost"); cost < 10 || cost > 15 {
		return errors.New("auth.bcrypt_cost must be a number from 10 to 15")
	}
	if err := c.checkOptional("security.login_log_days", 1, 3650); err != nil {
		return err
	}
	if err := c.checkOptional("security.login_log_rows", 1000, 10_000_000); err != nil {
		return err
	}
	if c.DataDir == "" {
		return errors.New("data.dir must not be empty")
	}
	if token := c.values.String("metrics.token"); token != "" &&
		(len(token) < 16 || strings.ContainsFunc(token, notPrintable)) {
		return errors.New("metrics.token must be at least 16 printable ASCII characters without spaces")
	}
	if !slices.Contains([]string{"debug", "info", "warn", "error"}, c.LogLevel) {
		return errors.New("log.level must be debug, info, warn or error")
	}

	return nil
}

// checkOptional checks a number that may also be 0.
func (c *Config) checkOptional(name string, least, most int64) error {
	if n := c.values.Int64(name); n != 0 && (n < least || n > most) {
		return fmt.Errorf("%s must be 0 or a number from %d to %d", name, least, most)
	}
	return nil
}

// notPrintable reports whether r is anything but a printable ASCII character. A space
// counts as not printable.
func notPrintable(r rune) bool { return r <= ' ' || r > '~' }
