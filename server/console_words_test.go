package server_test

import (
	"encoding/json"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"reeve/server"
	"reeve/server/servertest"
	"reeve/server/web"
	"reeve/store"
)

// The console's words lie in files of one form: a line per text, or several where
// texts are joined with +.

const consoleSource = "../embed/console/src"

var (
	wordsBegin  = regexp.MustCompile(`(?m)^export const \w+(?:: Record<[^>]*>)? = \{\n`)
	wordsToken  = regexp.MustCompile(`^(?:'((?:[^'\\]|\\.)*)'|"((?:[^"\\]|\\.)*)"|(\w+)(?:\s*:)|([:,+}])|(//[^\n]*)|(\s+))`)
	placeholder = regexp.MustCompile(`\{\w+\}`)
)

// wordsOf reads the texts of a file of words, by key.
func wordsOf(source string) (map[string]string, error) {
	at := wordsBegin.FindStringIndex(source)
	if at == nil {
		return nil, fmt.Errorf("it has no words")
	}

	words, key, inText := map[string]string{}, "", false
	for rest := source[at[1]:]; ; {
		m := wordsToken.FindStringSubmatch(rest)
		if m == nil {
			return nil, fmt.Errorf("what is this: %.60q", rest)
		}

		rest = rest[len(m[0]):]
		text := m[1] + m[2]
		switch {
		case m[4] == "}":
			return words, nil
		case m[4] == ":":
			inText = true
		case m[4] == ",":
			key, inText = "", false
		case m[4] == "+" || m[5] != "" || m[6] != "":
		case m[3] != "":
			key, inText = m[3], true
			words[key] = ""
		case inText:
			words[key] += text
		default:
			if _, twice := words[text]; twice {
				return nil, fmt.Errorf("%s is there twice", text)
			}
			key = text
			words[key] = ""
		}
	}
}

// consoleWords are the texts of a language, by area and key.
func consoleWords(t *testing.T, language string) map[string]map[string]string {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(consoleSource, "i18n", language, "*.ts"))
	servertest.Must(t, err)
	areas := map[string]map[string]string{}
	for _, path := range paths {
		area := strings.TrimSuffix(filepath.Base(path), ".ts")
		if slices.Contains([]string{"index", "language", "library"}, area) ||
			givenTexts[area] != nil {
			continue
		}
		source, err := os.ReadFile(path)
		servertest.Must(t, err)
		words, err := wordsOf(string(source))
		if err != nil {
			t.Fatalf("%s: %v", path, err)
		}
		areas[area] = words
	}

	if len(areas) == 0 {
		t.Fatalf("no words in %s", language)
	}

	return areas
}

// all brings the areas together.
func all(t *testing.T, areas map[string]map[string]string) map[string]string {
	t.Helper()
	words := map[string]string{}
	for area, some := range areas {
		for key, text := range some {
			if _, twice := words[key]; twice {
				t.Errorf("%s has %s, and another area too", area, key)
			}
			words[key] = text
		}
	}
	return words
}

func TestConsoleWords_Parser(t *testing.T) {
	t.Parallel()
	words, err := wordsOf("// of a page\nexport const page = {\n  'a.b': 'It\\'s',\n  plain: \"it's {n}\", // why\n  'long': 'one ' +\n    'two',\n} as const\n")
	want := map[string]string{"a.b": `It\'s`, "plain": "it's {n}", "long": "one two"}
	if err != nil || !maps.Equal(words, want) {
		t.Errorf("%v, %v", words, err)
	}
	for name, source := range map[string]string{
		"a key twice": "export const page = {\n  'a': 'x',\n  'a': 'y',\n}",
		"a call":      "export const page = {\n  'a': f(),\n}", "nothing": "",
	} {
		if words, err := wordsOf(source); err == nil {
			t.Errorf("%s: %v", name, words)
		}
	}
}

func TestConsoleWords_LanguagesMatch(t *testing.T) {
	t.Parallel()
	en, zh := consoleWords(t, "en"), consoleWords(t, "zh")
	all(t, en)
	if a, b := slices.Sorted(maps.Keys(en)), slices.Sorted(maps.Keys(zh)); !slices.Equal(a, b) {
		t.Fatalf("areas %v and %v", a, b)
	}

	for area := range en {
		if a, b := slices.Sorted(maps.Keys(en[area])), slices.Sorted(maps.Keys(zh[area])); !slices.Equal(a, b) {
			t.Errorf("%s: keys\n%v\n%v", area, a, b)
		}
		for key, text := range en[area] {
			a, b := placeholder.FindAllString(text, -1), placeholder.FindAllString(zh[area][key],
				-1)
			slices.Sort(a)
			slices.Sort(b)
			if !slices.Equal(slices.Compact(a), slices.Compact(b)) {
				t.Errorf("%s has %v in one language and %v in the other", key, a, b)
			}
			if text == "" || zh[area][key] == "" {
				t.Errorf("%s is empty", key)
			}
		}
	}
}

