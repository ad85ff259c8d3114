package errs

import (
	"strconv"
	"strings"
)

// maxLanguages is the number of language ranges of an Accept-Language header that are read.
const maxLanguages = 32

// LanguageFor returns the language that an Accept-Language header (RFC 9110, 12.5.4)
// prefers. Of two with the same weight the first wins; English if neither is named.
func LanguageFor(header string) Language {
	weights := map[string]float64{}
	first := ""
	for range maxLanguages {
		item, rest, more := strings.Cut(header, ",")
		tag, q := weighted(item)
		if primary, _, _ := strings.Cut(tag, "-"); primary == "en" || primary == "zh" ||
			primary == "*" {
			if _, again := weights[primary]; !again || q > weights[primary] {
				weights[primary] = q
			}
			if first == "" && primary != "*" {
				first = primary
			}
		}
		if header = rest; !more {
			break
		}
	}

	en, hasEnglish := weights["en"]
	zh, hasChinese := weights["zh"]
	if !hasEnglish {
		en = weights["*"]
	}
	if !hasChinese {
		zh = weights["*"]
	}
	if zh > en || zh == en && zh > 0 && first == "zh" {
		return Chinese
	}

	return English
}

// weighted returns the language range of an item and its weight, from 0 to 1. A weight
// that cannot be read is 0: the range is ignored.
func weighted(item string) (tag string, q float64) {
	tag, params, weighs := strings.Cut(item, ";")
	tag = strings.ToLower(strings.TrimSpace(tag))
	if !weighs {
		return tag, 1
	}
	text, found := strings.CutPrefix(strings.ToLower(strings.TrimSpace(params)), "q=")
	q, err := strconv.ParseFloat(text, 64)
	if !found || err != nil || !(q >= 0 && q <= 1) {
		return tag, 0
	}
	return tag, q
}
