package mail

import (
	"errors"
	"fmt"
	"html"
	"slices"
	"strings"
	"unicode"
)

// pattern is a text with placeholders. Packages text/template and html/template could do this,
// but calling them keeps the linker from removing unused methods anywhere in the program,
// which makes the binary 6 MB larger.
type pattern []piece

// piece is a part of a pattern: the value of a placeholder, or options, or literal text.
type piece struct {
	name    string    // name of the placeholder
	options []pattern // the first complete one is used; if there is none, the piece is empty
	text    string
}

// values replace placeholders, by name.
type values map[string]string

// Names of placeholders in texts. Those that may be empty can only be used in optional parts.
var (
	always   = []string{"site", "username", "email"}
	mayEmpty = []string{"name", "expires", "by", "contact", "device", "address", "provider", "time", "problems", "code"}
	inTexts  = slices.Concat(always, mayEmpty, []string{"link"})
)

// fill returns the pattern with every value as escape returns it. It reports whether none of the
// values of mayEmpty in it was empty.
func (p pattern) fill(v values, escape func(string) string) (filled string, complete bool) {
	var b strings.Builder
	complete = true
	for _, piece := range p {
		switch {
		case piece.name != "":
			complete = complete && (v[piece.name] != "" || !slices.Contains(mayEmpty, piece.name))
			b.WriteString(escape(v[piece.name]))
		case piece.options != nil:
			for _, option := range piece.options {
				if filled, ok := option.fill(v, escape); ok {
					b.WriteString(filled)
					break
				}
			}
		default:
			b.WriteString(piece.text)
		}
	}

	return b.String(), complete
}

// plain returns the pattern with the values as they are, without space around it.
func (p pattern) plain(v values) string {
	filled, _ := p.fill(v, func(value string) string { return value })
	return strings.TrimSpace(filled)
}

// html returns the pattern, which is HTML, with escaped values. They may be in texts and in
// attributes in quotes.
func (p pattern) html(v values) string {
	filled, _ := p.fill(v, func(value string) string {
		return strings.ReplaceAll(html.EscapeString(value), "\n", "<br>")
	})
	return filled
}

// mayBeIncomplete reports whether p contains a placeholder whose value may be empty.
func (p pattern) mayBeIncomplete() bool {
	return slices.ContainsFunc(p, func(piece piece) bool {
		return slices.Contains(mayEmpty, piece.name)
	})
}

// parseLine parses a line of a text, with placeholders and optional parts.
func parseLine(line string) (pattern, error) {
	var p pattern
	for line != "" {
		before, rest, found := strings.Cut(line, "[")
		pieces, err := parseStrictly(before)
		if err != nil {
			return nil, err
		}
		if pieces.mayBeIncomplete() {
			return nil, fmt.Errorf("%q has a value that may be empty; put it into square brackets",
				before)
		}

		p = append(p, pieces...)
		if !found {
			break
		}

		inside, after, closed := strings.Cut(rest, "]")
		if !closed {
			return nil, errors.New("[ without ]")
		}

		var options []pattern
		for source := range strings.SplitSeq(inside, "|") {
			option, err := parseStrictly(source)
			if err != nil {
				return nil, err
			}
			options = append(options, option)
		}

		if !options[0].mayBeIncomplete() {
			return nil, fmt.Errorf("[%s] has no value that may be empty", inside)
		}

		p, line = append(p, piece{options: options}), after
	}
	return p, nil
}

// parseStrictly parses a part of a text, in which braces and brackets have no other use.
func parseStrictly(source string) (pattern, error) {
	p, err := parsePlaceholders(source, inTexts)
	if err != nil {
		return nil, err
	}
	for _, piece := range p {
		if i := strings.IndexAny(piece.text, "{}[]"); i >= 0 {
			return nil, fmt.Errorf("misplaced %c", piece.text[i])
		}
		if piece.name == "link" {
			return nil, errors.New("{link} must be a paragraph of its own")
		}
	}
	return p, nil
}

// parsePlaceholders parses a text with placeholders of the given names. Other uses of braces
// are literal text.
func parsePlaceholders(source string, names []string) (pattern, error) {
	var p pattern
	for source != "" {
		before, rest, found := strings.Cut(source, "{")
		name, after, closed := strings.Cut(rest, "}")
		switch {
		case !found:
			return append(p, piece{text: before}), nil
		case !closed || name == "" || strings.ContainsFunc(name, func(r rune) bool {
			return !unicode.IsLetter(r) && r != '_'
		}):
			p, source = append(p, piece{text: before + "{"}), rest
		case !slices.Contains(names, name):
			return nil, fmt.Errorf("unknown placeholder {%s}", name)
		default:
			p, source = append(p, piece{text: before}, piece{name: name}), after
		}
	}
	return p, nil
}
