package outgoing

import (
	"net/netip"
	"strings"
	"testing"

	"reeve/store/errs"
)

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// allowing parses entries that must be valid.
func allowing(t testing.TB, texts ...string) Allow {
	t.Helper()
	allow, err := ParseAllow("webhooks.allow", texts)
	must(t, err)
	return allow
}

func TestAllow(t *testing.T) {
	allow := allowing(t, "10.0.0.5", "172.16.0.0/12", "::1", "::ffff:192.168.0.9", "fd00::/8",
		"App.Internal", "fqdn.example.", "a_b-1.example", "localhost")
	for text, want := range map[string]bool{
		"10.0.0.5": true, "10.0.0.6": false, "172.31.255.255": true, "172.32.0.0": false,
		"::1": true, "::2": false,
		"192.168.0.9": true, "::ffff:192.168.0.9": true, "::ffff:10.0.0.5": true,
		"::ffff:10.0.0.6":   false,
		"64:ff9b::10.0.0.5": true, "64:ff9b::10.0.0.6": false, "fd12::1": true,
		"fd12::1%eth0": true, "fc12::1": false, "8.8.8.8": false,
	} {
		if got := allow.has(netip.MustParseAddr(text)); got != want {
			t.Errorf("%s: %v, want %v", text, got, want)
		}
	}

	for host, want := range map[string]bool{
		"app.internal": true, "APP.internal": true, "app.internal.": true, "x.app.internal": false,
		"internal": false, "fqdn.example": true,
		"a_b-1.example": true, "localhost": true, "app.\u0130nternal": false, "": false,
	} {
		if got := allow.hasHost(host); got != want {
			t.Errorf("%q: %v, want %v", host, got, want)
		}
	}

	if zero := (Allow{}); zero.has(netip.MustParseAddr("127.0.0.1")) || zero.hasHost("localhost") {
		t.Error("the zero value names something")
	}
}

func TestInvalidAllow(t *testing.T) {
	for text, want := range map[string]string{
		"10.0.0.0/33": "neither", "10.0.0.300": "neither", "": "neither", " 10.0.0.1": "neither",
		"*.internal": "neither", "http://app": "neither",
		"app:8080": "neither", "10.0.0.1:80": "neither", "127.1": "neither", "0x7f.1": "neither",
		"0x7f000001": "neither", "2130706433": "neither",
		"0177.0.0.1": "neither", "bücher.example": "neither", "a..b": "neither",
		"fe80::1%eth0": "neither", strings.Repeat("a", 64): "neither",
		strings.Repeat("abc.", 64): "neither", "10.0.0.5/8": "10.0.0.0/8",
		"::ffff:10.0.0.0/104": "IPv4 network",
	} {
		if _, err := ParseAllow("webhooks.allow", []string{"10.0.0.1", text}); err == nil ||
			!strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), `"`+text+`"`) {
			t.Errorf("%q: %v", text, err)
		}
	}
}

func TestAllow_NonPublicAddresses(t *testing.T) {
	for text, want := range map[string]bool{
		"8.8.8.8": true, "1.1.1.1": true, "172.15.0.1": true, "172.32.0.1": true,
		"100.63.0.1": true, "100.128.0.1": true, "223.255.255.255": true, "192.0.1.1": true,
		"0.0.0.0": false, "0.1.2.3": false, "10.1.2.3": false, "100.64.0.1": false,
		"100.127.255.255": false, "127.0.0.1": false, "127.255.255.254": false,
		"169.254.169.254": false, "172.16.0.1": false, "172.31.255.255": false, "192.0.0.1": false,
		"192.0.2.1": false, "192.88.99.1": false, "192.168.1.1": false,
		"198.18.0.1": false, "198.19.255.255": false, "198.51.100.1": false, "203.0.113.1": false,
		"224.0.0.1": false, "239.255.255.255": false,
		"240.0.0.1": false, "255.255.255.255": false,
		"2600::1": true, "2a00:1450:4001::1": true, "::": false, "::1": false,
		"::127.0.0.1": false, "::8.8.8.8": false,
		"::ffff:127.0.0.1": false, "::ffff:10.0.0.1": false, "::ffff:169.254.169.254": false,
		"::ffff:8.8.8.8": true, "::ffff:0:8.8.8.8": false,
		"64:ff9b::8.8.8.8": true, "64:ff9b::127.0.0.1": false, "64:ff9b::169.254.169.254": false,
		"64:ff9b::1:8.8.8.8": false,
		"64:ff9b:1::8.8.8.8": true, "64:ff9b:1::10.0.0.1": false,
		"64:ff9b:1:a00:0:500:808:808": false,
		"100::1":                      false, "2001::1": false,
		"2001:0:4136:e378:8000:63bf:3fff:fdd2": false,
		"2001:2::1":                            false, "2001:10::1": false, "2001:20::1": false,
		"2001:db8::1": false, "2001:200::1": true, "2002::1": false, "2002:7f00:1::": false,
		"2002:808:808::1": false, "3fff::1": false, "4000::1": false, "5f00::1": false,
		"fc00::1": false, "fd12:3456::1": false, "fe80::1": false, "fe80::1%eth0": false,
		"febf::1": false, "fec0::1": false, "ff02::1": false, "ff0e::1": false,
	} {
		if got := isPublic(netip.MustParseAddr(text)); got != want {
			t.Errorf("%s: %v, want %v", text, got, want)
		}
	}
}

