package fold

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"unicode"

	"golang.org/x/text/secure/precis"
	"golang.org/x/text/unicode/norm"

	"reeve/store/disk/disktest"
)

// pairs are texts that people read as the same, or not.
var pairs = []struct {
	what, a, b  string
	key, search bool // whether they are the same name, and whether a search for one finds the other
}{
	{"case", "Support", "SUPPORT", true, true},
	{"another word", "Support", "Supper", false, false},
	{"normal forms", "Grüße", "Gru\u0308ße", true, true},
	{"the Angstrom sign", "Å", "Å", true, true},
	{"order of marks", "a\u0323\u0302", "a\u0302\u0323", true, true},
	{"German ß", "Straße", "STRASSE", true, true},
	{"German capital ß", "STRAẞE", "strasse", true, true},
	{"German ẞ", "GROẞ", "groß", true, true},
	{"an umlaut left out", "Müller", "Muller", false, true},
	{"an umlaut written as two letters", "Müller", "Mueller", false, false},
	{"Greek capitals", "ΒΟΡΡΑΣ", "βορρας", true, true},
	{"Greek final sigma", "ΟΔΟΣ", "οδος", true, true},
	{"Greek accents", "Αθήνα", "αθηνα", false, true},
	{"Greek iota subscript", "ᾳ", "ΑΙ", true, true},
	{"Turkish dotted capital I", "İstanbul", "i\u0307stanbul", true, true},
	{"Turkish dotted and plain I", "İstanbul", "istanbul", false, true},
	{"Turkish dotless i", "Işık", "isik", false, true},
	{"Turkish dotless i in another name", "sık", "sik", false, true},
	{"Danish ø", "Søren", "soren", false, true},
	{"Polish ł", "Łódź", "lodz", false, true},
	{"Icelandic þ", "Þór", "thor", false, true},
	{"French œ", "Cœur", "coeur", false, true},
	{"Croatian đ", "Đorđe", "dorde", false, true},
	{"Vietnamese", "Nguyễn Thị Đào", "nguyen thi dao", false, true},
	{"Vietnamese in another form", "Nguyễn", norm.NFD.String("NGUYỄN"), true, true},
	{"Russian ё", "Фёдор", "федор", false, true},
	{"Russian й", "май", "маи", false, false},
	{"Russian capitals", "МАЙ", "май", true, true},
	{"Cherokee", "ᏣᎳᎩ", "ꮳꮃꭹ", true, true},
	{"Georgian capitals", "ᲗᲑᲘᲚᲘᲡᲘ", "თბილისი", true, true},
	{"Armenian ligature", "և", "եւ", true, true},
	{"Hangul", "한국", norm.NFD.String("한국"), true, true},
	{"Hangul vowels", "한국", "한곡", false, false},
	{"kana", "がっこう", norm.NFD.String("がっこう"), true, true},
	{"voiced kana", "がき", "かき", false, false},
	{"half width kana", "ｶﾞｷﾞ", "ガギ", true, true},
	{"hiragana and katakana", "ひ", "ヒ", false, false},
	{"full width", "ＡＤＭＩＮ１", "admin1", true, true},
	{"full width space", "山田　太郎", "山田 太郎", true, true},
	{"Chinese", "上海", "上海", true, true},
	{"simplified and traditional", "国", "國", false, false},
	{"compatibility ideograph", "\uF900", "豈", true, true},
	{"Hebrew points", "שָׁלוֹם", "שלום", false, true},
	{"Arabic vowels", "مُحَمَّد", "محمد", false, true},
	{"Arabic alef with hamza", "أحمد", "احمد", false, true},
	{"Arabic waw with hamza", "مؤمن", "مومن", false, false},
	{"Arabic tatweel", "محـــمد", "محمد", false, true},
	{"Arabic presentation forms", "ﻣﺤﻤﺪ", "محمد", false, true},
	{"Persian keyboard", "علی", "علي", false, true},
	{"Persian joiner", "می\u200cخواهم", "میخواهم", true, true},
	{"Thai vowels", "กิน", "กน", false, false},
	{"Thai tones", "ข้าว", "ขาว", false, false},
	{"Devanagari vowel signs", "कि", "की", false, false},
	{"Devanagari nukta", "क़", "क\u093c", true, true},
	{"Tamil", "கொ", "கெ\u0bbe", true, true},
	{"ligature", "ﬁn", "fin", true, true},
	{"superscript", "m²", "m2", false, true},
	{"zero width space", "Support", "Support\u200b", true, true},
	{"soft hyphen", "Sup\u00adport", "Support", true, true},
	{"Hangul filler", "Support\u3164", "Support", true, true},
	{"emoji with and without selector", "❤", "❤\ufe0f", true, true},
	{"two emoji", "❤", "💙", false, false},
	{"no-break space", "R\u00a0D", "R D", true, true},
	{"several spaces", "R  D", " R D\t", true, true},
	{"no space", "R D", "RD", false, false},
	{"apostrophes", "O’Brien", "O'Brien", false, true},
	{"hyphens", "Anna‑Lena", "anna-lena", false, true},
	{"Latin and Cyrillic a", "a", "а", false, false},
}

