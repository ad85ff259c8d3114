package e2e

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	reeve "reeve/embed/sdk/go"
)

// TestProtect_KeysOfPermissions checks that both clients accept exactly those keys of permissions
// that the server accepts.
func TestProtect_KeysOfPermissions(t *testing.T) {
	t.Parallel()
	c := signedIn(t, start(t, t.TempDir()))
	client := goClient(t, reeve.Options{URL: "http://127.0.0.1"})
	var keys, accepted, inGo []string
	for _, k := range []struct {
		key   string
		valid bool
	}{
		{"orders", true},
		{"o", true},
		{"shop.orders", true},
		{"shop.order.refund", true},
		{"a.b.c.d", true},
		{"a.b.c.d.e", true},
		{"a.b.c.d.e.f", false},
		{"order-lines", true},
		{"order_lines.v2", true},
		{"order-.x_", true},
		{strings.Repeat("k", 100), true},
		{strings.Repeat("k", 101), false},
		{"", false},
		{"Orders", false},
		{"2orders", false},
		{"shop.2nd", false},
		{"-orders", false},
		{"_orders", false},
		{"shop.", false},
		{".orders", false},
		{"shop..orders", false},
		{"shop orders", false},
		{"shop,orders", false},
		{"shop.*", false},
		{"bestellungen.für", false},
		{"orders\n", false},
	} {
		keys = append(keys, k.key)
		a := c.call("POST", "/admin/rule", object("type", 0, "key", k.key, "name", "N"))
		if (a.status == 200) != k.valid {
			t.Errorf("the server on %q: %d %s", k.key, a.status, a.raw)
		}
		if k.valid {
			accepted = append(accepted, k.key)
		}
		if protects(client, k.key) {
			inGo = append(inGo, k.key)
		}
	}

	if !slices.Equal(inGo, accepted) {
		t.Errorf("Go accepts %q, the server %q", inGo, accepted)
	}

	text, err := json.Marshal(keys)
	noErr(t, err)
	out, err := nodeScript(t, "permission.mjs", "KEYS="+string(text)).Output()
	noErr(t, err)
	var inTypeScript []string
	noErr(t, json.Unmarshal(out, &inTypeScript))
	if !slices.Equal(inTypeScript, accepted) {
		t.Errorf("TypeScript accepts %q, the server %q", inTypeScript, accepted)
	}
}

// protects reports whether the Go client accepts a text as the key of a permission.
func protects(c *reeve.Client, key string) (ok bool) {
	defer func() { ok = recover() == nil }()
	c.Protect(key)
	return true
}
