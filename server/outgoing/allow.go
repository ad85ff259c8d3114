package outgoing

import (
	"fmt"
	"net/netip"
	"strings"
	"unicode"
)

// Allow is the destinations that a key of the configuration names: servers that are not on the
// Internet, and those that may be reached by plain http. The zero value names none.
type Allow struct {
	key      string // name in the configuration, for errors
	networks []netip.Prefix
	hosts    map[string]bool // lower case, without a final dot
}

// ParseAllow parses the value of a key of the configuration: addresses (10.0.0.5, ::1), networks
// (10.0.0.0/8) and host names (app.internal). An error names the key and the entry.
func ParseAllow(key string, texts []string) (Allow, error) {
	allow := Allow{key: key, hosts: map[string]bool{}}
	for _, text := range texts {
		addr, errAddr := netip.ParseAddr(text)
		network, errNetwork := netip.ParsePrefix(text)
		switch host := hostName(text); {
		case errAddr == nil && addr.Zone() == "":
			addr = addr.Unmap()
			allow.networks = append(allow.networks, netip.PrefixFrom(addr, addr.BitLen()))
		case errNetwork == nil && network.Addr().Is4In6():
			return Allow{}, fmt.Errorf("%s: %q must be an IPv4 network, like 10.0.0.0/8", key, text)
		case errNetwork == nil && network != network.Masked():
			return Allow{},
				fmt.Errorf("%s: %q is not the beginning of a network; write %s for the network, or %s for the address", key, text, network.Masked(), network.Addr())
		case errNetwork == nil:
			allow.networks = append(allow.networks, network)
		case isHostName(host):
			allow.hosts[host] = true
		default:
			return Allow{},
				fmt.Errorf("%s: %q is neither an address, nor a network like 10.0.0.0/8, nor a host name like app.internal", key, text)
		}
	}
	return allow, nil
}

// hasHost reports whether a host name is named.
func (a Allow) hasHost(host string) bool { return a.hosts[hostName(host)] }

// has reports whether an address is named, or the IPv4 address in it.
func (a Allow) has(addr netip.Addr) bool {
	addr = addr.WithZone("").Unmap()
	inner, ok := embedded4(addr)
	return within(addr, a.networks) || ok && within(inner, a.networks)
}

// hostName returns the form by which host names are compared; "" for one that is not in
// ASCII, since some other letters have an ASCII letter as their lower case.
func hostName(host string) string {
	if strings.ContainsFunc(host, func(r rune) bool { return r > unicode.MaxASCII }) {
		return ""
	}
	return strings.TrimSuffix(strings.ToLower(host), ".")
}

// maxHostName is the maximum length of a name in DNS.
const maxHostName = 253

// isHostName reports whether a text in the form of hostName can be a name in DNS, and
// not an address in an unusual form: resolvers read 127.1, 0x7f000001 and 2130706433 as
// 127.0.0.1.
func isHostName(host string) bool {
	if host == "" || len(host) > maxHostName {
		return false
	}
	labels := strings.Split(host, ".")
	for _, label := range labels {
		if label == "" || len(label) > 63 || strings.ContainsFunc(label, notInHostName) {
			return false
		}
	}
	last := labels[len(labels)-1]
	return strings.Trim(last, "0123456789") != "" && !strings.HasPrefix(last, "0x")
}

func notInHostName(r rune) bool {
	return (r < 'a' || r > 'z') && (r < '0' || r > '9') && r != '-' && r != '_'
}
