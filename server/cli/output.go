package cli

import (
	"encoding/json"
	"fmt"
	"io"
	"sort"
	"strings"
	"text/tabwriter"
	"time"
)

// record is a record of a response.
type record map[string]json.RawMessage

// text returns a field as people read it: a time in the zone of this machine, the elements of a
// list separated by commas, and - for nothing.
func (r record) text(field string) string {
	raw, ok := r[field]
	if !ok {
		return "-"
	}
	var value any
	if json.Unmarshal(raw, &value) != nil {
		return string(raw)
	}
	if field == "status" {
		return map[any]string{1.0: "enabled", 0.0: "disabled"}[value]
	}

	switch v := value.(type) {
	case nil:
		return "-"
	case string:
		if at, err := time.Parse(time.RFC3339Nano, v); err == nil {
			return at.Local().Format(time.DateTime)
		}
		if v == "" {
			return "-"
		}
		return oneLine(v)
	case float64:
		return string(raw) // without the rounding of large IDs
	case []any:
		var texts []string
		for _, element := range v {
			texts = append(texts, oneLine(fmt.Sprint(element)))
		}
		if texts == nil {
			return "-"
		}
		return strings.Join(texts, ", ")
	}
	return oneLine(string(raw))
}

// id returns the ID of the record, for a path.
func (r record) id() string { return string(r["id"]) }

// oneLine removes what would break a line of a table, or move the cursor of a terminal.
func oneLine(text string) string {
	return strings.Map(func(c rune) rune {
		if c < ' ' || c >= 0x7f && c < 0xa0 {
			return ' '
		}
		return c
	}, text)
}

// list prints records, which what names: as a table with some of their fields or, with --json, whole.
func (p *program) list(what string, all []record, fields ...string) error {
	if len(all) == 0 {
		return p.listNone(what)
	}
	if p.json {
		return p.printJSON(all)
	}

	w := tabwriter.NewWriter(p.out, 0, 8, 2, ' ', 0)
	heads := make([]string, len(fields))
	for i, f := range fields {
		heads[i] = strings.ToUpper(strings.ReplaceAll(f, "_", " "))
	}
	fmt.Fprintln(w, strings.Join(heads, "\t"))
	for _, r := range all {
		cells := make([]string, len(fields))
		for i, f := range fields {
			cells[i] = r.text(f)
		}
		fmt.Fprintln(w, strings.Join(cells, "\t"))
	}
	return w.Flush()
}

// listNone prints a list without elements, which what names.
func (p *program) listNone(what string) error { return p.show([]int{}, "no %s", what) }

// show prints lines for people or, with --json, the value.
func (p *program) show(value any, format string, args ...any) error {
	if p.json {
		return p.printJSON(value)
	}
	_, err := fmt.Fprintf(p.out, format+"\n", args...)
	return err
}

func (p *program) printJSON(value any) error {
	out := json.NewEncoder(p.out)
	out.SetEscapeHTML(false)
	out.SetIndent("", "  ")
	return out.Encode(value)
}

// progress writes how much of a command is done, if people read it and it takes longer than a
// second.
type progress struct {
	out   io.Writer // nil for none
	begun time.Time
	last  time.Time
	wrote bool
}

func (p *program) newProgress() *progress {
	b := &progress{begun: time.Now()}
	if isTerminal(p.err) && !p.serves {
		b.out = p.err
	}
	return b
}

const (
	progressAfter = time.Second
	progressEvery = 200 * time.Millisecond
	progressWidth = 24
)

// step shows that done of total is done; a total of 0 is unknown. It does nothing on nil.
func (b *progress) step(what string, done, total int64) {
	now := time.Now()
	if b == nil || b.out == nil || now.Sub(b.begun) < progressAfter || now.Sub(b.last) < progressEvery {
		return
	}

	b.last, b.wrote = now, true
	switch {
	case total <= 0 && done == 0:
		fmt.Fprintf(b.out, "\r\x1b[K%s", what)
		return
	case total <= 0:
		fmt.Fprintf(b.out, "\r\x1b[K%d %s", done, what)
		return
	}
	part := min(float64(done)/float64(total), 1)
	full := int(part * progressWidth)
	fmt.Fprintf(b.out, "\r\x1b[K%s [%s%s] %3.0f %%", what, strings.Repeat("#", full),
		strings.Repeat(".", progressWidth-full), 100*part)
}

// beside calls look, which shows how far the server is, again and again until do returns.
func (b *progress) beside(do func() error, look func()) error {
	if b == nil || b.out == nil {
		return do()
	}
	defer b.end()
	done := make(chan error, 1)
	go func() { done <- do() }()
	for {
		select {
		case err := <-done:
			return err
		case <-time.After(askEvery):
			look()
		}
	}
}

// end removes the line.
func (b *progress) end() {
	if b.wrote {
		fmt.Fprint(b.out, "\r\x1b[K")
	}
}

// counted counts the bytes that are written.
type counted struct {
	io.Writer
	n  int64
	at func(n int64)
}

func (c *counted) Write(b []byte) (int, error) {
	n, err := c.Writer.Write(b)
	c.n += int64(n)
	c.at(c.n)
	return n, err
}

// sorted returns the records by a field.
func sorted(all []record, field string) []record {
	sort.SliceStable(all, func(i, j int) bool { return all[i].text(field) < all[j].text(field) })
	return all
}
