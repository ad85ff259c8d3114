package redis

import (
	"cmp"
	"fmt"
	"net/url"
	"regexp"
	"strconv"
	"strings"
)

// Target is an external Redis server to monitor.
type Target struct {
	name     string // name of the connection, in every event
	addr     string // host:port
	tls      bool
	username string // "" for the default user of Redis
	password string // "" for none
	db       int
}

var validName = regexp.MustCompile(`^[a-z0-9_-]{1,32}$`)

// ParseTargets parses texts like name=redis://user:password@host:6379/0. An error
// contains nothing of a text but a valid name: if a password has a character that
// should have been escaped, any other part may contain some of the password.
func ParseTargets(texts []string) ([]Target, error) {
	var targets []Target
	seen := map[string]bool{}
	for i, text := range texts {
		name, address, ok := strings.Cut(text, "=")
		if !ok || !validName.MatchString(name) {
			return nil,
				fmt.Errorf("entry %d must be like name=redis://host:6379, with a name of 1 to 32 lower-case letters, digits, - and _", i+1)
		}
		if seen[name] {
			return nil, fmt.Errorf("entry %d: the name %s is used twice", i+1, name)
		}

		seen[name] = true
		target, wrong := parseTarget(address)
		if wrong != "" {
			return nil, fmt.Errorf("%s: %s", name, wrong)
		}

		target.name = name
		targets = append(targets, target)
	}

	return targets, nil
}

// parseTarget returns errors in its own words, since those of net/url repeat the address.
func parseTarget(text string) (t Target, wrong string) {
	u, err := url.Parse(text)
	if err != nil {
		return t,
			"the address cannot be read; special characters in a user or password are written like %2F"
	}

	port, portErr := strconv.ParseUint(u.Port(), 10, 16)
	db, dbErr := strconv.ParseUint(cmp.Or(strings.TrimPrefix(u.Path, "/"), "0"), 10, 16)
	t = Target{addr: u.Host, tls: u.Scheme == "rediss", username: u.User.Username(), db: int(db)}
	t.password, _ = u.User.Password()
	switch {
	case u.Scheme != "redis" && !t.tls || u.Opaque != "":
		wrong = "the address must begin with redis:// or rediss://"
	case u.RawQuery != "" || u.ForceQuery || u.Fragment != "" || strings.HasSuffix(text, "#"):
		wrong = "the address must end with the database; ? and # in a user or password are written %3F and %23"
	case portErr != nil || port == 0 || u.Hostname() == "":
		wrong = "the address must have a host and a port, like redis://host:6379"
	case dbErr != nil:
		wrong = "the database must be a number from 0 to 65535, like redis://host:6379/0"
	case u.User != nil && t.password == "":
		wrong = "a user needs a password, like redis://user:password@host:6379; a password alone is written redis://:password@host:6379"
	}

	return t, wrong
}