func TestPairs(t *testing.T) {
	for _, p := range pairs {
		if same := Name(p.a).Key == Name(p.b).Key; same != p.key {
			t.Errorf("%s: the keys %q and %q", p.what, Name(p.a).Key, Name(p.b).Key)
		}
		if same := Search(p.a) == Search(p.b); same != p.search {
			t.Errorf("%s: a search compares %q and %q", p.what, Search(p.a), Search(p.b))
		}
	}
}

func TestAddress(t *testing.T) {
	for what, c := range map[string]struct {
		a, b string
		same bool
	}{
		"case":                      {"X@Example.ORG", "x@example.org", true},
		"Punycode":                  {"x@exämple.org", "x@xn--exmple-cua.org", true},
		"Punycode in capitals":      {"x@EXÄMPLE.org", "x@XN--EXMPLE-CUA.ORG", true},
		"Chinese domain":            {"x@例子.中国", "x@xn--fsqu00a.xn--fiqs8s", true},
		"Russian domain":            {"x@почта.рф", "x@xn--80a1acny.xn--p1ai", true},
		"another encoded domain":    {"x@exämple.org", "x@xn--exmple-xxx.org", false},
		"decomposed domain":         {"x@exa\u0308mple.org", "x@exämple.org", true},
		"period at the end":         {"x@example.org.", "x@example.org", true},
		"both":                      {"x@exämple.org.", "x@xn--exmple-cua.org", true},
		"ideographic period":        {"x@例子。中国", "x@例子.中国", true},
		"full width domain":         {"x@ｅｘａｍｐｌｅ.org", "x@example.org", true},
		"ß is another domain":       {"x@straße.de", "x@strasse.de", false},
		"ß in Punycode":             {"x@straße.de", "x@xn--strae-oqa.de", true},
		"final sigma":               {"x@βόλος.gr", "x@βόλοσ.gr", false},
		"ß is another mailbox":      {"groß@example.org", "gross@example.org", false},
		"accent":                    {"josé@example.org", "jose@example.org", false},
		"decomposed mailbox":        {"josé@example.org", "jose\u0301@example.org", true},
		"Turkish capital I":         {"İ@github.com", "i@github.com", false},
		"Turkish capital I, domain": {"x@gİthub.com", "x@github.com", false},
		"zero width space":          {"\u200bx@example.org", "x@example.org", true},
		"joiner":                    {"x\u200d@example.org", "x@example.org", true},
		"soft hyphen":               {"x@exam\u00adple.org", "x@example.org", true},
		"byte order mark":           {"x@example.org\ufeff", "x@example.org", true},
		"broken Punycode":           {"x@xn--99999999999999.org", "x@example.org", false},
		"no domain":                 {"X", "x", true},
		"periods and spaces":        {"x@example.org .. ", "x@example.org", true},
	} {
		if SameAddress(c.a, c.b) != c.same {
			t.Errorf("%s: the keys %q and %q", what, Address(c.a).Key, Address(c.b).Key)
		}
	}
}

