package store

import (
	"net/netip"
	"net/url"
	"regexp"
	"strings"

	"reeve/store/errs"
)

// checkOrigins returns an error if a text is no list of origins, for a setting that is one.
func (b *Builtin) checkOrigins(text string) error {
	if !b.origins {
		return nil
	}
	for origin := range strings.FieldsSeq(strings.ReplaceAll(text, ",", " ")) {
		switch {
		case !isOrigin(origin):
			return errs.Say("must be origins like https://app.example.org, separated by commas")
		case b.returns && !isReturnOrigin(origin):
			return errs.Say("must be origins with https, or with http on localhost or a loopback address: %s is neither", origin)
		}
	}
	return nil
}

// isOrigin reports whether a text is the origin of a web page in the form of browsers: without a
// path, and without the port that the scheme has anyway.
func isOrigin(text string) bool {
	u, err := url.Parse(text)
	return err == nil && (u.Scheme == "http" && u.Port() != "80" || u.Scheme == "https" && u.Port() != "443") &&
		u.Hostname() != "" && u.User == nil && text == u.Scheme+"://"+strings.ToLower(u.Host)
}

// plainHost matches a host with a port, which can stand in a content security policy.
var plainHost = regexp.MustCompile(`^([a-z0-9._-]+|\[[0-9a-f:.]+\])(:[0-9]{1,5})?$`)

// isReturnOrigin reports whether an origin may get codes, which no one on the way can read.
func isReturnOrigin(origin string) bool {
	u, err := url.Parse(origin)
	if err != nil || !plainHost.MatchString(u.Host) {
		return false
	}
	addr, err := netip.ParseAddr(u.Hostname())
	return u.Scheme == "https" || u.Hostname() == "localhost" || err == nil && addr.IsLoopback()
}

// Origins returns the origins in a setting that origins has declared.
func (s *TextSetting) Origins(tx *Tx) []string {
	return strings.Fields(strings.ReplaceAll(s.Get(tx), ",", " "))
}
