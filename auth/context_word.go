package auth

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"reeve/store/fold"
)

// An attacker who guesses passwords tries words of the context first. The manual lists them.

const (
	minWord = 3 // characters of a word of the context
	minRest = 6 // characters of a password besides the words of the context
)

// contextWords returns the words of the context of a password, folded, the longest first: the
// username, the name of the program, and the words of the site's title.
func contextWords(username, site string) []string {
	words := append(strings.FieldsFunc(fold.Key(site), func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r)
	}), fold.Key(username), "reeve")
	words = slices.DeleteFunc(words, func(w string) bool {
		return utf8.RuneCountInString(w) < minWord
	})
	slices.SortFunc(words, func(a, b string) int { return len(b) - len(a) })
	return words
}

// isContextual reports whether a folded password is little more than words of the context.
func isContextual(folded string, words []string) bool {
	rest := folded
	for _, w := range words {
		rest = strings.ReplaceAll(rest, w, "")
	}
	return rest != folded && utf8.RuneCountInString(rest) < minRest
}