func TestSortKey_Order(t *testing.T) {
	want := []string{"ähnlich", "Cafe", "Café", "cafe b", "Çelik", "Zebra", "Αθήνα", "Фёдор", "上海"}
	got := slices.Clone(want)
	rand.Shuffle(len(got), func(i, j int) { got[i], got[j] = got[j], got[i] })
	slices.SortFunc(got, Compare)
	if !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
}

func TestClean(t *testing.T) {
	for in, want := range map[string]string{
		" a ": "a", "\u200b\u200b": "", "\u3164": "", "\u2800\u2800": "", "\u034f": "",
		"\u180e": "", "\u115f": "", "\u00ad\ufeff": "",
		"a\u200b": "a", "\u2060 a \ufeff": "a", "a\u0308": "ä", "a\u200bb": "a\u200bb",
		"❤\ufe0f": "❤\ufe0f", "葛\U000E0100": "葛\U000E0100",
		"\u200e": "\u200e", "": "", "Å": "Å",
		"🏴\U000E0067\U000E0062\U000E007F": "🏴\U000E0067\U000E0062\U000E007F",
	} {
		if got := Clean(in); got != want {
			t.Errorf("%q: %q", in, got)
		}
	}
}

func TestHasInvisible(t *testing.T) {
	for _, ordinary := range []string{Normal("Z" + strings.Repeat("\u0335\u0348", 40)),
		"", "Support", "Müller", "می\u200cخواهم", "क्\u200dष", "ශ්\u200dරී", "❤\ufe0f",
		"👨\u200d👩\u200d👧", "👩🏽\u200d⚕\ufe0f", "🏳\ufe0f\u200d🌈",
		"葛\U000E0100城", "🏴\U000E0067\U000E0062\U000E0065\U000E006E\U000E0067\U000E007F", "שָׁלוֹם",
		"กิน", "1\ufe0f\u20e3",
	} {
		if HasInvisible(ordinary) {
			t.Errorf("%q is refused", ordinary)
		}
	}
	for _, hidden := range []string{
		"a\u200bb", "a\u200db", "a\u200cb", "a\u00adb", "a\u2060b", "a\ufeffb", "a\u034fb",
		"a\u3164b", "a\u115fb", "a\u2064b", "a\u2800b",
		"\ufe0f", " \ufe0fa", "a\ufe0f\ufe0f", "a\U000E0061", "می\u200c\u200cخ", "سa\u200c",
		"a\U000E0001b", "a\u180eb",
	} {
		if !HasInvisible(hidden) {
			t.Errorf("%q is accepted", hidden)
		}
	}
}

// random returns a text of characters that are likely to be changed by folding.
func random(r *rand.Rand) string {
	tables := []*unicode.RangeTable{unicode.Latin, unicode.Greek, unicode.Cyrillic, unicode.Arabic,
		unicode.Hebrew, unicode.Mn, unicode.Hangul,
		unicode.Lu, unicode.Lt, unicode.Cf, unicode.Zs, unicode.Nl, unicode.So, unicode.Thai,
		unicode.Devanagari, unicode.Katakana}

	var b strings.Builder
	for range r.IntN(8) {
		switch r.IntN(4) {
		case 0:
			b.WriteRune(rune(r.IntN(0x80)))
		case 1:
			b.WriteRune(rune(r.IntN(0x30000)))
		case 2:
			b.WriteRune(rune(0xF900 + r.IntN(0x700)))
		default:
			ranges := tables[r.IntN(len(tables))]
			if n := len(ranges.R16); n > 0 {
				in := ranges.R16[r.IntN(n)]
				b.WriteRune(rune(in.Lo) + rune(r.IntN(int(in.Hi-in.Lo)/int(in.Stride)+1))*rune(in.Stride))
			}
		}
	}

	return b.String()
}

