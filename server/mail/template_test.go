package mail

import (
	"flag"
	"html"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/google/go-cmp/cmp"

	"reeve/embed"
	"reeve/store/disk/disktest"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// templates returns the templates of the program.
func templates(t testing.TB) *Templates {
	t.Helper()
	parsed, err := ParseTemplates(templateFiles(t))
	must(t, err)
	return parsed
}

func templateFiles(t testing.TB) fs.FS {
	t.Helper()
	files, err := fs.Sub(embed.Mail, "mail")
	must(t, err)
	return files
}

// testData is the Data of every golden file.
var testData = Data{
	Site:     "Reeve",
	Name:     "Ada <Lovelace> & Söhne",
	Username: "ada",
	Link:     "https://reeve.example.org/reset#token=abc_DEF-123&x=1",
	Expires:  time.Date(2026, 3, 4, 6, 5, 0, 0, time.FixedZone("CET", 3600)),
	By:       "Charles O'Babbage",
	Email:    "ada@example.com",
	Contact:  "it@example.org",
	Device:   "Firefox, Linux",
	Address:  "192.0.2.1",
	Time:     time.Date(2026, 3, 4, 6, 5, 0, 0, time.FixedZone("CET", 3600)),
	Digits:   "12345678",
	Problems: []string{"the last proven copy at nas is of 2026-03-02 02:00 UTC; the last attempt failed", "there is no proven copy at offsite"},
}

func TestGoldenMessages(t *testing.T) {
	parsed := templates(t)
	for _, name := range parsed.Names() {
		for _, language := range languages {
			subject, text, html, err := parsed.Render(name, language, testData)
			must(t, err)
			golden(t, name+"."+language, "Subject: "+subject+"\n\n"+text+"\n"+html)
		}
	}
}

func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name+".golden")
	if *update {
		must(t, os.WriteFile(path, []byte(got), 0o644))
		return
	}
	want, err := os.ReadFile(path)
	must(t, err)
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s (- file, + now; go test -update writes it anew):\n%s", path, diff)
	}
}

// TestOptionalData renders every message with as little Data as possible.
func TestOptionalData(t *testing.T) {
	parsed := templates(t)
	for _, name := range parsed.Names() {
		for _, language := range languages {
			subject, text, html, err := parsed.Render(name, language, Data{
				Site:     "运营后台",
				Username: "ada",
				Link:     testData.Link,
				Email:    "ada@example.com",
			})
			must(t, err)
			for what, content := range map[string]string{
				"subject": subject,
				"text":    text,
				"HTML":    html,
			} {
				// What is left out leaves no gap, and no stray punctuation.
				for _, trace := range []string{"  ", " ,", " .", " ，", "，，", "。。", "0001", "{",
					"}", "[", "]", "|"} {
					if what != "HTML" && strings.Contains(content, trace) {
						t.Errorf("%s.%s: the %s contains %q:\n%s", name, language, what, trace,
							content)
					}
				}
			}

			if !strings.Contains(subject, "运营后台") || !strings.Contains(text, "运营后台") {
				t.Errorf("%s.%s does not say who sends it", name, language)
			}
		}
	}
}

// TestSignInMail_NamesProvider checks that a mail does not blame a password that was not used.
func TestSignInMail_NamesProvider(t *testing.T) {
	d := testData
	d.Provider = "login.example.org" // the owner chooses the title
	for language, want := range map[string][]string{
		"en": {"Signed in with: login.example.org\n", "someone else can sign in to login.example.org as you: change your password there at once, and sign out"},
		"zh": {"登录方式：login.example.org\n", "说明有人能以您的身份登录“login.example.org”：请立即修改您在该处的密码，并在"},
	} {
		_, text, _, err := templates(t).Render("sign_in_unknown", language, d)
		must(t, err)
		for _, part := range want {
			if !strings.Contains(text, part) {
				t.Errorf("%s: %q is missing:\n%s", language, part, text)
			}
		}
		if strings.Contains(text, "knows your password") || strings.Contains(text, "知道您的密码") {
			t.Errorf("%s: somebody knows the password:\n%s", language, text)
		}
	}
}

