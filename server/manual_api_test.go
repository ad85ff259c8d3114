package server_test

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"reeve/embed"
	"reeve/server/ops"
	"reeve/server/servertest"
	"reeve/store"
)

func TestManual_HTML(t *testing.T) {
	files, err := fs.Sub(embed.Manual, "manual")
	servertest.Must(t, err)
	in := servertest.Start(t, func(su *servertest.Setup) { su.Config.Manual = files })
	answer := in.OK("GET", "/system/manual", "", "owner")
	data := string(answer.Envelope().Data)
	for _, want := range []string{`"key":"getting-started","title":"Getting started"`,
		`href=\"/console/help/concepts`} {
		if !strings.Contains(data, want) {
			t.Errorf("it lacks %s", want)
		}
	}

	etag := answer.Header.Get("Etag")
	if again := in.Get("GET", "/system/manual", "owner", "If-None-Match", etag); etag == "" ||
		again.Code != 304 {
		t.Errorf("with the tag %q again: %d", etag, again.Code)
	}
}

// TestManual_Language: a topic is in the language of the request if it is translated, and a cache keeps
// the languages apart.
func TestManual_Language(t *testing.T) {
	in := servertest.Start(t, func(su *servertest.Setup) {
		su.Config.Manual = fstest.MapFS{
			"getting-started.md":    {Data: []byte("# Getting started\n\n## Start it\n")},
			"concepts.md":           {Data: []byte("# Concepts\n")},
			"zh/getting-started.md": {Data: []byte("# 快速入门\n\n## 启动\n")},
		}
	})
	tags := map[string]string{}
	for language, want := range map[string][2]string{
		"en":    {"en", `{"key":"getting-started","title":"Getting started","lang":"en"`},
		"zh-CN": {"zh-CN", `{"key":"getting-started","title":"快速入门","lang":"zh-CN","html":"\u003ch1 id=\"getting-started\"`},
	} {
		answer := in.Get("GET", "/system/manual", "owner", "Accept-Language", language)
		body := string(answer.Envelope().Data)
		if !strings.Contains(body, want[1]) || !strings.Contains(body, `{"key":"concepts","title":"Concepts","lang":"en"`) {
			t.Errorf("%s: %s", language, body)
		}
		h := answer.Header
		if h.Get("Content-Language") != want[0] || h.Get("Vary") != "Accept-Language" || h.Get("Cache-Control") != "private, no-cache" {
			t.Errorf("%s: the headers %v", language, h)
		}
		tags[language] = h.Get("Etag")
	}
	for language, other := range map[string]string{"en": "zh-CN", "zh-CN": "en"} {
		unchanged := in.Get("GET", "/system/manual", "owner", "Accept-Language", language, "If-None-Match", tags[language])
		if unchanged.Code != 304 || unchanged.Header.Get("Vary") != "Accept-Language" {
			t.Errorf("%s again: %d, %v", language, unchanged.Code, unchanged.Header)
		}
		if a := in.Get("GET", "/system/manual", "owner", "Accept-Language", language, "If-None-Match", tags[other]); a.Code != 200 {
			t.Errorf("%s with the tag of %s: %d", language, other, a.Code)
		}
	}
}

// TestManual_TranslationsNameConsole: where a topic names a text of the console in italics, its
// translation names that of the Chinese console, in the same section.
func TestManual_TranslationsNameConsole(t *testing.T) {
	chinese := map[string][]string{} // texts of the Chinese console by those of the English one
	to := all(t, consoleWords(t, "zh"))
	for key, text := range all(t, consoleWords(t, "en")) {
		chinese[text] = append(chinese[text], to[key])
	}

	pages, err := filepath.Glob("../embed/manual/zh/*.md")
	servertest.Must(t, err)
	sections := regexp.MustCompile(`(?m)^#+ `)
	named := regexp.MustCompile(`\*([^*` + "`" + `\n]+)\*`)
	count := 0
	for _, page := range pages {
		original, err := os.ReadFile("../embed/manual/" + filepath.Base(page))
		servertest.Must(t, err)
		translation, err := os.ReadFile(page)
		servertest.Must(t, err)
		parts := sections.Split(string(translation), -1)
		for i, section := range sections.Split(string(original), -1) {
			for _, m := range named.FindAllStringSubmatch(section, -1) {
				for name := range strings.SplitSeq(m[1], " → ") { // System → Sessions
					texts := chinese[name]
					if texts == nil {
						continue
					}
					count++
					if !slices.ContainsFunc(texts, func(text string) bool { return strings.Contains(parts[i], text) }) {
						t.Errorf("%s: the section %.60q lacks the name of %q in the Chinese console, one of %q", page, parts[i], name, texts)
					}
				}
			}
		}
	}
	if count < 60 {
		t.Errorf("found %d names", count)
	}
}

