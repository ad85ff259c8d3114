package auth

import (
	"net/netip"
	"strings"
)

// ClientAddr returns the client address of a request. X-Forwarded-For is used only if
// the peer is trusted, and is read from the right: trusted hops are skipped, and the
// first other hop is the client. forwarded holds the lines of the header.
func ClientAddr(peer netip.Addr, forwarded []string, trusted []netip.Prefix) netip.Addr {
	addr := peer.Unmap().WithZone("")
	hops := strings.Split(strings.Join(forwarded, ","), ",")
	for i := len(hops) - 1; i >= 0 && IsTrusted(addr, trusted); i-- {
		hop, err := netip.ParseAddr(strings.Trim(hops[i], " \t[]"))
		if err != nil {
			hopPort, err := netip.ParseAddrPort(strings.TrimSpace(hops[i]))
			if err != nil {
				break // ignore everything left of an unparsable hop
			}
			hop = hopPort.Addr()
		}
		addr = hop.Unmap().WithZone("")
	}
	return addr
}

// IsTrusted reports whether an address is in one of some networks.
func IsTrusted(addr netip.Addr, trusted []netip.Prefix) bool {
	for _, p := range trusted {
		if p.Contains(addr) {
			return true
		}
	}
	return false
}
