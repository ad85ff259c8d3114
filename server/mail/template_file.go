package mail

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
)

// readLines returns the lines of a file, without space at their ends.
func readLines(files fs.FS, file string) ([]string, error) {
	b, err := fs.ReadFile(files, file)
	if err != nil {
		return nil, err
	}
	lines := strings.Split(strings.TrimSuffix(string(b), "\n"), "\n")
	for i := range lines {
		lines[i] = strings.TrimRight(lines[i], " \t\r")
	}
	return lines, nil
}

// parseText parses the file of a message.
func parseText(files fs.FS, file string) (*text, error) {
	lines, err := readLines(files, file)
	if err != nil {
		return nil, err
	}

	t := &text{}
	if t.subject, err = parseHead(file, lines, 0, "Subject: "); err != nil {
		return nil, err
	}

	next := 1 // index of the line after the head
	if slices.Contains(lines, linkParagraph) {
		if t.button, err = parseHead(file, lines, next, "Button: "); err != nil {
			return nil, err
		}
		next++
	}
	if next == len(lines) || lines[next] != "" {
		return nil, at(file, next+1,
			errors.New("must be an empty line; a line Button: is only for a text with a line {link}"))
	}

	t.paragraphs, err = parseParagraphs(file, lines, next)
	return t, err
}

// parseHead parses a line with a prefix before the text of a message.
func parseHead(file string, lines []string, i int, prefix string) (pattern, error) {
	source, found := strings.CutPrefix(lines[i], prefix)
	if !found {
		return nil, at(file, i+1, fmt.Errorf("must be a line %s…", prefix))
	}
	p, err := parseLine(source)
	if err != nil {
		return nil, at(file, i+1, err)
	}
	return p, nil
}

// parseFooter parses the file of a footer.
func parseFooter(files fs.FS, file string) (paragraph, error) {
	lines, err := readLines(files, file)
	if err != nil {
		return nil, err
	}
	paragraphs, err := parseParagraphs(file, lines, 0)
	if err != nil {
		return nil, err
	}
	if len(paragraphs) > 1 || paragraphs[0].isLink() {
		return nil, at(file, len(lines), errors.New("must be one paragraph without a link"))
	}
	return paragraphs[0], nil
}

// parseParagraphs parses the lines of a file from an index to the end: one paragraph at least.
func parseParagraphs(file string, lines []string, from int) ([]paragraph, error) {
	var all []paragraph
	var current paragraph
	for i, line := range lines[from:] {
		if line == "" {
			all, current = append(all, current), nil
			continue
		}
		last := from+i+1 == len(lines) || lines[from+i+1] == ""
		parsed, err := pattern{{name: "link"}}, error(nil)
		if line != linkParagraph || current != nil || !last {
			parsed, err = parseLine(line)
		}
		if err != nil {
			return nil, at(file, from+i+1, err)
		}
		current = append(current, parsed)
	}

	all = slices.DeleteFunc(append(all, current), func(p paragraph) bool { return p == nil })
	if len(all) == 0 {
		return nil, at(file, len(lines), errors.New("no text"))
	}

	return all, nil
}

// at returns an error with the line of a file, from 1.
func at(file string, line int, err error) error { return fmt.Errorf("%s:%d: %w", file, line, err) }

// layout is the HTML of every message. Placeholders of all parts are {language}, {site},
// {subject} and {footer}.
type layout struct {
	head pattern // text above the paragraphs
	text pattern // a paragraph; its lines are {text}
	link pattern // the paragraph with {link}, which has a {button}
	foot pattern // text below the paragraphs
}

// parseLayout parses layout.html. Three lines separate its parts: <!-- text -->,
// <!-- link --> and <!-- foot -->. Placeholders may be in text and in attributes in quotes,
// not in styles.
func parseLayout(files fs.FS) (*layout, error) {
	const file = "layout.html"
	lines, err := readLines(files, file)
	if err != nil {
		return nil, err
	}

	l := &layout{}
	parts := []struct {
		to     *pattern
		values []string // beside those of all parts
	}{{&l.head, nil}, {&l.text, []string{"text"}}, {&l.link, []string{"link", "button"}},
		{&l.foot, nil}}

	separators := []string{"<!-- text -->", "<!-- link -->", "<!-- foot -->"}
	part := 0
	for i, line := range lines {
		if part < len(separators) && line == separators[part] {
			part++
			continue
		}
		parsed, err := parsePlaceholders(line+"\n",
			append([]string{"language", "site", "subject", "footer"}, parts[part].values...))
		if err != nil {
			return nil, at(file, i+1, err)
		}
		*parts[part].to = append(*parts[part].to, parsed...)
	}

	if part < len(separators) {
		return nil, at(file, len(lines), fmt.Errorf("no line %s before the end", separators[part]))
	}

	return l, nil
}
