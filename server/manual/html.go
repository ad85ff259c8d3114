package manual

import (
	"bytes"
	"strings"

	"github.com/yuin/goldmark/ast"
)

// HTML renders the topic. Links to other files of the manual become links to base followed by
// the topic's key; base ends in a slash.
func (t *Topic) HTML(base string) (string, error) {
	tree := t.parse() // a tree of its own, since links are changed
	err := ast.Walk(tree, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if link, ok := n.(*ast.Link); ok && entering {
			link.Destination = []byte(pageOf(base, string(link.Destination)))
		}
		return ast.WalkContinue, nil
	})
	if err != nil {
		return "", err
	}

	var out bytes.Buffer
	if err := markdown.Renderer().Render(&out, t.source, tree); err != nil {
		return "", err
	}

	return scrollable.Replace(out.String()), nil
}

// scrollable makes what can be wider than a page reachable with the keyboard, by which it is then
// scrolled. Text of the source has no tags, so these are those of the renderer.
var scrollable = strings.NewReplacer("<pre>", `<pre tabindex="0">`, "<table>",
	`<table tabindex="0">`)

// pageOf returns the page of a link's destination: concepts.md#roles is base + concepts#roles.
// Other destinations stay.
func pageOf(base, destination string) string {
	file, fragment, cut := strings.Cut(destination, "#")
	key, isTopic := strings.CutSuffix(file, ".md")
	if !isTopic || strings.Contains(key, "/") {
		return destination
	}
	if cut {
		fragment = "#" + fragment
	}
	return base + key + fragment
}
