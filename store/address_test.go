package store

import (
	"strings"
	"testing"
)

func TestIsAddress(t *testing.T) {
	long := strings.Repeat("a", 64)
	for text, want := range map[string]bool{
		"": true, "a@b.org": true, "a.b+c@mail.b.org": true, "o'brien@b.org": true,
		"a@b-c.org": true, "a@1.org": true, "!#$%&'*+-/=?^_`{|}~@b.org": true,
		"zoë@exämple.org": true, "用户@例子.公司": true, "a@xn--exmple-cua.org": true, "A@B.ORG": true,
		long + "@b.org": true, "a@" + long[:63] + ".org": true,
		"a@" + strings.Repeat("a.", 127) + "b":   false,
		"a@" + strings.Repeat("a.", 100) + "org": true,
		"a@b..org":                               false, ".a@b.org": false, "a.@b.org": false,
		"a..b@b.org": false,
		"a@-b.org":   false, "a@b-.org": false, "a@b.-org": false, "a@b.org-": false,
		long + "a@b.org": false, strings.Repeat("ë", 33) + "@b.org": false,
		"a@" + long + ".org": false,
		"a@b":                false, "a@": false, "@b.org": false, "a": false, "a@b@c.org": false,
		"a b@c.org": false, "a@b c.org": false, "a@.b.org": false, "a@b.org.": false,
		`"a"@b.org`: false, "a@[192.0.2.1]": false, "a@b_c.org": false, "<a@b.org>": false,
		"a@b.org\n": false, "a\x00@b.org": false, "a,b@c.org": false, `a\b@c.org`: false,
	} {
		if got := IsAddress(text); got != want {
			t.Errorf("%q: %v", text, got)
		}
	}
}
