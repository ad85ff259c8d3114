package auth

import (
	"net/netip"
	"testing"
)

func TestClientAddr(t *testing.T) {
	trusted := []netip.Prefix{
		netip.MustParsePrefix("10.0.0.0/8"), netip.MustParsePrefix("127.0.0.1/32"),
		netip.MustParsePrefix("2001:db8:aaaa::/48"),
	}
	for _, c := range []struct {
		name, peer string
		forwarded  []string
		want       string
	}{
		{"no proxy", "203.0.113.1", nil, "203.0.113.1"},
		{"an untrusted peer is not believed", "203.0.113.1", []string{"198.51.100.1"},
			"203.0.113.1"},
		{"an untrusted peer names a trusted one", "203.0.113.1", []string{"10.0.0.1"},
			"203.0.113.1"},
		{"a trusted peer", "10.0.0.1", []string{"198.51.100.1"}, "198.51.100.1"},
		{"a trusted peer without the header", "10.0.0.1", nil, "10.0.0.1"},
		{"a trusted peer with an empty header", "10.0.0.1", []string{""}, "10.0.0.1"},
		{"the right one is the client, what stands left is its word", "10.0.0.1",
			[]string{"1.1.1.1, 198.51.100.1"}, "198.51.100.1"},
		{"trusted hops are skipped", "10.0.0.1",
			[]string{"1.1.1.1, 198.51.100.1, 10.0.0.3,10.9.9.9"}, "198.51.100.1"},
		{"over several lines", "10.0.0.1", []string{"1.1.1.1", "198.51.100.1", "10.0.0.3"},
			"198.51.100.1"},
		{"trusted hops alone", "10.0.0.1", []string{"10.0.0.2, 10.0.0.3"}, "10.0.0.2"},
		{"garbage", "10.0.0.1", []string{"unknown"}, "10.0.0.1"},
		{"garbage to the left of a client", "10.0.0.1", []string{"unknown, 198.51.100.1"},
			"198.51.100.1"},
		{"garbage between a client and a trusted hop", "10.0.0.1",
			[]string{"198.51.100.1, _hidden, 10.0.0.2"}, "10.0.0.2"},
		{"a comma too many", "10.0.0.1", []string{"198.51.100.1,"}, "10.0.0.1"},
		{"with a port", "10.0.0.1", []string{"198.51.100.1:4711"}, "198.51.100.1"},
		{"white space", "10.0.0.1", []string{"\t 198.51.100.1  "}, "198.51.100.1"},
		{"IPv6", "10.0.0.1", []string{"2001:db8::1"}, "2001:db8::1"},
		{"IPv6 with a port", "10.0.0.1", []string{"[2001:db8::1]:443"}, "2001:db8::1"},
		{"IPv6 in brackets", "10.0.0.1", []string{"[2001:db8::1]"}, "2001:db8::1"},
		{"IPv6 with a zone", "10.0.0.1", []string{"fe80::1%eth0"}, "fe80::1"},
		{"IPv4 in IPv6", "10.0.0.1", []string{"::ffff:198.51.100.1"}, "198.51.100.1"},
		{"a peer that is IPv4 in IPv6", "::ffff:10.0.0.1", []string{"198.51.100.1"},
			"198.51.100.1"},
		{"a hop that is trusted IPv4 in IPv6", "10.0.0.1",
			[]string{"198.51.100.1, ::ffff:10.0.0.2"}, "198.51.100.1"},
		{"a trusted IPv6 peer", "2001:db8:aaaa::5", []string{"198.51.100.1"}, "198.51.100.1"},
		{"a peer with a zone", "fe80::1%eth0", []string{"198.51.100.1"}, "fe80::1"},
		{"the loopback next door is not trusted", "127.0.0.2", []string{"198.51.100.1"},
			"127.0.0.2"},
	} {
		if got := ClientAddr(netip.MustParseAddr(c.peer), c.forwarded, trusted); got.String() != c.want {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
	}
	if got := ClientAddr(netip.MustParseAddr("10.0.0.1"), []string{"198.51.100.1"}, nil); got.String() != "10.0.0.1" {
		t.Errorf("nobody is trusted, yet %s", got)
	}
}

func TestNetwork(t *testing.T) {
	for addr, want := range map[string]string{
		"203.0.113.1": "203.0.113.1", "2001:db8:1:2:3:4:5:6": "2001:db8:1:2::/64",
		"2001:db8:1:2::": "2001:db8:1:2::/64",
		"fe80::1%eth0":   "fe80::/64", "::1": "::/64",
	} {
		if got := Network(netip.MustParseAddr(addr)); got != want {
			t.Errorf("%s: %s, want %s", addr, got, want)
		}
	}
}
