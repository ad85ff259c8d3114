package coding_test

import (
	"net/http"
	"strings"
	"testing"

	"reeve/server/coding"
)

// TestCoding_Negotiation follows RFC 9110, section 12.5.3. A client that accepts nothing that there
// is gets the body as it is.
func TestCoding_Negotiation(t *testing.T) {
	t.Parallel()
	for accepted, want := range map[string]string{
		"none":                              "", // no header
		"":                                  "",
		"identity":                          "",
		"br":                                "",
		"gzip":                              "gzip",
		"zstd":                              "zstd",
		"gzip, deflate, br, zstd":           "zstd",
		"GZIP":                              "gzip",
		" gzip ; Q = 0.5 ":                  "gzip",
		"gzip|zstd":                         "zstd", // two headers
		"gzip;q=1, zstd;q=0.5":              "gzip",
		"gzip;q=0.5, zstd;q=0.5":            "zstd",
		"gzip;q=0.8, zstd;q=0.801":          "zstd",
		"gzip;q=0.001":                      "gzip",
		"gzip;q=0":                          "",
		"gzip;q=0.000":                      "",
		"gzip;q=0, zstd":                    "zstd",
		"zstd;q=0, *":                       "gzip",
		"*":                                 "zstd",
		"*;q=0.1":                           "zstd",
		"*;q=0":                             "",
		"gzip, *;q=0":                       "gzip",
		"*;q=0.5, gzip":                     "gzip",
		"identity, gzip;q=0.5":              "",
		"identity;q=0.5, gzip":              "gzip",
		"identity;q=0.5, gzip;q=0.5":        "gzip",
		"identity;q=0, gzip;q=0.1":          "gzip",
		"identity;q=0":                      "",
		"identity;q=0, br":                  "",
		"gzip;q=2":                          "", // not a weight
		"gzip;q=-1":                         "",
		"gzip;q=NaN":                        "",
		"gzip;q=":                           "",
		"gzip;q":                            "",
		"gzip;level=9":                      "",
		"gzipped, xzstd":                    "",
		"gzip;":                             "gzip",
		strings.Repeat("a,", 1000) + "gzip": "gzip",
	} {
		h := http.Header{}
		if accepted != "none" {
			h["Accept-Encoding"] = strings.Split(accepted, "|")
		}
		if got := coding.Choose(h, "zstd", "gzip"); got != want {
			t.Errorf("%q: %q, want %q", accepted, got, want)
		}
	}
}

// TestCoding_AllocatesNothing, since every long answer chooses one.
func TestCoding_AllocatesNothing(t *testing.T) {
	h := http.Header{"Accept-Encoding": {"gzip, deflate, br, zstd"}}
	if n := testing.AllocsPerRun(100, func() { coding.Choose(h, "gzip") }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}
