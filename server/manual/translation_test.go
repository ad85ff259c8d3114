package manual

import (
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"unicode"

	"github.com/yuin/goldmark/ast"
	extension "github.com/yuin/goldmark/extension/ast"

	"reeve/embed"
)

// translated is the number of topics that readers of Chinese get in their language: the first ones.
const translated = 10

// TestTranslations_FollowOriginals: a translation says what its original says, as far as that can be
// compared: the same headings, paragraphs, lists and tables, links, names in code, and code.
func TestTranslations_FollowOriginals(t *testing.T) {
	topics := load(t)
	files, err := fs.Sub(embed.Manual, "manual")
	if err != nil {
		t.Fatal(err)
	}
	all, err := Translated(topics, files, "zh-CN")
	if err != nil {
		t.Fatalf("%v: translate what has changed in the original, in embed/manual/zh", err)
	}

	names, err := fs.Glob(files, "zh/*.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		if Find(topics, strings.TrimSuffix(path.Base(name), ".md")) == nil {
			t.Errorf("embed/manual/%s has no original: delete it, or rename it with its original", name)
		}
	}

	for i, topic := range topics {
		if all[i].Lang != "zh-CN" {
			if i < translated {
				t.Errorf("embed/manual/zh/%s.md is missing: translate the topic, which is one of the first %d", topic.Key, translated)
			}
			continue
		}
		for _, fault := range differences(topic, all[i]) {
			t.Errorf("embed/manual/zh/%s.md does not follow embed/manual/%[1]s.md: %s; translate the change of the original there", topic.Key, fault)
		}
		if !slices.Equal(fragments(t, topic), fragments(t, all[i])) {
			t.Errorf("embed/manual/zh/%s.md has other IDs of headings than its original", topic.Key)
		}
	}
}

func fragments(t *testing.T, topic *Topic) (all []string) {
	t.Helper()
	html, err := topic.HTML("/m/")
	if err != nil {
		t.Fatal(err)
	}
	for _, id := range ids.FindAllStringSubmatch(html, -1) {
		all = append(all, id[1])
	}
	return all
}

// part is a heading, a paragraph, a cell, or a block of code.
type part struct {
	kind  string   // kind of the block and of those around it
	text  string   // text without code, or a block of code
	code  []string // pieces of code in the text
	links []string
}

// parts returns the parts of a topic in their order.
func (t *Topic) parts() (all []part) {
	var blocks func(n ast.Node, kind string)
	blocks = func(parent ast.Node, kind string) {
		for n := parent.FirstChild(); n != nil; n = n.NextSibling() {
			inner := kind + "/" + n.Kind().String()
			if list, ok := n.(*ast.List); ok && list.IsOrdered() {
				inner += " with numbers"
			}
			switch n := n.(type) {
			case *ast.Heading, *extension.TableCell, *ast.Paragraph, *ast.TextBlock:
				p := part{kind: inner}
				t.inline(n, &p)
				all = append(all, p)
			case *ast.FencedCodeBlock:
				p := part{kind: inner + " " + string(n.Language(t.source))}
				for i := range n.Lines().Len() {
					line := n.Lines().At(i)
					p.text += string(line.Value(t.source))
				}
				all = append(all, p)
			default:
				blocks(n, inner)
			}
		}
	}
	blocks(t.tree, "")
	return all
}

func (t *Topic) inline(parent ast.Node, p *part) {
	for n := parent.FirstChild(); n != nil; n = n.NextSibling() {
		switch n := n.(type) {
		case *ast.CodeSpan:
			p.code = append(p.code, t.plain(n))
		case *ast.AutoLink:
			p.links = append(p.links, string(n.URL(t.source)))
		case *ast.Text:
			p.text += string(n.Value(t.source))
			if n.SoftLineBreak() {
				p.text += "\n"
			}
		case *ast.Link:
			p.links = append(p.links, string(n.Destination))
			t.inline(n, p)
		default:
			t.inline(n, p)
		}
	}
}

var (
	comment = regexp.MustCompile(`(?m)(^|[ \t])(#|//) .*$`)
	remark  = regexp.MustCompile(comment.String() + `|[^ \n] {3,}\p{L}.*$`) // of a request, in its own column
	word    = regexp.MustCompile(`[a-z]{2,}`)
)

// properNames are the same in both languages.
var properNames = regexp.MustCompile(`\b(Ctrl|Enter|Esc|bcrypt|argon2id?|argon2i|scrypt|TypeScript|Express|Hono|net/http|chi)\b`)

