package manual

import (
	"strings"
	"unicode/utf8"

	"github.com/yuin/goldmark/ast"
	extension "github.com/yuin/goldmark/extension/ast"
)

// table writes a table in columns if they fit, else row by row: the first cell, and below it
// the others with the names of their columns.
func (w *writer) table(n *extension.Table, indent string) {
	rows, widths := w.cells(n)
	total := len(indent)
	for _, width := range widths {
		total += width + 2
	}

	w.out.WriteString("\n")
	if total-2 > w.width {
		w.rowByRow(rows, indent)
		return
	}

	for i, row := range rows {
		w.columns(row, widths, indent)
		if i == 0 {
			w.out.WriteString(indent + strings.Repeat("-", total-2-len(indent)) + "\n")
		}
	}
}

// cells returns the texts of a table, the head first, and the width of each column.
func (w *writer) cells(n *extension.Table) (rows [][]string, widths []int) {
	for row := n.FirstChild(); row != nil; row = row.NextSibling() {
		var texts []string
		for cell := row.FirstChild(); cell != nil; cell = cell.NextSibling() {
			text := w.topic.plain(cell)
			if len(widths) == len(texts) {
				widths = append(widths, 0)
			}
			widths[len(texts)] = max(widths[len(texts)], utf8.RuneCountInString(text))
			texts = append(texts, text)
		}
		rows = append(rows, texts)
	}
	return rows, widths
}

func (w *writer) columns(row []string, widths []int, indent string) {
	line := indent
	for i, text := range row {
		line += text + strings.Repeat(" ", widths[i]+2-utf8.RuneCountInString(text))
	}
	w.out.WriteString(strings.TrimRight(line, " ") + "\n")
}

func (w *writer) rowByRow(rows [][]string, indent string) {
	head := rows[0]
	for _, row := range rows[1:] {
		w.wrap(row[0], indent, indent+"  ")
		for i, text := range row[1:] {
			if text == "" {
				continue
			}
			if len(row) > 2 {
				text = head[i+1] + ": " + text
			}
			w.wrap(text, indent+"    ", indent+"    ")
		}
	}
}

// plain returns the text of a node without its marks; code keeps its backquotes, and a link to
// another site is followed by its address.
func (t *Topic) plain(n ast.Node) string {
	var out strings.Builder
	t.write(&out, n)
	return out.String()
}

func (t *Topic) write(out *strings.Builder, parent ast.Node) {
	for n := parent.FirstChild(); n != nil; n = n.NextSibling() {
		switch n := n.(type) {
		case *ast.Text:
			out.Write(n.Segment.Value(t.source))
			if n.SoftLineBreak() || n.HardLineBreak() {
				out.WriteString(" ")
			}
		case *ast.String:
			out.Write(n.Value)
		case *ast.AutoLink:
			out.Write(n.URL(t.source))
		case *ast.CodeSpan:
			out.WriteString("`")
			t.write(out, n)
			out.WriteString("`")
		case *ast.Link:
			t.write(out, n)
			if to := string(n.Destination); strings.Contains(to, "://") {
				out.WriteString(" (" + to + ")")
			}
		default:
			t.write(out, n)
		}
	}
}
