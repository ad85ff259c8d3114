package mail

import (
	"net/mail"
	"strings"
	"testing"
)

func TestCheckAddress(t *testing.T) {
	local, label := strings.Repeat("l", maxLocal), strings.Repeat("d", maxLabel)
	domain := strings.Repeat(label+".", 2) + strings.Repeat("d",
		maxAddress-maxLocal-1-2*(maxLabel+1))
	for _, text := range []string{
		"ada@example.org", "ada@localhost", "ada.lovelace+reeve@mx1.example.org",
		"o'babbage@example.org", "!#$%&*/=?^_`{|}~-@example.org",
		"用户@例子.测试", "ada@bücher.example", "ada@xn--bcher-kva.example", "a@b", "1@2.3",
		local + "@" + domain,
	} {
		if !CheckAddress(text) {
			t.Errorf("%q is not accepted", text)
		}
		if (&mail.Address{Address: text}).String() != path(text) {
			t.Errorf("%q is quoted in a header", text)
		}
	}

	for _, text := range []string{
		"", "ada", "@example.org", "ada@", "ada@example.org ", " ada@example.org",
		"Ada <ada@example.org>", "<ada@example.org>",
		"ada@example.org (Ada)", "ada@example.org, bo@example.org",
		"ada@example.org\r\nBcc: bo@example.org", "ada@example.org\x00", "a\tb@example.org",
		`"a b"@example.org`, `"ada"@example.org`, "ada@[127.0.0.1]", "ada@[IPv6:::1]",
		"a@b@example.org", ".ada@example.org", "ada.@example.org", "a..b@example.org",
		"ada@.example.org", "ada@example..org", "ada@example.org.", "ada@-example.org",
		"ada@example-.org", "ada@exa_mple.org", "ada@exam ple.org", "ada@exa!mple.org",
		"ada\u202e@example.org", "ada\u200b@example.org", "ada@exa\u00admple.org",
		"ada\u00a0@example.org", "ada\xff@example.org", "ada\ufffd@example.org",
		"l" + local + "@example.org", "ada@d" + label + ".org", local + "@d" + domain,
		"=?utf-8?q?ada?=@example.org, x@example.org",
	} {
		if CheckAddress(text) {
			t.Errorf("%q is accepted", text)
		}
	}
}

func FuzzCheckAddress(f *testing.F) {
	f.Add("ada@example.org")
	f.Add("用户@例子.测试")
	f.Fuzz(func(t *testing.T, text string) {
		if CheckAddress(text) && (&mail.Address{Address: text}).String() != path(text) {
			t.Errorf("%q is quoted in a header", text)
		}
	})
}