// ofTheConsole are the codes of failures that the console finds itself.
var ofTheConsole = []string{"offline", "unreachable"}

// The server's message is in the user's language and more specific than its code; the console
// has words for few codes.
func TestConsoleWords_ErrorCodes(t *testing.T) {
	t.Parallel()
	areas := consoleWords(t, "en")
	known := maps.Clone(areas["errors"])
	maps.Copy(known, areas["first"])
	codes := append(errorCodes(t), ofTheConsole...)
	for _, code := range ofTheConsole {
		if _, ok := known["error."+code]; !ok {
			t.Errorf("add %q to embed/console/src/i18n/en/errors.ts and zh/errors.ts",
				"error."+code)
		}
	}

	for key := range known {
		if code, ok := strings.CutPrefix(key, "error."); ok && !slices.Contains(codes, code) {
			t.Errorf("the console has words for %s, which nobody answers", code)
		}
	}
}

// errorCodes reads out of the sources which codes an answer can have: those of the
// kinds of errors, and those that errors are given by name.
func errorCodes(t *testing.T) []string {
	t.Helper()
	codes := map[string]bool{}
	kinds, named := 0, 0
	literal := func(where token.Position, e ast.Expr) {
		lit, ok := e.(*ast.BasicLit)
		if !ok {
			t.Errorf("%s: a code must stand there as it is, so that it can be found", where)
			return
		}
		code, err := strconv.Unquote(lit.Value)
		servertest.Must(t, err)
		codes[code] = true
	}

	files := token.NewFileSet()
	for _, path := range goSources(t) {
		file, err := parser.ParseFile(files, path, nil, parser.SkipObjectResolution)
		servertest.Must(t, err)
		inErrs := filepath.ToSlash(path) == "../store/errs/errs.go"
		ast.Inspect(file, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.CallExpr:
				if sel, ok := n.Fun.(*ast.SelectorExpr); ok && sel.Sel.Name == "Coded" {
					named++
					literal(files.Position(n.Pos()), n.Args[0])
				}
			case *ast.AssignStmt:
				for _, to := range n.Lhs {
					if sel, ok := to.(*ast.SelectorExpr); ok && sel.Sel.Name == "Code" && !inErrs {
						t.Errorf("%s: codes are given by Coded", files.Position(n.Pos()))
					}
				}
			case *ast.ValueSpec:
				if inErrs && n.Names[0].Name == "codes" {
					for _, entry := range n.Values[0].(*ast.CompositeLit).Elts {
						kinds++
						literal(files.Position(entry.Pos()), entry.(*ast.KeyValueExpr).Value)
					}
				}
			}
			return true
		})
	}

	if kinds != len(web.Status) || named == 0 {
		t.Fatalf("found the codes of %d kinds of %d, and %d others", kinds, len(web.Status), named)
	}

	return slices.Sorted(maps.Keys(codes))
}

// goSources are the files that the program is built from.
func goSources(t *testing.T) (paths []string) {
	t.Helper()
	servertest.Must(t, filepath.WalkDir("..", func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if name := d.Name(); d.IsDir() &&
			(name == "testdata" || name == "servertest" || name == "node_modules" ||
				name == "console" || path != ".." && strings.HasPrefix(name, ".")) {
			return fs.SkipDir
		}
		if strings.HasSuffix(path, ".go") && !strings.HasSuffix(path, "_test.go") {
			paths = append(paths, path)
		}
		return nil
	}))
	return paths
}

// menuWords are the keys of translated names in the seed.
func menuWords(t *testing.T) (keys []string) {
	t.Helper()
	var nodes []struct{ Local string }
	seedFile(t, "permissions.json", &nodes)
	for _, node := range nodes {
		if node.Local != "" {
			keys = append(keys, node.Local)
		}
	}
	return keys
}

