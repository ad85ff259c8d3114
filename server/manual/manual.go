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
// Translated replaces the topics that are translated into a language. Their headings keep the IDs of
// the originals, so that every link leads to the same place in each language.
//
//	topics, err := manual.Load(files)
//	fmt.Print(topics[0].Text(80))
package manual

import (
	"errors"
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
	"app-users", "build-on-it", "setup", "commands", "tasks", "api", "operations", "backups", "several-nodes", "security", "sign-in-providers", "personal-data", "monitoring",
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
	Lang   string // the language, as in the attribute lang of HTML: en
	source []byte
	ids    []any // IDs of the headings, if they are not made from the source
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
		t, err := loadTopic(files, name, "en")
		if err != nil {
			return nil, err
		}
		topics = append(topics, t)
	}

	slices.SortStableFunc(topics, func(a, b *Topic) int { return rank(a.Key) - rank(b.Key) })
	return topics, nil
}

// Translated returns the topics, with those that files has in a language in place of their originals:
// for zh-CN, zh/concepts.md is one. A translation whose headings have other levels is an error.
func Translated(topics []*Topic, files fs.FS, lang string) ([]*Topic, error) {
	all := slices.Clone(topics)
	dir, _, _ := strings.Cut(lang, "-")
	for i, original := range all {
		name := path.Join(dir, original.Key+".md")
		t, err := loadTopic(files, name, lang)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, err
		}
		if t.ids, err = sharedIDs(original.tree, t.tree); err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		all[i] = t
	}
	return all, nil
}

func loadTopic(files fs.FS, name, lang string) (*Topic, error) {
	source, err := fs.ReadFile(files, name)
	if err != nil {
		return nil, err
	}

	t := &Topic{Key: strings.TrimSuffix(path.Base(name), ".md"), Lang: lang, source: source}
	t.tree = t.parse()
	heading, ok := t.tree.FirstChild().(*ast.Heading)
	if !ok || heading.Level != 1 {
		return nil, fmt.Errorf("%s does not begin with a heading of level 1", name)
	}
	t.Title = t.plain(heading)
	return t, nil
}

// parse returns a new tree of the topic, which the caller may change.
func (t *Topic) parse() ast.Node {
	tree := markdown.Parser().Parse(text.NewReader(t.source))
	if t.ids != nil {
		for i, heading := range headings(tree) {
			heading.SetAttributeString("id", t.ids[i])
		}
	}
	return tree
}

// sharedIDs returns the IDs of the original's headings, for those of its translation.
func sharedIDs(original, translation ast.Node) (ids []any, err error) {
	from, to := headings(original), headings(translation)
	if len(from) != len(to) {
		return nil, fmt.Errorf("it has %d headings, the original %d", len(to), len(from))
	}
	for i, heading := range from {
		if heading.Level != to[i].Level {
			return nil, fmt.Errorf("heading %d has level %d, in the original %d", i+1, to[i].Level, heading.Level)
		}
		id, _ := heading.AttributeString("id")
		ids = append(ids, id)
	}
	return ids, nil
}

// headings are those of a page, which are not inside other blocks.
func headings(tree ast.Node) (all []*ast.Heading) {
	for n := tree.FirstChild(); n != nil; n = n.NextSibling() {
		if heading, ok := n.(*ast.Heading); ok {
			all = append(all, heading)
		}
	}
	return all
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
