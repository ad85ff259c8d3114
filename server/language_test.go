package server_test

import (
	"strings"
	"testing"

	"reeve/store/errs"
)

func TestAcceptLanguage(t *testing.T) {
	for header, want := range map[string]errs.Language{
		"": errs.English, "*": errs.English, "fr": errs.English, "en": errs.English,
		",;=": errs.English,
		"zh":  errs.Chinese, "zh-CN": errs.Chinese, "ZH-hans-cn": errs.Chinese,
		"zh-CN,zh;q=0.9,en;q=0.8": errs.Chinese,
		"en-US,en;q=0.9,zh;q=0.8": errs.English, "zh;q=0.8, en;q=0.9": errs.English,
		"en;q=0.5,zh-TW;q=0.7": errs.Chinese,
		"fr,zh;q=0.1":          errs.Chinese, "fr, *;q=0.5": errs.English,
		"en;q=0, *": errs.Chinese,
		"zh;q=0":    errs.English, "zh;q=0, en;q=0": errs.English,
		"zh,en": errs.Chinese, "en,zh": errs.English, "zh ; Q=1.000 , en;q=0.999": errs.Chinese,
		"zh;q=2": errs.English, "zh;q=-1": errs.English, "zh;q=NaN": errs.English,
		"zh;level=1": errs.English, "zhx": errs.English,
		strings.Repeat("fr,", 100) + "zh":   errs.English,
		"zh," + strings.Repeat("fr,", 1000): errs.Chinese,
	} {
		if got := errs.LanguageFor(header); got != want {
			t.Errorf("%.60q: got %s, want %s", header, got.Tag(), want.Tag())
		}
	}
}

func FuzzAcceptLanguage(f *testing.F) {
	for _, seed := range []string{"", "zh-CN,zh;q=0.9,en;q=0.8", "*;q=0,zh",
		"en;q=1e-9,zh;q=0x1p-3", "zh;q=NaN"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, header string) {
		got := errs.LanguageFor(header)
		if got == errs.Chinese && !strings.Contains(strings.ToLower(header), "zh") &&
			!strings.Contains(header, "*") {
			t.Errorf("%q does not ask for Chinese", header)
		}
		if errs.LanguageFor("en,"+strings.ReplaceAll(header, "en", "")) == errs.Chinese &&
			!strings.Contains(header, "*") && errs.LanguageFor(header) == errs.English {
			t.Errorf("%q: a wish for English made it Chinese", header)
		}
	})
}