// TestConsoleWords_EveryPartOfHealth names each part that the server reports, and says what it
// does.
func TestConsoleWords_EveryPartOfHealth(t *testing.T) {
	t.Parallel()
	in := servertest.Start(t)
	words := all(t, consoleWords(t, "en"))
	var health struct{ Parts []struct{ Name string } }
	servertest.Must(t,
		json.Unmarshal([]byte(in.OK("GET", "/system/health", "", "owner").Body),
			&struct{ Data any }{&health}))
	if len(health.Parts) == 0 {
		t.Fatal("no parts")
	}

	for _, part := range health.Parts {
		for _, key := range []string{"info.part." + part.Name, "info.part." + part.Name + ".what"} {
			if words[key] == "" {
				t.Errorf("the console has no text %s", key)
			}
		}
	}
}

func TestConsoleWords_EveryKindOfJob(t *testing.T) {
	t.Parallel()
	words := consoleWords(t, "en")["jobs"]
	field, _ := reflect.TypeFor[store.Job]().FieldByName("Kind")
	for _, kind := range servertest.Start(t).Server.Jobs.Kinds() {
		if words["jobs.kind."+kind] == "" {
			t.Errorf("the console has no words for jobs of the kind %s", kind)
		}
		if !strings.Contains(field.Tag.Get("doc"), kind) {
			t.Errorf("the documentation of the field kind does not have %s", kind)
		}
	}
}

func TestConsoleWords_EveryMenu(t *testing.T) {
	t.Parallel()
	words := all(t, consoleWords(t, "en"))
	keys := menuWords(t)
	if len(keys) == 0 {
		t.Fatal("the seed names no words")
	}
	for _, key := range keys {
		if _, ok := words[key]; !ok {
			t.Errorf("add %q to embed/console/src/i18n/en/frame.ts and zh/frame.ts", key)
		}
	}
}

// TestSeed_PagesExistInConsole: a page that the console does not know is in no menu.
func TestSeed_PagesExistInConsole(t *testing.T) {
	pages, err := os.ReadFile(filepath.Join(consoleSource, "app", "pages.ts"))
	servertest.Must(t, err)
	icons, err := os.ReadFile(filepath.Join(consoleSource, "ui", "icon-set.ts"))
	servertest.Must(t, err)
	var places []server.MenuPlace
	seedFile(t, "permissions.json", &places)
	for _, place := range places {
		if place.Type == store.PagePermission &&
			!strings.Contains(string(pages), "'"+place.Path+"':") {
			t.Errorf("add the page %s to embed/console/src/app/pages.ts", place.Path)
		}
		if !strings.Contains(string(icons), place.Icon+",") {
			t.Errorf("add the icon %s to embed/console/src/ui/icon-set.ts, or give %s one that is there", place.Icon, place.Key)
		}
	}
}

// givenTexts are, by the file that has their Chinese words, the texts of records that
// the program makes. In English they are what is stored.
var givenTexts = map[string]func(*testing.T) map[string]bool{
	"actions":  operationTexts,
	"builtins": builtinTexts,
}

// actionNames are those of the permissions that routes make.
func actionNames(t *testing.T) map[string]bool {
	t.Helper()
	var places []server.MenuPlace
	seedFile(t, "permissions.json", &places)
	known, texts := map[string]bool{}, map[string]bool{}
	for _, place := range places {
		known[place.Key] = true
	}

	for _, rt := range server.Routes() {
		if !rt.Open() && !known[rt.Access] {
			known[rt.Access], texts[rt.Title] = true, true
		}
	}

	for _, p := range web.FurtherPermissions {
		texts[p.Title] = true
	}

	return texts
}

// operationTexts are the names of actions, and the titles of the other routes with which users
// write or act. Their own activity lists them.
func operationTexts(t *testing.T) map[string]bool {
	t.Helper()
	texts := actionNames(t)
	for _, rt := range server.Routes() {
		ofApps := rt.Access == web.AppOnly || strings.HasPrefix(rt.Path, "/api/") ||
			strings.HasPrefix(rt.Path, "/app/")
		if (rt.Method != "GET" || rt.LoggedAs != "") && !rt.ReadOnly && !ofApps {
			texts[rt.Title] = true
		}
	}
	return texts
}

// builtinTexts are those of the settings and of the role that every installation has.
func builtinTexts(t *testing.T) map[string]bool {
	t.Helper()
	var words server.Names
	seedFile(t, "names.json", &words)
	texts := map[string]bool{words.OwnerRole.Description: true}
	for _, group := range words.Groups {
		texts[group.Title], texts[group.Remark] = true, true
	}

	for _, setting := range words.Settings {
		texts[setting.Title], texts[setting.Describe] = true, true
	}

	for _, b := range store.Builtins {
		for _, o := range b.Options {
			if o.Label != strings.ToUpper(o.Label) { // no abbreviation
				texts[o.Label] = true
			}
		}
	}

	return texts
}

