package auth

import (
	"net/url"
	"strings"
	"testing"
)

// TestPlainCode_AsProgramsWriteIt: white space, dashes and digits of notes, word processors and
// input methods.
func TestPlainCode_AsProgramsWriteIt(t *testing.T) {
	for code, want := range map[string]string{
		"123 456": "123456", "123\u00a0456": "123456", "123\u202f456": "123456",
		"123\u2009456": "123456", "１２３４５６": "123456", "１２３　４５６": "123456", "\t123456\r\n": "123456",
		"\ufeff123\u200b456": "123456", "\u200e123456": "123456", "123–456": "123456",
		"123\u2212456": "123456", "１２３－４５６": "123456",
		"abcd-efgh-ijkl-mnop":                "abcdefghijklmnop",
		"ABCD\u2011EFGH\u2013ijkl\u2014mnop": "abcdefghijklmnop", "ａｂｃｄ": "abcd",
		"ab\u00adcd": "abcd",
		"12a456":     "12a456", "123.456": "123.456", "": "",
	} {
		if got := plainCode(code); got != want {
			t.Errorf("%q: %q, want %q", code, got, want)
		}
	}
}

// TestTOTPAddress_AnyTitle has exactly its own parameters, whatever the title of the site is, and
// the title is the same in both places.
func TestTOTPAddress_AnyTitle(t *testing.T) {
	for _, title := range []string{"Reeve", "R&D", "A+B", "Smith & Sons", "x&secret=AAAA", "100 %",
		"%26", "a=b?c#d/e", "Zoë 世界", "A:B", "", ";"} {
		text := totpURI(title, "ada.b-c_1", "ABCDEFGH")
		u, err := url.Parse(text)
		if err != nil {
			t.Fatal(err)
		}

		want := strings.ReplaceAll(title, ":", " ")
		q, err := url.ParseQuery(u.RawQuery)
		if err != nil || len(q) != 5 || q.Get("issuer") != want || q.Get("secret") != "ABCDEFGH" ||
			q.Get("algorithm") != "SHA1" || q.Get("digits") != "6" || q.Get("period") != "30" {
			t.Errorf("%q: %s %v %v", title, text, q, err)
		}

		for _, values := range q {
			if len(values) != 1 {
				t.Errorf("%q: %s", title, text)
			}
		}

		label, err := url.PathUnescape(strings.TrimPrefix(u.EscapedPath(), "/"))
		if err != nil || label != want+":ada.b-c_1" || u.Host != "totp" || u.Fragment != "" ||
			strings.ContainsAny(text, "+ ") {
			t.Errorf("%q: label %q %v of %s", title, label, err, text)
		}
	}
}
