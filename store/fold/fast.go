package fold

import (
	"sync/atomic"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// folder applies a form of texts. Most texts need no more than a table: each character has its own
// form, regardless of those around it, unless there are combining marks. It is 30 times as fast as
// the transformations of x/text.
type folder struct {
	search bool // the form of Search, otherwise that of Key
	pages  [tabled >> 8]atomic.Pointer[page]
}

// page has the forms of 256 characters, "" for those that depend on their neighbors.
type page [256]string

// tabled is the first character that has no place in a table: those below are of Latin, Greek,
// Cyrillic and other alphabets.
const tabled = 0x2000

var folds, searches = &folder{}, &folder{search: true}

// any returns the form of any text.
func (f *folder) any(s string) string {
	if f.search {
		return searchAny(s)
	}
	return foldAny(s)
}

func (f *folder) apply(s string) string {
	if isStable(s) {
		return s
	}

	b, space := make([]byte, 0, len(s)+8), true // space: the previous character is white space, as before the first
	for i := 0; i < len(s); {
		c := s[i]
		if c < utf8.RuneSelf {
			blank := c == ' ' || '\t' <= c && c <= '\r'
			switch {
			case blank && !space:
				b = append(b, ' ')
			case 'A' <= c && c <= 'Z':
				b = append(b, c+'a'-'A')
			case !blank:
				b = append(b, c)
			}
			i, space = i+1, blank
			continue
		}

		r, size := utf8.DecodeRuneInString(s[i:])
		form := s[i : i+size]
		if !isPlain(r) {
			if form = f.lookUp(r); form == "" {
				return f.any(s)
			}
		}

		b = append(b, form...)
		i, space = i+size, false
	}

	if space && len(b) > 0 {
		b = b[:len(b)-1]
	}

	return string(b)
}

// lookUp returns the form of a character; "" if that is not known from the character alone.
func (f *folder) lookUp(r rune) string {
	if r >= tabled {
		return ""
	}

	at := &f.pages[r>>8]
	p := at.Load()
	if p == nil {
		p = &page{}
		for i := range p {
			c := r&^0xFF + rune(i)
			combines := unicode.Is(unicode.M, c) ||
				!norm.NFC.PropertiesString(string(c)).BoundaryBefore()
			if c >= utf8.RuneSelf && !isSpace(c) && !isIgnorable(c) && !combines {
				p[i] = f.any(string(c))
			}
		}
		at.Store(p)
	}

	return p[r&0xFF]
}

// isStable reports whether a text consists of plain characters, is in lower case, and has no white
// space but single spaces between words.
func isStable(s string) bool {
	space := true
	for i := 0; i < len(s); {
		c := s[i]
		if c >= utf8.RuneSelf {
			r, size := utf8.DecodeRuneInString(s[i:])
			if !isPlain(r) {
				return false
			}
			i, space = i+size, false
			continue
		}
		if 'A' <= c && c <= 'Z' || '\t' <= c && c <= '\r' || c == ' ' && space {
			return false
		}
		space = c == ' '
		i++
	}
	return !space || s == ""
}

// isPlain reports whether no form of a text changes a character, whatever is around it, unless it
// is a capital or white space: ASCII, Chinese, kana and Korean syllables.
func isPlain(r rune) bool {
	return r < utf8.RuneSelf || r >= 0x4E00 && r <= 0x9FFF || r >= 0xAC00 && r <= 0xD7A3 ||
		r >= 0x3041 && r <= 0x3096 || r >= 0x30A1 && r <= 0x30FA
}