// differences says where a translation differs from its original.
func differences(original, translation *Topic) (faults []string) {
	from, to := original.parts(), translation.parts()
	for i := range max(len(from), len(to)) {
		if i == len(to) {
			return append(faults, "it ends before "+short(from[i]))
		}
		if i == len(from) {
			return append(faults, "it goes on after the end of the original with "+short(to[i]))
		}
		a, b := from[i], to[i]
		if a.kind != b.kind {
			return append(faults, a.kind+" "+short(a)+" is "+b.kind+" "+short(b))
		}
		if strings.Contains(a.kind, "CodeBlock") {
			notes := comment
			if strings.HasSuffix(a.kind, " text") {
				notes = remark
			}
			if notes.ReplaceAllString(a.text, "") != notes.ReplaceAllString(b.text, "") {
				faults = append(faults, "a block of code differs in more than its comments: "+short(b))
			}
			for _, note := range notes.FindAllString(b.text, -1) {
				if !strings.ContainsFunc(note, isHan) {
					faults = append(faults, "the comment “"+note+"” is not translated")
				}
			}
			continue
		}
		if !slices.Equal(distinct(a.links), distinct(b.links)) {
			faults = append(faults, strings.Join(b.links, " ")+" are the links of "+short(b)+", instead of "+strings.Join(a.links, " "))
		}
		if !slices.Equal(distinct(a.code), distinct(b.code)) {
			faults = append(faults, "`"+strings.Join(b.code, "` `")+"` is the code of "+short(b)+", instead of `"+strings.Join(a.code, "` `")+"`")
		}
		if !strings.ContainsFunc(b.text, isHan) && word.MatchString(properNames.ReplaceAllString(b.text, "")) {
			faults = append(faults, short(b)+" is not translated")
		}
		if strings.Contains(b.text, "**") || strings.Contains(b.text, "\n") {
			faults = append(faults, short(b)+" has marks that are shown as text, or a line break, which is shown as a space")
		}
	}
	return faults
}

func isHan(r rune) bool { return unicode.Is(unicode.Han, r) }

func distinct(texts []string) []string { return slices.Compact(slices.Sorted(slices.Values(texts))) }

func short(p part) string {
	if text := []rune(p.text); len(text) > 60 {
		return "“" + string(text[:60]) + "…”"
	}
	return "“" + p.text + "”"
}

// TestDifferences finds each way in which a translation can miss what its original says.
func TestDifferences(t *testing.T) {
	const original = "# Title\n\nOne `code` and [a link](a.md#b).\n\n## Part\n\n- item\n\n```sh\nls # list\n```\n\n|a|b|\n|-|-|\n|1|`x`|\n"
	const good = "# 标题\n\n一段 `code` 和[链接](a.md#b)。\n\n## 部分\n\n- 项目\n\n```sh\nls # 列出\n```\n\n|甲|乙|\n|-|-|\n|1|`x`|\n"
	for name, c := range map[string][2]string{
		"nothing":                {"", ""},
		"another level":          {"## 部分", "### 部分"},
		"a heading less":         {"## 部分\n", "\n"},
		"a paragraph less":       {"一段 `code` 和[链接](a.md#b)。\n", ""},
		"a paragraph more":       {"## 部分\n", "## 部分\n\n多余。\n"},
		"an item less":           {"- 项目\n", ""},
		"another kind of list":   {"- 项目\n", "1. 项目\n"},
		"a text in English":      {"项目", "item"},
		"another link":           {"a.md#b", "a.md#c"},
		"another name":           {"`code`", "`cod`"},
		"other code":             {"ls #", "ls -l #"},
		"a comment in English":   {"列出", "list"},
		"another language":       {"```sh", "```text"},
		"a row less":             {"|1|`x`|\n", ""},
		"a row more":             {"|1|`x`|\n", "|1|`x`|\n|1|`x`|\n"},
		"emphasis that is none":  {"项目", "**“项目”**是"},
		"a line break":           {"一段", "一\n段"},
		"an end before its time": {"\n\n|甲|乙|\n|-|-|\n|1|`x`|\n", "\n"},
	} {
		faulty := strings.Replace(good, c[0], c[1], 1)
		if name != "nothing" && faulty == good {
			t.Fatal(name)
		}
		topics, err := Load(fstest.MapFS{"topic.md": {Data: []byte(original)}})
		if err != nil {
			t.Fatal(err)
		}
		all, err := Translated(topics, fstest.MapFS{"zh/topic.md": {Data: []byte(faulty)}}, "zh-CN")
		if found := err != nil || differences(topics[0], all[0]) != nil; found != (name != "nothing") {
			t.Errorf("%s: found %t, %v", name, found, err)
		}
	}
}

// TestTranslated: a translation has its own title, and the fragments and links of its original.
func TestTranslated(t *testing.T) {
	originals, err := Load(fstest.MapFS{"a.md": {Data: []byte("# A\n\n## One part\n")}, "b.md": {Data: []byte("# B\n")}})
	if err != nil {
		t.Fatal(err)
	}
	all, err := Translated(originals, fstest.MapFS{"zh/a.md": {Data: []byte("# 甲\n\n## 一\n\n[乙](b.md)\n")}}, "zh-CN")
	if err != nil {
		t.Fatal(err)
	}
	html, err := all[0].HTML("/m/")
	if want := "<h1 id=\"a\">甲</h1>\n<h2 id=\"one-part\">一</h2>\n<p><a href=\"/m/b\">乙</a></p>\n"; err != nil || html != want {
		t.Errorf("%v: %s", err, html)
	}
	if all[0].Title != "甲" || all[0].Lang != "zh-CN" || all[1].Lang != "en" || originals[0].Title != "A" {
		t.Errorf("%q in %s, %q in %s", all[0].Title, all[0].Lang, all[1].Title, all[1].Lang)
	}
	for _, bad := range []string{"# 甲\n", "# 甲\n\n### 一\n", "text"} {
		if _, err := Translated(originals, fstest.MapFS{"zh/a.md": {Data: []byte(bad)}}, "zh-CN"); err == nil {
			t.Errorf("%q is taken", bad)
		}
	}
}