func TestCheckURL(t *testing.T) {
	allow := allowing(t, "10.0.0.0/24", "::1", "app.internal")
	for text, code := range map[string]string{
		"https://example.org/hook?a=b": "", "https://example.org": "",
		"HTTPS://EXAMPLE.org:8443/": "", "https://8.8.8.8/": "", "https://[2600::1]:443/": "",
		"https://xn--bcher-kva.example/": "", "https://example.org./": "", "https://localhost/": "",
		"http://10.0.0.5:80/": "", "https://10.0.0.5/": "", "http://[::1]:8080/x": "",
		"http://app.internal/": "", "http://APP.internal.:80/": "", "https://app.internal/": "",
		"http://example.org/": "", // it may resolve to 10.0.0.5
		"http://8.8.8.8/":     "webhook_plain", "https://10.0.1.5/": "webhook_address",
		"http://10.0.1.5/": "webhook_address", "https://127.0.0.1/": "webhook_address",
		"https://[::ffff:127.0.0.1]/": "webhook_address",
		"https://[::ffff:7f00:1]/":    "webhook_address",
		"https://[::127.0.0.1]/":      "webhook_address", "https://[::]/": "webhook_address",
		"https://[64:ff9b::127.0.0.1]/":  "webhook_address",
		"https://169.254.169.254/latest": "webhook_address", "https://0.0.0.0/": "webhook_address",
		"https://[fe80::1]/":  "webhook_address",
		"https://2130706433/": "webhook_url_host", "https://0x7f000001/": "webhook_url_host",
		"https://0x7f.0.0.1/": "webhook_url_host", "https://0X7F.1/": "webhook_url_host",
		"https://0177.0.0.1/": "webhook_url_host", "https://127.1/": "webhook_url_host",
		"https://127.0.0.1./": "webhook_url_host", "https://10.0.0.0x1/": "webhook_url_host",
		"https://bücher.example/":  "webhook_url_host",
		"https://a%c3%bc.example/": "webhook_url_host", "https://１２７.0.0.1/": "webhook_url_host",
		"https://a..b/":             "webhook_url_host",
		"https://[fe80::1%25eth0]/": "webhook_url_host", "https://a*b/": "webhook_url_host",
		"https://.../": "webhook_url_host",
		"":             "webhook_url", "example.org": "webhook_url",
		"//example.org/":     "webhook_url",
		"ftp://example.org/": "webhook_url", "file:///etc/passwd": "webhook_url",
		"https:example.org": "webhook_url", "https:///x": "webhook_url", "https://": "webhook_url",
		"https://a b/": "webhook_url", "https://a/\n": "webhook_url",
		" https://example.org": "webhook_url", "javascript:alert(1)": "webhook_url",
		"https://a:b/": "webhook_url", "https://[::1/": "webhook_url",
		"https://user@example.org/":        "webhook_url_user",
		"https://user:secret@example.org/": "webhook_url_user",
		"https://@example.org/":            "webhook_url_user",
		"https://example.org\\@evil/":      "webhook_url",
		"https://example.org/#x":           "webhook_url_fragment",
		"https://example.org/#":            "webhook_url_fragment",
		"https://example.org:/":            "webhook_url_port",
		"https://example.org:0/":           "webhook_url_port",
		"https://example.org:65536/":       "webhook_url_port", "https://example.org:65535/": "",
		"https://example.org/" + strings.Repeat("a", MaxURL-20): "",
		"https://example.org/" + strings.Repeat("a", MaxURL-19): "max_length",
	} {
		err := CheckURL("url", text, allow)
		if err == nil && code != "" ||
			err != nil &&
				(!errs.Is(err, errs.Invalid) || errs.Of(err).Fields["url"].Code() != code) {
			t.Errorf("%s: %v, want %q", text, err, code)
		}
		if err != nil && strings.Contains(err.Error(), "secret") {
			t.Errorf("%v has the password", err)
		}
	}
	if err := CheckURL("url", "http://example.org/", Allow{}); err == nil {
		t.Error("plain http is accepted, although no destination is allowed")
	}
}
