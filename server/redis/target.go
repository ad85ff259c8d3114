package redis

import (
	"fmt"
	"net"
	"net/url"
	"regexp"
	"strconv"
	"strings"
)

// Target is an external Redis server to monitor.
type Target struct {
	name     string // name of the connection, in every event
	addr     string // host:port
	host     string // host name for the certificate
	tls      bool
	username string // "" for the default user of Redis
	password string // "" for none
	db       int
}

// embedded is the reserved connection name of the program's own counters.
const embedded = "embedded"

// maxDB is the maximum database number; servers have 16 databases by default.
const maxDB = 1<<16 - 1

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
			return nil, fmt.Errorf("entry %d must be like name=redis://host:6379, with a name of 1 to 32 lower-case letters, digits, - and _", i+1)
		}
		if name == embedded {
			return nil, fmt.Errorf("entry %d: the name %s is reserved", i+1, name)
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
		return t, "the address cannot be read; special characters in a user or password are written like %2F"
	}
	if u.Scheme != "redis" && u.Scheme != "rediss" || u.Opaque != "" {
		return t, "the address must begin with redis:// or rediss://"
	}
	if u.RawQuery != "" || u.ForceQuery || u.Fragment != "" || strings.HasSuffix(text, "#") {
		return t, "the address must end with the database; ? and # in a user or password are written %3F and %23"
	}
	port, err := strconv.ParseUint(u.Port(), 10, 16)
	if err != nil || port == 0 || u.Hostname() == "" {
		return t, "the address must have a host and a port, like redis://host:6379"
	}
	if db := strings.TrimPrefix(u.Path, "/"); db != "" {
		n, err := strconv.ParseUint(db, 10, 64)
		if err != nil || n > maxDB {
			return t, fmt.Sprintf("the database must be a number from 0 to %d, like redis://host:6379/0", maxDB)
		}
		t.db = int(n)
	}
	if u.User != nil {
		t.username = u.User.Username()
		t.password, _ = u.User.Password()
		if t.password == "" {
			return t, "a user needs a password, like redis://user:password@host:6379; a password alone is written redis://:password@host:6379"
		}
	}
	t.host, t.addr, t.tls = u.Hostname(), net.JoinHostPort(u.Hostname(), strconv.FormatUint(port, 10)), u.Scheme == "rediss"
	return t, ""
}