// TestManual_TasksNameConsole: what the tasks name in italics is a text of the console, in English or Chinese.
func TestManual_TasksNameConsole(t *testing.T) {
	page, err := os.ReadFile("../embed/manual/tasks.md")
	servertest.Must(t, err)
	var texts []string
	value := regexp.MustCompile(`\\\{[^}]*\}`)
	for _, language := range []string{"en", "zh"} {
		for _, text := range all(t, consoleWords(t, language)) {
			texts = append(texts, value.ReplaceAllString(regexp.QuoteMeta(text), `.+`))
		}
	}
	permissions, err := os.ReadFile(filepath.Join(consoleSource, "i18n/zh/actions.ts"))
	servertest.Must(t, err)
	for _, m := range regexp.MustCompile(`(?m)'given\..*: '(.*)',$`).FindAllSubmatch(permissions, -1) {
		texts = append(texts, regexp.QuoteMeta(string(m[1])))
	}
	known := regexp.MustCompile("^(?:" + strings.Join(texts, "|") + ")$")

	names := regexp.MustCompile(`\*([^*\n]+)\*`).FindAllSubmatch(page, -1)
	for _, m := range names {
		for name := range strings.SplitSeq(string(m[1]), " → ") {
			if !known.MatchString(name) {
				t.Errorf("the console has no text %q", name)
			}
		}
	}
	if len(names) < 100 {
		t.Errorf("found %d names", len(names))
	}
	if tasks := strings.Count(string(page), "\n### "); tasks != 36 {
		t.Errorf("found %d tasks", tasks)
	}
}

func TestManual_NoTopicsIfAbsent(t *testing.T) {
	in := servertest.Start(t)
	if got := string(in.OK("GET", "/system/manual", "", "owner").Envelope().Data); got != `{"data":[]}` {
		t.Error(got)
	}
}

func TestManual_BadIsRefusedAtStart(t *testing.T) {
	if _, err := ops.NewManual(fstest.MapFS{"bad.md": {Data: []byte("no title")}}, ops.ManualPages, "en"); err == nil {
		t.Error("it is taken")
	}
}

// rowsOf returns the rows of a page's tables whose first cell has a text in backquotes, by
// that text.
func rowsOf(t *testing.T, page string) map[string][]string {
	t.Helper()
	text, err := os.ReadFile("../embed/manual/" + page)
	servertest.Must(t, err)
	rows := map[string][]string{}
	for line := range strings.Lines(string(text)) {
		if cells := strings.Split(strings.TrimSpace(line), " | "); strings.HasPrefix(line, "| `") {
			for _, name := range regexp.MustCompile("`([^`]+)`").FindAllStringSubmatch(cells[0],
				-1) {
				rows[name[1]] = cells
			}
		}
	}
	return rows
}

// TestManual_ListsBuiltinSettings: the table has every setting with its default and bounds.
func TestManual_ListsBuiltinSettings(t *testing.T) {
	rows := rowsOf(t, "administration.md")
	for _, b := range store.Builtins {
		cells := rows[b.Name()]
		if cells == nil {
			t.Errorf("the table lacks %s", b.Name())
			continue
		}

		plain := strings.ReplaceAll(strings.Join(cells, " "), ",", "")
		if b.Type == "number" && !strings.Contains(plain, b.Default) {
			t.Errorf("%s has the default %s: %s", b.Name(), b.Default, plain)
		}
		if i := strings.Index(plain, " to "); b.Type == "number" && i > 0 {
			want := fmt.Sprintf("%s to %s", propOf(b, "min"), propOf(b, "max"))
			if !strings.Contains(plain, want) {
				t.Errorf("%s has bounds %s: %s", b.Name(), want, plain)
			}
		}
	}
	for name := range rows {
		if group, _, dotted := strings.Cut(name, "."); dotted &&
			slices.ContainsFunc(store.Builtins, func(b *store.Builtin) bool {
				return b.Group == group
			}) &&
			!slices.ContainsFunc(store.Builtins, func(b *store.Builtin) bool {
				return b.Name() == name
			}) {
			t.Errorf("there is no setting %s", name)
		}
	}
}

func propOf(b *store.Builtin, name string) string {
	i := slices.IndexFunc(b.Props, func(p store.Prop) bool { return p.Name == name })
	if i < 0 {
		return ""
	}
	return b.Props[i].Value
}

// TestManual_ListsEveryPackage: the table has every package of the module.
func TestManual_ListsEveryPackage(t *testing.T) {
	rows := rowsOf(t, "../../docs/architecture.md")
	for pkg := range mayImport {
		name := strings.TrimPrefix(pkg, "reeve/")
		if pkg != "reeve" && !strings.HasSuffix(name, "test") && rows[name] == nil {
			t.Errorf("the table of packages lacks %s", name)
		}
	}
}