// TestHostileNames renders names of which no mail program should make a link, and which must
// not change the structure of a message.
func TestHostileNames(t *testing.T) {
	parsed := templates(t)
	d := testData
	_, wantText, wantHTML, err := parsed.Render("invitation", "en", d)
	must(t, err)
	links := append([]string{
		"https://evil.example/x", "evil.example", "www.evil.example", "Ada evil.example/login",
		"evil\u200b.example", "evil．example", "a@evil.example",
		"HTTP://EVIL", "javascript://%0aalert(1)", "x\r\nhttps://evil.example", "xn--evil.example",
		"//evil.example", "[click](https://evil.example)",
	}, hostileTexts...)
	for _, name := range links {
		d.Name, d.By = name, name
		_, text, html, err := parsed.Render("invitation", "en", d)
		must(t, err)
		if strings.Contains(strings.ToLower(text+html), "evil") ||
			strings.ContainsAny(text, "\r\x00\u202e\u2028") ||
			len(text) > len(wantText)+3*4*maxName {
			t.Errorf("%.100q is in the message:\n%s", name, text)
		}

		for _, part := range []string{"<", "<a ", "<p ", "<br>", "href="} {
			if strings.Count(html, part) != strings.Count(wantHTML, part) {
				t.Errorf("%.100q: %d times %s in the HTML, want %d", name,
					strings.Count(html, part), part, strings.Count(wantHTML, part))
			}
		}

		if strings.Count(text, "\n") != strings.Count(wantText, "\n") {
			t.Errorf("%.100q: another number of lines:\n%s", name, text)
		}
	}
}

func TestPersonName(t *testing.T) {
	for _, test := range []struct{ name, want string }{
		{"Ada Lovelace", "Ada Lovelace"},
		{"J. R. Smith", "J. R. Smith"},
		{"Dr. Ada, Jr.", "Dr. Ada, Jr."},
		{"阿达。", "阿达。"},
		{"john.smith", ""},
		{"a.bc", ""},
		{"-.bc", ""},
		{"例子。中国", ""},
		{"4．٣٤", ""},
		{"A.B.", "A.B."},
		{".NET", ".NET"},
		{"v1.2", "v1.2"},
		{"ada@example.org", ""},
		{" Ada\nLovelace ", "Ada Lovelace"},
		{strings.Repeat("a", 100), strings.Repeat("a", maxName-1) + "…"},
	} {
		disktest.Equal(t, test.name, personName(test.name), test.want)
	}
}

func TestRenderErrors(t *testing.T) {
	parsed := templates(t)
	for _, test := range []struct{ name, language, link, want string }{
		{"farewell", "en", testData.Link, `no message "farewell" in the language "en"`},
		{"test", "de", testData.Link, `no message "test" in the language "de"`},
		{"", "", testData.Link, `no message "" in the language ""`},
		{"invitation", "en", "", "invitation.en: the link is not an absolute URL"},
		{"invitation", "zh", "/reset", "invitation.zh: the link is not an absolute URL"},
		{"invitation", "en", "javascript:alert(1)",
			"invitation.en: the link is not an absolute URL"},
		{"invitation", "en", "https://example.org/\r\n\r\nx",
			"invitation.en: the link is not an absolute URL"},
		{"invitation", "en", "https://example.org/ x",
			"invitation.en: the link is not an absolute URL"},
		{"invitation", "en", `https://example.org/"><script>`,
			"invitation.en: the link is not an absolute URL"},
		{"test", "en", "", ""},
		{"email_changed", "zh", "nothing", ""},
		{"invitation", "en", "http://[::1]:8080/#a", ""},
	} {
		d := testData
		d.Link = test.link
		_, _, _, err := parsed.Render(test.name, test.language, d)
		got := ""
		if err != nil {
			got = err.Error()
		}
		disktest.Equal(t, test.name+" "+test.link, got, test.want)
	}
}