func seedFile(t *testing.T, name string, into any) {
	t.Helper()
	data, err := os.ReadFile("../embed/seed/" + name)
	servertest.Must(t, err)
	servertest.Must(t, json.Unmarshal(data, into))
}

// formerTexts named permissions, settings and operations in older versions, and still do in their
// installations and change logs.
var formerTexts = []string{
	"Take a file out of the trash", "Delete a file for ever", "Define a setting",
	"Save the values of settings",
	"List sign-ins and decisions about permissions", "List operations of the store",
	"List what happened to the caches",
	"List what happened at Redis servers, and in the memory that stands for one",
	"Read counts and times of requests",
	"List who is signed in", "Force a session out", "List everyone's sign-ins",
	"Holds every permission, present and future",
	"What everybody may know of this installation",
	"How people sign in and how long they stay",
	"The users of the product behind this backend",
	"What can be uploaded, how much, and how long the trash keeps it",
	"What counts as slow",
	"The name of this installation, as it introduces itself",
	"The image that stands for this installation",
	"Idle time",
	"Minutes without a request after which a session ends",
	"Hours after which a session ends, however busy",
	"Characters that a new password has at least",
	"Login log, days",
	"Days after which a row of the login log is deleted",
	"Login log, rows",
	"Rows that the login log has at most; the oldest go first",
	"Failed attempts that one name has from one address before it must wait; four times as many from anywhere, ten times as many for one address",
	"Minutes in which failed attempts are counted",
	"Whether people can register as app users by themselves",
	"Idle time of app users",
	"Hours without a request after which an app user's session ends",
	"Days after which an app user's session ends, however busy",
	"Size of an image",
	"Mebibytes that an uploaded image has at most; 0 for none at all",
	"Size of a sound",
	"Mebibytes that an uploaded audio file has at most; 0 for none at all",
	"Size of a video",
	"Mebibytes that an uploaded video has at most; 0 for none at all",
	"Size of an archive",
	"Mebibytes that an uploaded archive has at most; 0 for none at all",
	"Size of a document",
	"Mebibytes that an uploaded document has at most; 0 for none at all",
	"Mebibytes that any other uploaded file has at most; 0 for none at all",
	"Types",
	"The media types that can be uploaded, as the content tells, joined by commas: */* for all, image/* for all images, application/pdf",
	"Mebibytes that all files have together at most, those in the trash included; 0 for any number",
	"Free space",
	"Mebibytes that stay free on the disk: an upload that would use them is refused, so that everything else goes on",
	"Trash, days",
	"Days after which a file in the trash is deleted for ever",
	"Milliseconds from which a request counts as slow, and is kept whatever the traffic",
	"Milliseconds from which an operation of the store counts as slow",
	"Whether the dashboard of administrators lists what is left to set up",
	"Adopt a webhook", "Skip a webhook's blocking event",
}

func TestConsoleWords_GivenTextsInChinese(t *testing.T) {
	t.Parallel()
	for area, texts := range givenTexts {
		source, err := os.ReadFile(filepath.Join(consoleSource, "i18n", "zh", area+".ts"))
		servertest.Must(t, err)
		words, err := wordsOf(string(source))
		servertest.Must(t, err)
		wanted := texts(t)
		if len(wanted) == 0 {
			t.Errorf("%s: the seed has no such texts", area)
		}

		for text := range wanted {
			if words["given."+text] == "" {
				t.Errorf("add %q to embed/console/src/i18n/zh/%s.ts", "given."+text, area)
			}
		}

		for key := range words {
			if strings.HasSuffix(key, ":") {
				continue // the beginning of names of permissions, which end with the title of a setting group
			}
			if text, ok := strings.CutPrefix(key, "given."); !ok ||
				!wanted[text] && !slices.Contains(formerTexts, text) {
				t.Errorf("zh/%s.ts has words for %q, which is not seeded", area, text)
			}
		}
	}
}

var made = regexp.MustCompile("`([\\w.]+\\.)\\$\\{[^}]*\\}([\\w.]*)(\\$\\{)?") // `menu.${name}.hint`; what follows another hole is open

// anywhere are words that stay there for whichever page needs them.
var anywhere = []string{
	"all", "create", "delete", "deleted", "describe", "disabled", "edit", "enabled", "more", "no",
	"sort", "updated_at", "yes",
}

