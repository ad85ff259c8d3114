package outgoing

import "net/netip"

// refused4 are the IPv4 networks that are not on the Internet, from the registry of
// special-purpose addresses (IANA, RFC 6890).
var refused4 = prefixes(
	"0.0.0.0/8",       // this host; Linux connects 0.0.0.0 to the loopback interface
	"10.0.0.0/8",      // private
	"100.64.0.0/10",   // shared between customers of a carrier
	"127.0.0.0/8",     // loopback
	"169.254.0.0/16",  // link-local, with the metadata services of clouds
	"172.16.0.0/12",   // private
	"192.0.0.0/24",    // protocol assignments
	"192.0.2.0/24",    // documentation
	"192.88.99.0/24",  // 6to4 relays
	"192.168.0.0/16",  // private
	"198.18.0.0/15",   // benchmarks
	"198.51.100.0/24", // documentation
	"203.0.113.0/24",  // documentation
	"224.0.0.0/4",     // multicast
	"240.0.0.0/4",     // reserved, and broadcast
)

// global6 is the part of IPv6 that is on the Internet, and refused6 what is not within
// it. All else is refused: loopback, unspecified, private (fc00::/7), link-local,
// site-local, multicast, and addresses that contain an IPv4 address (::/96).
var (
	global6  = netip.MustParsePrefix("2000::/3")
	refused6 = prefixes(
		"2001::/23",     // protocol assignments: Teredo, benchmarks, ORCHID
		"2001:db8::/32", // documentation
		"2002::/16",     // 6to4, which contains an IPv4 address
		"3fff::/20",     // documentation
	)
)

// nat64 are the prefixes whose last 4 bytes are an IPv4 address (RFC 6052, RFC 8215).
// Within 64:ff9b:1::/48 an operator may choose a longer or shorter prefix, by which the
// IPv4 address has another place; only the one at the end is supported.
var nat64 = prefixes("64:ff9b::/96", "64:ff9b:1::/96")

func prefixes(texts ...string) []netip.Prefix {
	list := make([]netip.Prefix, len(texts))
	for i, text := range texts {
		list[i] = netip.MustParsePrefix(text)
	}
	return list
}

func within(addr netip.Addr, list []netip.Prefix) bool {
	for _, prefix := range list {
		if prefix.Contains(addr) {
			return true
		}
	}
	return false
}

// embedded4 returns the IPv4 address that NAT64 translates an address to.
func embedded4(addr netip.Addr) (netip.Addr, bool) {
	if !within(addr, nat64) {
		return netip.Addr{}, false
	}
	b := addr.As16()
	return netip.AddrFrom4([4]byte(b[12:])), true
}

// isPublic reports whether an address is on the Internet.
func isPublic(addr netip.Addr) bool {
	addr = addr.WithZone("").Unmap()
	if inner, ok := embedded4(addr); ok {
		addr = inner
	}
	if addr.Is4() {
		return !within(addr, refused4)
	}
	return global6.Contains(addr) && !within(addr, refused6)
}
