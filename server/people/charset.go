package people

import (
	"bytes"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/japanese"
	"golang.org/x/text/encoding/korean"
	"golang.org/x/text/encoding/simplifiedchinese"
	"golang.org/x/text/encoding/traditionalchinese"
	"golang.org/x/text/encoding/unicode"

	"reeve/store/errs"
)

// charset is a character encoding that spreadsheets use for CSV files.
type charset struct {
	Name  string
	Other []string // aliases
	mark  string   // byte order mark; "" for none
	From  encoding.Encoding
}

var Charsets = []charset{
	{"utf-8", []string{"utf8"}, "\xef\xbb\xbf", nil},
	{"utf-16le", []string{"utf-16"}, "\xff\xfe",
		unicode.UTF16(unicode.LittleEndian, unicode.IgnoreBOM)},
	{"utf-16be", nil, "\xfe\xff", unicode.UTF16(unicode.BigEndian, unicode.IgnoreBOM)},
	{"windows-1250", []string{"cp1250"}, "", charmap.Windows1250},
	{"windows-1251", []string{"cp1251"}, "", charmap.Windows1251},
	{"windows-1252", []string{"cp1252", "iso-8859-1", "latin1"}, "", charmap.Windows1252},
	{"windows-1253", []string{"cp1253"}, "", charmap.Windows1253},
	{"windows-1254", []string{"cp1254", "iso-8859-9", "latin5"}, "", charmap.Windows1254},
	{"windows-1255", []string{"cp1255"}, "", charmap.Windows1255},
	{"windows-1256", []string{"cp1256"}, "", charmap.Windows1256},
	{"windows-1257", []string{"cp1257"}, "", charmap.Windows1257},
	{"windows-1258", []string{"cp1258"}, "", charmap.Windows1258},
	{"windows-874", []string{"cp874", "tis-620", "iso-8859-11"}, "", charmap.Windows874},
	{"gb18030", []string{"gbk", "gb2312", "cp936"}, "\x84\x31\x95\x33", simplifiedchinese.GB18030},
	{"big5", []string{"cp950"}, "", traditionalchinese.Big5},
	{"shift_jis", []string{"sjis", "cp932", "windows-31j"}, "", japanese.ShiftJIS},
	{"euc-jp", nil, "", japanese.EUCJP},
	{"iso-2022-jp", nil, "", japanese.ISO2022JP},
	{"euc-kr", []string{"cp949", "windows-949", "ks_c_5601-1987"}, "", korean.EUCKR},
	{"iso-8859-2", []string{"latin2"}, "", charmap.ISO8859_2},
	{"iso-8859-3", []string{"latin3"}, "", charmap.ISO8859_3},
	{"iso-8859-4", []string{"latin4"}, "", charmap.ISO8859_4},
	{"iso-8859-5", nil, "", charmap.ISO8859_5},
	{"iso-8859-6", nil, "", charmap.ISO8859_6},
	{"iso-8859-7", nil, "", charmap.ISO8859_7},
	{"iso-8859-8", nil, "", charmap.ISO8859_8},
	{"iso-8859-10", []string{"latin6"}, "", charmap.ISO8859_10},
	{"iso-8859-13", []string{"latin7"}, "", charmap.ISO8859_13},
	{"iso-8859-14", []string{"latin8"}, "", charmap.ISO8859_14},
	{"iso-8859-15", []string{"latin9"}, "", charmap.ISO8859_15},
	{"iso-8859-16", []string{"latin10"}, "", charmap.ISO8859_16},
	{"koi8-r", nil, "", charmap.KOI8R},
	{"koi8-u", nil, "", charmap.KOI8U},
	{"macintosh", []string{"macroman"}, "", charmap.Macintosh},
	{"x-mac-cyrillic", nil, "", charmap.MacintoshCyrillic},
	{"ibm437", []string{"cp437"}, "", charmap.CodePage437},
	{"ibm850", []string{"cp850"}, "", charmap.CodePage850},
	{"ibm852", []string{"cp852"}, "", charmap.CodePage852},
	{"ibm855", []string{"cp855"}, "", charmap.CodePage855},
	{"ibm866", []string{"cp866"}, "", charmap.CodePage866},
}

// charsetNames returns the names of the charsets.
func charsetNames() (names []string) {
	for _, c := range Charsets {
		names = append(names, c.Name)
	}
	return names
}

// charsetNamed returns the charset with a name or alias; nil for none.
func charsetNamed(name string) *charset {
	for i := range Charsets {
		for _, known := range append(Charsets[i].Other, Charsets[i].Name) {
			if strings.EqualFold(known, name) {
				return &Charsets[i]
			}
		}
	}
	return nil
}

// decodeCSV returns the text of a file and the name of its encoding: that of the byte order mark,
// else the declared one, else UTF-8 if the file is valid UTF-8. It guesses no other, since nearly
// every file can be read in several, with other names in it.
func decodeCSV(file []byte, declared string) (text, name string, err error) {
	is := charsetNamed(declared)
	if declared != "" && is == nil {
		return "", "", errs.Field(errs.Malformed, "charset", "must be one of %s", charsetNames())
	}

	for i := range Charsets {
		if mark := Charsets[i].mark; mark != "" && bytes.HasPrefix(file, []byte(mark)) {
			is, file = &Charsets[i], file[len(mark):]
			break
		}
	}

	if is == nil {
		at := invalidUTF8(file)
		if null := bytes.IndexByte(file, 0); at < 0 {
			at = null // as in UTF-16
		}
		if at >= 0 {
			line, column := lineColumn(string(file), at)
			return "", "", errs.Field(errs.Invalid, "file",
				"line %d, column %d: not UTF-8; state the character encoding as charset: one of %s", line, column, charsetNames())
		}
		is = charsetNamed("utf-8")
	}

	text, bad := is.decode(file)
	if bad >= 0 {
		line, column := lineColumn(text, bad)
		return "", "", errs.Field(errs.Invalid, "file",
			"line %d, column %d: cannot be decoded as %s", line, column, is.Name)
	}

	return text, is.Name, nil
}

// undefined reports whether a character is one to which decoders convert undefined bytes, some of
// them to control characters.
func undefined(r rune) bool { return r == utf8.RuneError || r >= 0x80 && r < 0xa0 }

// decode returns the text, and the offset in it of the first undefined character; -1
// for none.
func (c *charset) decode(file []byte) (text string, bad int) {
	if c.From == nil {
		return string(file), invalidUTF8(file)
	}
	b, err := c.From.NewDecoder().Bytes(file)
	text = string(b)
	if bad = strings.IndexFunc(text, undefined); bad < 0 && err != nil {
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
	return 1 + strings.Count(before, "\n"),
		1 + utf8.RuneCountInString(before[strings.LastIndex(before, "\n")+1:])
}