// TestTemplateMistakes covers mistakes in the files, which are found when they are parsed.
func TestTemplateMistakes(t *testing.T) {
	const layout = "<p>{site}</p>\n<!-- text -->\n<p>{text}</p>\n<!-- link -->\n<a href=\"{link}\">{button}</a>\n<!-- foot -->\n{footer}\n"
	for _, test := range []struct{ file, content, want string }{
		{"test.en.txt", "", "test.en.txt:1: must be a line Subject: …"},
		{"test.en.txt", "Hello\n\nHello\n", "test.en.txt:1: must be a line Subject: …"},
		{"test.en.txt", "Subject: \n\nHello\n", "test.en.txt:1: must be a line Subject: …"},
		{"test.en.txt", "Subject: Hello\n",
			"test.en.txt:2: must be an empty line; a line Button: is only for a text with a line {link}"},
		{"test.en.txt", "Subject: Hello\nHello\n",
			"test.en.txt:2: must be an empty line; a line Button: is only for a text with a line {link}"},
		{"test.en.txt", "Subject: Hello\nButton: Go\n\nHello\n",
			"test.en.txt:2: must be an empty line; a line Button: is only for a text with a line {link}"},
		{"test.en.txt", "Subject: Hello\n\n\n", "test.en.txt:3: no text"},
		{"test.en.txt", "Subject: Hello\n\nHello\n\n{link}\n",
			"test.en.txt:2: must be a line Button: …"},
		{"test.en.txt", "Subject: Hello\nButton: \n\nHello\n\n{link} \r\n",
			"test.en.txt:2: must be a line Button: …"},
		{"test.en.txt", "Subject: Hello\nButton: Go\nTo: x\n\nHello\n\n{link}\n",
			"test.en.txt:3: must be an empty line; a line Button: is only for a text with a line {link}"},
		{"test.en.txt", "Subject: Hello\n\nHello\n\n {link}\n",
			"test.en.txt:5: {link} must be a paragraph of its own"},
		{"test.en.txt", "Subject: Hello\nButton: Go\n\nHello\n{link}\n",
			"test.en.txt:5: {link} must be a paragraph of its own"},
		{"test.en.txt", "Subject: Hello\nButton: Go\n\n{link}\nHello\n",
			"test.en.txt:4: {link} must be a paragraph of its own"},
		{"test.en.txt", "Subject: Hello {link}\n\nHello\n",
			"test.en.txt:1: {link} must be a paragraph of its own"},
		{"test.en.txt", "Subject: Hello\n\n[{by}|{link}]\n",
			"test.en.txt:3: {link} must be a paragraph of its own"},
		{"test.zh.txt", "Subject: {site\n\nHello\n", "test.zh.txt:1: misplaced {"},
		{"test.zh.txt", "Subject: Hello\n\nHello\nsite}\n", "test.zh.txt:4: misplaced }"},
		{"test.zh.txt", "Subject: Hello\n\n{{.Site}}\n", "test.zh.txt:3: misplaced {"},
		{"test.zh.txt", "Subject: Hello\n\n\n\nHello {password}\n",
			"test.zh.txt:5: unknown placeholder {password}"},
		{"test.zh.txt", "Subject: Hello {Site}\n\nHello\n",
			"test.zh.txt:1: unknown placeholder {Site}"},
		{"test.zh.txt", "Subject: Hello\n\n[{contact}|{password}]\n",
			"test.zh.txt:3: unknown placeholder {password}"},
		{"test.zh.txt", "Subject: Hello\n\nHello {name}!\n",
			`test.zh.txt:3: "Hello {name}!" has a value that may be empty; put it into square brackets`},
		{"test.zh.txt", "Subject: Hello\n\n[Hello]\n",
			"test.zh.txt:3: [Hello] has no value that may be empty"},
		{"test.zh.txt", "Subject: Hello\n\n[{name}\n", "test.zh.txt:3: [ without ]"},
		{"test.zh.txt", "Subject: Hello\n\n[{name}]]\n", "test.zh.txt:3: misplaced ]"},
		{"test.zh.txt", "Subject: Hello\n\n[{name}[{by}]]\n", "test.zh.txt:3: misplaced ["},
		{"footer.zh.txt", "", "footer.zh.txt:1: no text"},
		{"footer.zh.txt", "{password}\n", "footer.zh.txt:1: unknown placeholder {password}"},
		{"footer.zh.txt", "{site}\n\n{username}\n",
			"footer.zh.txt:3: must be one paragraph without a link"},
		{"footer.zh.txt", "{link}\n", "footer.zh.txt:1: must be one paragraph without a link"},
		{"layout.html", "<!-- text -->\n{password}",
			"layout.html:2: unknown placeholder {password}"},
		{"layout.html", strings.Replace(layout, "{site}", "{text}", 1),
			"layout.html:1: unknown placeholder {text}"},
		{"layout.html", strings.Replace(layout, "{text}", "{link}", 1),
			"layout.html:3: unknown placeholder {link}"},
		{"layout.html", "<p>{site}</p>\n", "layout.html:1: no line <!-- text --> before the end"},
		{"layout.html", strings.Replace(layout, "foot", "text", 1),
			"layout.html:7: no line <!-- foot --> before the end"},
	} {
		files := copied(t)
		files[test.file] = &fstest.MapFile{Data: []byte(test.content)}
		if _, err := ParseTemplates(files); err == nil || err.Error() != test.want {
			t.Errorf("%s with %q: %v, want %s", test.file, test.content, err, test.want)
		}
		delete(files, test.file)
		if _, err := ParseTemplates(files); err == nil {
			t.Errorf("%s may be missing", test.file)
		}
	}
}

// copied returns a copy of the files, which can be changed.
func copied(t *testing.T) fstest.MapFS {
	files := fstest.MapFS{}
	must(t,
		fs.WalkDir(templateFiles(t), ".", func(path string, entry fs.DirEntry, err error) error {
			if err != nil || entry.IsDir() {
				return err
			}
			b, err := fs.ReadFile(templateFiles(t), path)
			files[path] = &fstest.MapFile{Data: b}
			return err
		}))
	return files
}

