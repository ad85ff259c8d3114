package manual

import (
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/yuin/goldmark/ast"
	extension "github.com/yuin/goldmark/extension/ast"
)

// Text renders the topic for a terminal of width columns. Code is never wrapped, and a table
// that is too wide becomes a list.
func (t *Topic) Text(width int) string {
	w := &writer{topic: t, width: width}
	w.blocks(t.tree, "")
	return strings.TrimLeft(w.out.String(), "\n")
}

// writer collects the text of one topic.
type writer struct {
	topic *Topic
	width int
	out   strings.Builder
}

// blocks writes the blocks below a node, each line after indent.
func (w *writer) blocks(parent ast.Node, indent string) {
	for n := parent.FirstChild(); n != nil; n = n.NextSibling() {
		w.block(n, indent)
	}
}

func (w *writer) block(n ast.Node, indent string) {
	switch n := n.(type) {
	case *ast.Heading:
		w.heading(n, indent)
	case *ast.Paragraph:
		w.out.WriteString("\n")
		w.wrap(w.topic.plain(n), indent, indent)
	case *ast.TextBlock:
		w.wrap(w.topic.plain(n), indent, indent)
	case *ast.List:
		w.list(n, indent)
	case *ast.FencedCodeBlock, *ast.CodeBlock:
		w.code(n, indent)
	case *extension.Table:
		w.table(n, indent)
	case *ast.HTMLBlock, *ast.ThematicBreak: // have no text
	default:
		w.blocks(n, indent)
	}
}

func (w *writer) heading(n *ast.Heading, indent string) {
	title := w.topic.plain(n)
	if n.Level == 1 {
		title = strings.ToUpper(title)
	}
	w.out.WriteString("\n" + indent + title + "\n")
	if n.Level == 2 {
		w.out.WriteString(indent + strings.Repeat("-", utf8.RuneCountInString(title)) + "\n")
	}
}

func (w *writer) list(n *ast.List, indent string) {
	w.out.WriteString("\n")
	number := n.Start
	for item := n.FirstChild(); item != nil; item = item.NextSibling() {
		mark := "- "
		if n.IsOrdered() {
			mark = strconv.Itoa(number) + ". "
			number++
		}
		inner := indent + strings.Repeat(" ", len(mark))
		first := item.FirstChild()
		if first == nil {
			continue
		}
		w.wrap(w.topic.plain(first), indent+mark, inner)
		for rest := first.NextSibling(); rest != nil; rest = rest.NextSibling() {
			w.block(rest, inner)
		}
	}
}

func (w *writer) code(n ast.Node, indent string) {
	w.out.WriteString("\n")
	lines := n.Lines()
	for i := range lines.Len() {
		line := lines.At(i)
		w.out.WriteString(strings.TrimRight(indent+"    "+string(line.Value(w.topic.source)),
			" \n") + "\n")
	}
}

// wrap writes a text in lines of at most width columns; first precedes the first line, rest
// the others. A word that is longer stays whole.
func (w *writer) wrap(text, first, rest string) {
	line, empty := first, true
	for word := range strings.FieldsSeq(text) {
		if !empty && utf8.RuneCountInString(line)+1+utf8.RuneCountInString(word) > w.width {
			w.out.WriteString(line + "\n")
			line, empty = rest, true
		}
		if !empty {
			line += " "
		}
		line, empty = line+word, false
	}
	w.out.WriteString(strings.TrimRight(line, " ") + "\n")
}
