package web

import (
	"strings"

	"reeve/store"
	"reeve/store/errs"
)

// Truncate returns at most the first n bytes of a text, as valid UTF-8.
func Truncate(text string, n int) string {
	if len(text) > n {
		text = text[:n]
	}
	return strings.ToValidUTF8(text, "")
}

// FlagNumber returns a flag as in JSON, 1 or 0.
func FlagNumber(f store.Flag) int64 {
	if f {
		return 1
	}
	return 0
}

// ValueOf returns the text, or "" if none was sent.
func ValueOf(sent *string) string {
	if sent == nil {
		return ""
	}
	return *sent
}

// UnlessMissing returns an error, nil if it says that there is no such record.
func UnlessMissing(err error) error {
	if errs.Is(err, errs.NotFound) {
		return nil
	}
	return err
}
