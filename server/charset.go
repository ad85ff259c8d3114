package server

import (
	"bytes"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/simplifiedchinese"
	"golang.org/x/text/encoding/unicode"

	"reeve/store/errs"
)

// charset is a character encoding that spreadsheets use for CSV files.
type charset struct {
	name  string
	other []string // aliases
	mark  string   // byte order mark
	from  encoding.Encoding
}

var charsets = []charset{
	{"utf-8", []string{"utf8"}, "\xef\xbb\xbf", nil},
	{"utf-16le", []string{"utf-16"}, "\xff\xfe", unicode.UTF16(unicode.LittleEndian, unicode.IgnoreBOM)},
	{"utf-16be", nil, "\xfe\xff", unicode.UTF16(unicode.BigEndian, unicode.IgnoreBOM)},
	{"windows-1252", []string{"cp1252", "iso-8859-1", "latin1"}, "", charmap.Windows1252},
	{"gb18030", []string{"gbk", "gb2312", "cp936"}, "\x84\x31\x95\x33", simplifiedchinese.GB18030},
}

// charsetNamed returns the charset with a name or alias; nil for none.
func charsetNamed(name string) *charset {
	for i := range charsets {
		for _, known := range append(charsets[i].other, charsets[i].name) {
			if strings.EqualFold(known, name) {
				return &charsets[i]
			}
		}
	}
	return nil
}

// decodeCSV returns the text of a file. Its encoding is that of the byte order mark,
// else the declared one, else the only one that the content allows.
func decodeCSV(file []byte, declared string) (string, error) {
	is := charsetNamed(declared)
	if declared != "" && is == nil {
		return "", errs.Field(errs.Malformed, "charset", "must be utf-8, utf-16le, utf-16be, windows-1252 or gb18030")
	}
	for i := range charsets {
		if mark := charsets[i].mark; mark != "" && bytes.HasPrefix(file, []byte(mark)) {
			is, file = &charsets[i], file[len(mark):]
			break
		}
	}
	if is == nil {
		is = detectCharset(file)
	}
	if is == nil {
		line, column := lineColumn(string(file), invalidUTF8(file))
		return "", errs.Field(errs.Invalid, "file", "line %d, column %d: not UTF-8; choose Windows-1252 or GB18030 as the character encoding", line, column)
	}
	text, bad := is.decode(file)
	if bad >= 0 {
		line, column := lineColumn(text, bad)
		return "", errs.Field(errs.Invalid, "file", "line %d, column %d: cannot be decoded as %s", line, column, is.name)
	}
	return text, nil
}

// detectCharset detects the encoding of a file without a byte order mark; nil if it is
// ambiguous.
func detectCharset(file []byte) *charset {
	if utf8.Valid(file) {
		return charsetNamed("utf-8")
	}
	western, chinese := charsetNamed("windows-1252"), charsetNamed("gb18030")
	_, badWestern := western.decode(file)
	_, badChinese := chinese.decode(file)
	switch {
	case badWestern < 0 && badChinese >= 0:
		return western
	case badChinese < 0 && (badWestern >= 0 || allHanzi(file)):
		return chinese
	case badWestern >= 0 && badChinese >= 0:
		return charsetNamed("utf-8") // assume damaged UTF-8
	}
	return nil
}

// allHanzi reports whether every byte above ASCII belongs to a common Chinese character
// (GB 2312), and two of them are adjacent somewhere: no word of a language written in
// Windows-1252 has four accented letters in a row.
func allHanzi(file []byte) bool {
	together := false
	for i := 0; i < len(file); {
		n := 0
		for i+n < len(file) && file[i+n] >= 0x80 {
			low := byte(0xA1)
			if n%2 == 0 {
				low = 0xB0
			}
			if file[i+n] < low || file[i+n] == 0xFF || n%2 == 0 && file[i+n] > 0xF7 {
				return false
			}
			n++
		}
		if n%2 == 1 {
			return false
		}
		together = together || n >= 4
		i += n + 1
	}
	return together
}

// undefined are the characters to which decoders convert undefined bytes; in
// Windows-1252 they become control characters.
const undefined = "\ufffd\u0081\u008d\u008f\u0090\u009d"

// decode returns the text, and the offset in it of the first undefined character; -1
// for none.
func (c *charset) decode(file []byte) (text string, bad int) {
	if c.from == nil {
		return string(file), invalidUTF8(file)
	}
	b, err := c.from.NewDecoder().Bytes(file)
	text = string(b)
	if bad = strings.IndexAny(text, undefined); bad < 0 && err != nil {
		bad = len(text)
	}
	return text, bad
}

// invalidUTF8 returns the offset of the first byte that is not UTF-8; -1 for none.
func invalidUTF8(b []byte) int {
	for at := 0; at < len(b); {
		r, n := utf8.DecodeRune(b[at:])
		if r == utf8.RuneError && n == 1 {
			return at
		}
		at += n
	}
	return -1
}

// lineColumn returns the line of an offset in a text and the character in the line,
// from 1.
func lineColumn(text string, at int) (line, column int) {
	before := text[:at]
	return 1 + strings.Count(before, "\n"), 1 + utf8.RuneCountInString(before[strings.LastIndex(before, "\n")+1:])
}