// TestOptionalParts renders files in which everything can be left out.
func TestOptionalParts(t *testing.T) {
	files := copied(t)
	files["test.en.txt"] = &fstest.MapFile{Data: []byte("Subject: To {username}[ from {by} at {site}]\r\n\r\n[{name}|{by}|nobody] a|b\r\n[{contact}]\r\n[{by} and {name}]\r\n\r\n[{expires}]\r\n")}
	files["footer.en.txt"] = &fstest.MapFile{Data: []byte("{site}\n[{contact}]\n")}
	files["layout.html"] = &fstest.MapFile{Data: []byte("p { x }\n<!-- text -->\n<p>{text}</p>\n<!-- link -->\n<!-- foot -->\n<p title=\"{subject}\">{footer}</p>\n")}
	parsed, err := ParseTemplates(files)
	must(t, err)
	for _, test := range []struct {
		data Data
		want []string
	}{
		{Data{Site: "S", Username: "u"}, []string{
			"To u", "nobody a|b\n\nS\n", "p { x }\n<p>nobody a|b</p>\n<p title=\"To u\">S</p>\n"}},
		{Data{Username: "u", By: "B"}, []string{ // only a value that may be empty decides
			"To u from B at", "B a|b\n\n\n",
			"p { x }\n<p>B a|b</p>\n<p title=\"To u from B at\"></p>\n"}},
		{Data{Site: "S", Username: "u", By: "B"}, []string{
			"To u from B at S", "B a|b\n\nS\n",
			"p { x }\n<p>B a|b</p>\n<p title=\"To u from B at S\">S</p>\n"}},
		{Data{
			Site:     "S",
			Username: "u",
			Name:     "N",
			By:       "B",
			Contact:  "C",
			Expires:  time.Unix(0, 0),
		}, []string{
			"To u from B at S", "N a|b\nC\nB and N\n\n1 January 1970, 00:00 UTC\n\nS\nC\n",
			"p { x }\n<p>N a|b<br>C<br>B and N</p>\n<p>1 January 1970, 00:00 UTC</p>\n<p title=\"To u from B at S\">S<br>C</p>\n"}},
	} {
		subject, text, html, err := parsed.Render("test", "en", test.data)
		must(t, err)
		if diff := cmp.Diff(test.want, []string{subject, text, html}); diff != "" {
			t.Errorf("%+v (- want, + got):\n%s", test.data, diff)
		}
	}
}

// TestTemplate_ValuesAreNotParsed renders values that look like parts of a template, or of HTML.
func TestTemplate_ValuesAreNotParsed(t *testing.T) {
	parsed := templates(t)
	const link = "https://example.org/#a&b;[]"
	for _, value := range []string{"{username}", "[{name}|x]", "[", "]", "|", "{", "<!-- link -->",
		"</title><script>alert(1)</script>", `" onload="alert(1)`, "' x='", "&lt;", "&#60;b>"} {
		d := Data{
			Site:     value,
			Name:     value,
			Username: value,
			By:       value,
			Email:    value,
			Contact:  value,
			Link:     link,
		}
		for _, name := range parsed.Names() {
			subject, text, page, err := parsed.Render(name, "en", d)
			must(t, err)
			if !strings.Contains(subject, value) || !strings.Contains(text, value) {
				t.Errorf("%s: %s is not shown as it is:\n%s\n%s", name, value, subject, text)
			}
			// What remains without the escaped values is the same as with a harmless value.
			d := Data{
				Site:     "x",
				Name:     "x",
				Username: "x",
				By:       "x",
				Email:    "x",
				Contact:  "x",
				Link:     link,
			}
			_, _, want, err := parsed.Render(name, "en", d)
			must(t, err)
			escaped := html.EscapeString(value)
			if n := strings.Count(page, escaped); n < 4 {
				t.Errorf("%s: %s is %d times in the HTML:\n%s", name, escaped, n, page)
			}

			for _, c := range `<>"'` {
				disktest.Equal(t, name+": number of "+string(c)+" with "+value,
					strings.Count(page, string(c)), strings.Count(want, string(c)))
			}

			if strings.Contains(page, `href="`+link) ||
				strings.Count(page, `href="https://example.org/#a&amp;b;[]"`) != strings.Count(want, "href=") {
				t.Errorf("%s: the link is not escaped:\n%s", name, page)
			}
		}
	}
}

// TestTemplate_FilesAllUsed finds files of messages that do not exist.
func TestTemplate_FilesAllUsed(t *testing.T) {
	paths, err := fs.Glob(templateFiles(t), "*")
	must(t, err)
	if want := (len(names)+1)*len(languages) + 1; len(paths) != want {
		t.Errorf("%d files, want %d: %v", len(paths), want, paths)
	}
}
