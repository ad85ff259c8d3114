package auth

import (
	"net/netip"
	"strings"
)

// ClientAddr is the address that a request comes from. What X-Forwarded-For says
// is believed only from a trusted peer, and then from the right: trusted hops are
// skipped, the first other one is the client. forwarded is the header's lines.
func ClientAddr(peer netip.Addr, forwarded []string, trusted []netip.Prefix) netip.Addr {
	addr := peer.Unmap().WithZone("")
	hops := strings.Split(strings.Join(forwarded, ","), ",")
	for i := len(hops) - 1; i >= 0 && isTrusted(addr, trusted); i-- {
		hop, err := netip.ParseAddr(strings.Trim(hops[i], " \t[]"))
		if err != nil {
			hopPort, err := netip.ParseAddrPort(strings.TrimSpace(hops[i]))
			if err != nil {
				break // what stands left of nonsense is nonsense
			}
			hop = hopPort.Addr()
		}
		addr = hop.Unmap().WithZone("")
	}
	return addr
}

func isTrusted(addr netip.Addr, trusted []netip.Prefix) bool {
	for _, p := range trusted {
		if p.Contains(addr) {
			return true
		}
	}
	return false
}
