package outgoing

import (
	"net/netip"
	"net/url"
	"strconv"
	"strings"

	"reeve/store/errs"
)

// MaxURL is the maximum length of a URL, in bytes.
const MaxURL = 2000

// CheckURL returns an error about a field unless the text is an absolute http or https URL that
// requests may be sent to. What a host name resolves to is only known when a request is sent, and
// is checked then.
func CheckURL(field, text string, allow Allow) error {
	_, err := ParseURL(field, text, allow)
	return err
}

// ParseURL checks and parses a URL. An error contains at most its host.
func ParseURL(field, text string, allow Allow) (*url.URL, error) {
	u, err := url.Parse(text)
	switch {
	case len(text) > MaxURL:
		return nil, errs.Field(errs.Invalid, field, "must be at most %v characters", MaxURL)
	case err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Opaque != "" || u.Host == "":
		return nil, errs.Field(errs.Invalid, field,
			"must be a URL that starts with https:// or http://")
	case u.User != nil:
		return nil, errs.Field(errs.Invalid, field,
			"must have no username or password")
	case strings.Contains(text, "#"):
		return nil, errs.Field(errs.Invalid, field, "must not contain a fragment (#)")
	case !validPort(u):
		return nil, errs.Field(errs.Invalid, field, "must have a port from 1 to 65535, or none")
	}
	return u, checkHost(field, u, allow)
}

func validPort(u *url.URL) bool {
	if u.Port() == "" {
		return !strings.HasSuffix(u.Host, ":")
	}
	port, err := strconv.ParseUint(u.Port(), 10, 16)
	return err == nil && port > 0
}

// checkHost checks what is known of a destination before it is connected to.
func checkHost(field string, u *url.URL, allow Allow) error {
	host := u.Hostname()
	addr, err := netip.ParseAddr(host)
	isAddr := err == nil && addr.Zone() == ""
	plain := u.Scheme == "http"
	switch {
	case allow.hasHost(host) || isAddr && allow.has(addr):
		return nil
	case !isAddr && !isHostName(hostName(host)):
		return errs.Field(errs.Invalid, field,
			"must contain a valid host name, in ASCII, or an address such as 192.0.2.7 or [2001:db8::7]")
	case isAddr && !isPublic(addr):
		return errs.Field(errs.Invalid, field, "%s", (&RefusedError{Addr: addr, Key: allow.key}).Message(host))
	case plain && (isAddr || len(allow.networks) == 0):
		return errs.Field(errs.Invalid, field, "%s", (&RefusedError{Plain: true, Key: allow.key}).Message(host))
	}

	return nil
}
