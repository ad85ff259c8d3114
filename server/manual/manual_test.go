package manual

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"testing/fstest"
	"unicode/utf8"

	"reeve/embed"
)

// load returns the topics of the manual that is compiled in.
func load(t *testing.T) []*Topic {
	t.Helper()
	files, err := fs.Sub(embed.Manual, "manual")
	if err != nil {
		t.Fatal(err)
	}
	topics, err := Load(files)
	if err != nil {
		t.Fatal(err)
	}
	return topics
}

// one returns a topic with a source.
func one(t *testing.T, source string) *Topic {
	t.Helper()
	topics, err := Load(fstest.MapFS{"topic.md": {Data: []byte(source)}})
	if err != nil {
		t.Fatal(err)
	}
	return topics[0]
}

func TestTopics_ReadingOrder(t *testing.T) {
	topics := load(t)
	if len(topics) < 10 || topics[0].Key != "getting-started" ||
		topics[0].Title != "Getting started" || topics[len(topics)-1].Key != "changelog" {
		t.Errorf("%d topics, from %s to %s", len(topics), topics[0].Key, topics[len(topics)-1].Key)
	}
	for _, topic := range topics {
		if rank(topic.Key) == len(order) {
			t.Errorf("%s.md has no place in the reading order", topic.Key)
		}
	}
}

func TestTopics_WithoutTitleRefused(t *testing.T) {
	for _, source := range []string{"", "text", "## Second\n"} {
		if _, err := Load(fstest.MapFS{"bad.md": {Data: []byte(source)}}); err == nil ||
			!strings.Contains(err.Error(), "bad.md") {
			t.Errorf("%q: %v", source, err)
		}
	}
}

var (
	href = regexp.MustCompile(`<a href="([^"]+)"`)
	ids  = regexp.MustCompile(` id="([^"]+)"`)
)

// TestLinks_Resolve: a link to another page names a topic, and its fragment a heading.
func TestLinks_Resolve(t *testing.T) {
	targets, pages := map[string]bool{}, map[string]string{}
	for _, topic := range load(t) {
		html, err := topic.HTML("/m/")
		if err != nil {
			t.Fatal(err)
		}
		pages[topic.Key], targets["/m/"+topic.Key] = html, true
		for _, id := range ids.FindAllStringSubmatch(html, -1) {
			targets["/m/"+topic.Key+"#"+id[1]] = true
		}
	}

	links := 0
	for key, html := range pages {
		for _, link := range href.FindAllStringSubmatch(html, -1) {
			to := link[1]
			if strings.HasPrefix(to, "#") {
				to = "/m/" + key + to
			}
			links++
			if strings.HasPrefix(to, "/m/") && !targets[to] {
				t.Errorf("%s.md links to %s, which does not exist", key, to)
			}
		}
	}

	if links < 30 {
		t.Errorf("found %d links", links)
	}
}

// TestLinks_ResolveInRepository: a link of the README, of docs and of .github to a file of the repository
// names one that exists, and its fragment a heading.
func TestLinks_ResolveInRepository(t *testing.T) {
	link := regexp.MustCompile(`\]\(([^):#\s"]*)(?:#([^)]*))?\)`)
	links := 0
	for _, dir := range []string{"../..", "../../docs", "../../.github"} {
		names, err := filepath.Glob(dir + "/*.md")
		if err != nil || names == nil {
			t.Fatal(dir, names, err)
		}
		for _, name := range names {
			source, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			for _, m := range link.FindAllStringSubmatch(string(source), -1) {
				links++
				to, fragment := filepath.Join(dir, m[1]), m[2]
				if m[1] == "" {
					to = name
				}
				text, err := os.ReadFile(to)
				if err != nil {
					t.Errorf("%s links to %s: %v", name, m[0], err)
					continue
				}
				if fragment == "" {
					continue
				}
				html, err := one(t, string(text)).HTML("/m/")
				if err != nil || !strings.Contains(html, ` id="`+fragment+`"`) {
					t.Errorf("%s links to %s, which has no such heading (%v)", name, m[0], err)
				}
			}
		}
	}
	if links < 40 {
		t.Errorf("found %d links", links)
	}
}

func TestHTML(t *testing.T) {
	for name, c := range map[string]struct{ source, want string }{
		"a link to a page":    {"[x](concepts.md)", `<a href="/m/concepts">x</a>`},
		"a link to a heading": {"[x](concepts.md#roles)", `<a href="/m/concepts#roles">x</a>`},
		"a link to a site": {"[x](https://example.org/a.md)",
			`<a href="https://example.org/a.md">x</a>`},
		"a table":              {"|a|\n|-|\n|1|", "<td>1</td>"},
		"a heading with an ID": {"## Two words", `<h2 id="two-words">`},
		"code with a language": {"```sh\nls\n```", `<code class="language-sh">ls`},
		"markup in code":       {"`<b>`", "<code>&lt;b&gt;</code>"},
		"markup in a text": {"a <img src=x onerror=alert(1)> b",
			"a <!-- raw HTML omitted --> b"},
		"a block of markup":     {"<script>alert(1)</script>", "<!-- raw HTML omitted -->"},
		"a link with a script":  {"[x](javascript:alert(1))", `<a href="">x</a>`},
		"a link that is data":   {"[x](data:text/html,hi)", `<a href="">x</a>`},
		"a picture of a script": {"![x](javascript:alert(1))", `<img src="" alt="x">`},
	} {
		got, err := one(t, "# Title\n\n"+c.source).HTML("/m/")
		if err != nil || !strings.Contains(got, c.want) ||
			strings.Contains(got, "alert(1)</script>") || strings.Contains(got, "javascript:") {
			t.Errorf("%s: %q (%v), want %q", name, got, err, c.want)
		}
	}
}

func TestText(t *testing.T) {
	const source = "# A title\n\nSome *text* with `code`, a [link](a.md) and a [site](https://example.org), long enough to wrap.\n\n" +
		"## Part\n\n- one\n- two words that do not fit into one line of this\n\n1. first\n2. second\n\n```sh\na very long line of code that is never wrapped at all\n```\n\n" +
		"| a | b |\n|---|---|\n| 1 | 2 |\n\n| name | meaning | note |\n|---|---|---|\n| `x` | a meaning that is far too long for columns | n |\n"
	const want = `A TITLE

Some text with ` + "`code`" + `, a link and a site
(https://example.org), long enough to
wrap.

Part
----

- one
- two words that do not fit into one
  line of this

1. first
2. second

    a very long line of code that is never wrapped at all

a  b
----
1  2

` + "`x`" + `
    meaning: a meaning that is far too
    long for columns
    note: n
`
	if got := one(t, source).Text(40); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// TestText_LineWidth: no line of the manual but code, and words that are longer, is too wide.
func TestText_LineWidth(t *testing.T) {
	for _, topic := range load(t) {
		for line := range strings.Lines(topic.Text(92)) {
			line = strings.TrimRight(line, "\n")
			if utf8.RuneCountInString(line) > 92 && !strings.HasPrefix(line, "    ") &&
				len(strings.Fields(line)) > 1 {
				t.Errorf("%s: %q", topic.Key, line)
			}
		}
	}
}