// TestConsoleWords_NoneUnused: a text is used where its key stands in the sources, or
// where keys are made that it is one of.
func TestConsoleWords_NoneUnused(t *testing.T) {
	t.Parallel()
	var sources strings.Builder
	err := filepath.WalkDir(consoleSource, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if entry.IsDir() && (entry.Name() == "en" || entry.Name() == "zh") {
			return fs.SkipDir
		}
		if !strings.HasSuffix(path, ".ts") && !strings.HasSuffix(path, ".tsx") {
			return nil
		}

		source, err := os.ReadFile(path)
		if err != nil {
			return err
		}

		sources.Write(source)
		return nil
	})
	servertest.Must(t, err)
	used := sources.String()
	var patterns []*regexp.Regexp
	for _, m := range made.FindAllStringSubmatch(used, -1) {
		end := regexp.QuoteMeta(m[2])
		if m[3] == "" {
			end += "$"
		}
		patterns = append(patterns, regexp.MustCompile("^"+regexp.QuoteMeta(m[1])+".+"+end))
	}

	menus := menuWords(t)
	for key := range all(t, consoleWords(t, "en")) {
		asItIs := strings.Contains(used, "'"+key+"'") || strings.Contains(used, `"`+key+`"`) ||
			slices.Contains(menus, key) || slices.Contains(anywhere, key)
		if !asItIs && !slices.ContainsFunc(patterns, func(p *regexp.Regexp) bool {
			return p.MatchString(key)
		}) {
			t.Errorf("nobody uses %s", key)
		}
	}
}

// elsewhere are the places outside of its own pages from which an area's words are
// used. What shows them loads them: see the console's app/pages.ts.
var elsewhere = map[string][]string{
	"audit":     {"ui/log/", "pages/home/Changes.tsx"},
	"dashboard": {"pages/Home.tsx", "pages/home/", "pages/SystemInfo.tsx"},
	"manual":    {"pages/help/"},
	"info":      {"pages/Home.tsx", "pages/home/", "pages/SystemInfo.tsx", "pages/backups/", "pages/monitor/redis.tsx", "pages/audit/", "ui/log/"}, // backup is also an action
	"overlays":  {"app/BellPanel.tsx", "app/Help.tsx", "app/Layout.tsx", "app/Palette.tsx", "app/commands.tsx", "pages/account/Crop.tsx", "pages/account/Stage.tsx", "pages/rights/CompareDrawer.tsx", "ui/ListMenu.tsx", "ui/Views.tsx"},
	"people":    {"pages/invite/"},
	"requests":  {"app/Requests.tsx"},
	"monitor":   {"pages/Home.tsx", "pages/home/", "ui/Chart.tsx"},
	"rights":    {"ui/tree/", "pages/people/Access.tsx", "ui/topics.ts"}, // role.created is also a type of event
}

// TestConsoleWords_LoadedWhereUsed: words that do not come with the frame are used
// by the pages that load them alone.
func TestConsoleWords_LoadedWhereUsed(t *testing.T) {
	t.Parallel()
	index, err := os.ReadFile(filepath.Join(consoleSource, "i18n", "en", "index.ts"))
	servertest.Must(t, err)
	pages, err := os.ReadFile(filepath.Join(consoleSource, "app", "pages.ts"))
	servertest.Must(t, err)
	late := 0
	for area, words := range consoleWords(t, "en") {
		if strings.Contains(string(index), "'./"+area+"'") {
			continue
		}

		late++
		for _, page := range regexp.MustCompile(`import\('\.\./pages/`+area+`/[^']*'\)\)[^)]*`).FindAllString(string(pages), -1) {
			if !strings.Contains(page, "'"+area+"'") {
				t.Errorf("app/pages.ts does not load the words of %s", page)
			}
		}

		may := append(elsewhere[area], "pages/"+area+"/", "i18n/")
		servertest.Must(t,
			filepath.WalkDir(consoleSource, func(path string, entry fs.DirEntry, err error) error {
				name, _ := filepath.Rel(consoleSource, path)
				name = filepath.ToSlash(name)
				if err != nil || entry.IsDir() || slices.ContainsFunc(may, func(place string) bool {
					return strings.HasPrefix(name, place)
				}) {
					return err
				}
				source, err := os.ReadFile(path)
				for key := range words {
					if strings.Contains(string(source), "'"+key+"'") {
						t.Errorf("%s uses %s, which comes with other pages", name, key)
					}
				}
				return err
			}))
	}

	if late == 0 {
		t.Error("every area comes with the frame")
	}
}