func TestForms_Random(t *testing.T) {
	r := disktest.Random(t)
	known := map[string]Forms{}
	for range disktest.Size(5000, 20_000, 1_000_000) {
		s := random(r)
		for name, form := range map[string]func(string) string{
			"Key": Key, "Search": Search, "Clean": Clean, "Password": Password,
			"Address": func(s string) string { return Address(s).Key },
		} {
			if once := form(s); form(once) != once {
				t.Fatalf("%s: %q → %q → %q", name, s, once, form(once))
			}
		}

		if Key(s) != foldAny(s) || Search(s) != searchAny(s) {
			t.Fatalf("%q: %q and %q by the table, otherwise %q and %q", s, Key(s), Search(s),
				foldAny(s), searchAny(s))
		}
		if !utf8Valid(s) {
			continue
		}

		for _, same := range []string{norm.NFC.String(s), norm.NFD.String(s)} {
			if Key(same) != Key(s) || Search(same) != Search(s) || Password(same) != Password(s) {
				t.Fatalf("%q and %q: %q %q, %q %q", s, same, Key(s), Key(same), Search(s),
					Search(same))
			}
		}

		if upper := strings.ToUpper(s); Key(strings.ToLower(upper)) != Key(upper) &&
			!strings.ContainsAny(upper, "İ") {
			t.Fatalf("%q: %q and %q", s, Key(upper), Key(strings.ToLower(upper)))
		}

		n := Name(s)
		if other, found := known[n.Key]; found && other.Sort != n.Sort {
			t.Fatalf("%q: the order is %q and %q", n.Key, n.Sort, other.Sort)
		}

		known[n.Key] = n
		if Search(Key(s)) != Search(s) || n.Sort != Search(s) {
			t.Fatalf("%q: a search folds to %q, the key to %q", s, Search(s), n.Sort)
		}
	}
}

// The simple case folding that Go knows is part of the full one.
func TestFold_EveryCase(t *testing.T) {
	for r := rune(0); r <= unicode.MaxRune; r++ {
		if next := unicode.SimpleFold(r); next != r && Key(string(r)) != Key(string(next)) {
			t.Errorf("%U and %U: %q and %q", r, next, Key(string(r)), Key(string(next)))
		}
	}
}

func utf8Valid(s string) bool { return strings.ToValidUTF8(s, "") == s }

// Password is the mapping of OpaqueString for every text that the profile accepts.
func TestPassword_OpaqueString(t *testing.T) {
	r := disktest.Random(t)
	accepted := 0
	for range disktest.Size(10_000, 20_000, 1_000_000) {
		s := random(r)
		if want, err := precis.OpaqueString.String(s); err == nil {
			if accepted++; Password(s) != want {
				t.Fatalf("%q: %q, want %q", s, Password(s), want)
			}
		}
	}

	if accepted < 1000 {
		t.Errorf("only %d texts were compared", accepted)
	}

	for in, want := range map[string]string{
		"\xff\xfe a":   "\xff\xfe a",
		"a\xccU\u0308": "a\xccU\u0308",
		"tab\tu\u0308": "tab\tü",
		"":             "",
	} {
		if got := Password(in); got != want {
			t.Errorf("%q: %q", in, got)
		}
	}
}

func FuzzFold(f *testing.F) {
	f.Add("Straße\u200b")
	f.Fuzz(func(t *testing.T, s string) {
		if once := Key(s); Key(once) != once || Search(Search(s)) != Search(s) {
			t.Errorf("%q", s)
		}
		Address(s)
		HasInvisible(s)
	})
}

func BenchmarkFold(b *testing.B) {
	for name, s := range map[string]string{
		"ascii":      "lovelace.ada",
		"upper":      "Ada Lovelace",
		"umlaut":     "Jürgen Müller",
		"chinese":    "山田太郎",
		"greek":      "Αθήνα",
		"vietnamese": "Nguyễn Thị Đào",
		"decomposed": "Ju\u0308rgen",
	} {
		b.Run(name+"/lower", func(b *testing.B) {
			for b.Loop() {
				Lower(s)
			}
		})
		b.Run(name+"/fold", func(b *testing.B) {
			for b.Loop() {
				Key(s)
			}
		})
		b.Run(name+"/search", func(b *testing.B) {
			for b.Loop() {
				Search(s)
			}
		})
	}
}
