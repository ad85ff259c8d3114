// Package manual reads the manual, a directory of Markdown files, and renders it as HTML for
// the console and as text for a terminal.
//
// Start with Load, which returns the topics in reading order, and with Topic, whose methods
// render one.
//
// The HTML contains no raw HTML of the source and no javascript: URL, so it can be inserted
// into a page. Links between files (concepts.md#roles) become links between the console's
// pages. A topic's key is its file's name without the suffix.
//
//	topics, err := manual.Load(files)
//	fmt.Print(topics[0].Text(80))
package manual

import (
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
)

// order is the reading order. Topics that are not in it follow by key.
var order = []string{
	"getting-started", "installation", "concepts", "administration", "custom-fields", "invitations",
	"app-users", "build-on-it", "setup", "commands", "api", "operations", "backups", "several-nodes", "security", "sign-in-providers", "personal-data", "monitoring",
	"change-log", "webhooks", "api-keys", "configuration", "feature-flags", "forward-auth",
	"performance", "versions", "changelog",
}

// markdown is CommonMark with tables. Headings get IDs, so that links can lead to them.
var markdown = goldmark.New(goldmark.WithExtensions(extension.Table),
	goldmark.WithParserOptions(parser.WithAutoHeadingID()))

// Topic is one file of the manual.
type Topic struct {
	Key    string // the file's name without .md
	Title  string // the first heading
	source []byte
	tree   ast.Node
}

// Load reads the Markdown files in the root of a file system. A file that does not begin with
// a heading is an error.
func Load(files fs.FS) ([]*Topic, error) {
	names, err := fs.Glob(files, "*.md")
	if err != nil {
		return nil, err
	}

	topics := make([]*Topic, 0, len(names))
	for _, name := range names {
		source, err := fs.ReadFile(files, name)
		if err != nil {
			return nil, err
		}

		t := &Topic{
			Key:    strings.TrimSuffix(path.Base(name), ".md"),
			source: source,
			tree:   markdown.Parser().Parse(text.NewReader(source)),
		}
		heading, ok := t.tree.FirstChild().(*ast.Heading)
		if !ok || heading.Level != 1 {
			return nil, fmt.Errorf("%s does not begin with a heading of level 1", name)
		}

		t.Title = t.plain(heading)
		topics = append(topics, t)
	}

	slices.SortStableFunc(topics, func(a, b *Topic) int { return rank(a.Key) - rank(b.Key) })
	return topics, nil
}

// rank is a topic's place in the reading order.
func rank(key string) int {
	if i := slices.Index(order, key); i >= 0 {
		return i
	}
	return len(order)
}

// Find returns the topic with a key, nil if there is none.
func Find(topics []*Topic, key string) *Topic {
	if i := slices.IndexFunc(topics, func(t *Topic) bool { return t.Key == key }); i >= 0 {
		return topics[i]
	}
	return nil
}
