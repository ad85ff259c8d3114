package server

import (
	"strings"

	"reeve/store"
)

// truncate returns at most the first n bytes of a text, as valid UTF-8.
func truncate(text string, n int) string {
	if len(text) > n {
		text = text[:n]
	}
	return strings.ToValidUTF8(text, "")
}

// flagNumber returns a flag as in JSON, 1 or 0.
func flagNumber(f store.Flag) int64 {
	if f {
		return 1
	}
	return 0
}

// valueOf returns the text, or "" if none was sent.
func valueOf(sent *string) string {
	if sent == nil {
		return ""
	}
	return *sent
}
