package server_test

import (
	"encoding/csv"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"reeve/server/servertest"
)

// asvsRequirements is the number of requirements of levels 1 and 2 in OWASP ASVS 5.0.0.
const asvsRequirements = 253

// testPackages are the directories of the tests that the table names.
var testPackages = map[string]string{
	"server": ".", "failure": "failure", "e2e": "e2e", "auth": "../auth",
	"breached": "../auth/breached", "store": "../store",
	"account": "account", "changes": "changes", "choices": "choices", "files": "files",
	"forward": "forward", "jobs": "jobs", "mails": "mails", "ops": "ops", "pages": "pages",
	"people": "people", "person": "person", "rights": "rights", "settings": "settings",
	"web": "web", "webhooks": "webhooks",
	"redact": "redact", "redis": "redis", "webhook": "webhook", "outgoing": "outgoing", "picture": "picture",
	"disk": "../store/disk", "journal": "../store/journal", "kv": "../store/kv",
	"audit": "../store/audit"}

// TestASVS_EveryRequirementHasTests checks that every requirement or chapter is a row
// of the table, and that each is shown by existing tests, does not apply, or is listed
// in the manual as not met.
func TestASVS_EveryRequirementHasTests(t *testing.T) {
	t.Parallel()
	f, err := os.Open("testdata/asvs.csv")
	servertest.Must(t, err)
	defer f.Close()
	rows, err := csv.NewReader(f).ReadAll()
	servertest.Must(t, err)
	tests := allTests(t)
	id, seen, total, unmet := regexp.MustCompile(`^V\d+(\.\d+){0,2}$`), map[string]bool{}, 0, []string{}
	for _, row := range rows[1:] {
		name, words, shown := row[0], row[2], row[3]
		n, err := strconv.Atoi(row[1])
		if err != nil || n < 1 || !id.MatchString(name) || seen[name] || words == "" ||
			n > 1 && !strings.HasPrefix(shown, "not applicable: ") {
			t.Errorf("a bad row: %q", row)
		}

		seen[name], total = true, total+n
		if reason, ok := strings.CutPrefix(shown, "not applicable: "); ok {
			if reason == "" {
				t.Errorf("%s does not apply without a reason", name)
			}
			continue
		}
		if shown == "manual" {
			unmet = append(unmet, name)
			continue
		}
		if shown == "" {
			t.Errorf("%s (%s) is not shown by anything", name, words)
		}

		for test := range strings.FieldsSeq(shown) {
			if !tests[test] {
				t.Errorf("%s names the test %s, which does not exist", name, test)
			}
		}
	}

	if total != asvsRequirements {
		t.Errorf("the table stands for %d requirements, want %d", total, asvsRequirements)
	}
	if told := unmetInManual(t); !slices.Equal(slices.Sorted(slices.Values(unmet)), told) {
		t.Errorf("not met are, by the table, %q, and by the manual %q", unmet, told)
	}
}

// allTests returns the names of the tests that a table can name.
func allTests(t *testing.T) map[string]bool {
	t.Helper()
	tests := map[string]bool{}
	for name, dir := range testPackages {
		for _, test := range testsIn(t, dir) {
			tests[name+"."+test] = true
		}
	}
	return tests
}

// TestASVS_ChosenLevel3HasTests checks that the chosen requirements are shown by existing tests,
// and named in the manual.
func TestASVS_ChosenLevel3HasTests(t *testing.T) {
	t.Parallel()
	f, err := os.Open("testdata/asvs_level3.csv")
	servertest.Must(t, err)
	defer f.Close()
	rows, err := csv.NewReader(f).ReadAll()
	servertest.Must(t, err)
	manual, err := os.ReadFile("../embed/manual/security.md")
	servertest.Must(t, err)
	tests := allTests(t)
	for _, row := range rows[1:] {
		if !strings.Contains(string(manual), row[0]) || row[1] == "" || row[2] == "" {
			t.Errorf("the manual does not name %q", row)
		}
		for test := range strings.FieldsSeq(row[2]) {
			if !tests[test] {
				t.Errorf("%s names the test %s, which does not exist", row[0], test)
			}
		}
	}
}

// testsIn returns the names of the tests in a directory.
func testsIn(t *testing.T, dir string) (names []string) {
	paths, err := filepath.Glob(filepath.Join(dir, "*_test.go"))
	servertest.Must(t, err)
	for _, path := range paths {
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
		servertest.Must(t, err)
		for _, decl := range file.Decls {
			if fn, ok := decl.(*ast.FuncDecl); ok && fn.Recv == nil &&
				strings.HasPrefix(fn.Name.Name, "Test") {
				names = append(names, fn.Name.Name)
			}
		}
	}
	return names
}

// unmetInManual returns the first column of the table in the manual's section.
func unmetInManual(t *testing.T) (ids []string) {
	text, err := os.ReadFile("../embed/manual/security.md")
	servertest.Must(t, err)
	_, chapter, found := strings.Cut(string(text), "\n## Not met of OWASP ASVS 5.0, level 2\n")
	if !found {
		t.Fatal("the manual has no section of them")
	}

	chapter, _, _ = strings.Cut(chapter, "\n## ")
	for line := range strings.Lines(chapter) {
		if cells := strings.Split(line, "|"); len(cells) == 4 && strings.HasPrefix(cells[1], " V") {
			for id := range strings.SplitSeq(cells[1], ",") {
				ids = append(ids, strings.TrimSpace(id))
			}
		}
	}

	slices.Sort(ids)
	return ids
}

// TestCryptography_KnownLibrariesOnly: only the standard library, bcrypt, age and, for imported
// password hashes, argon2 and scrypt are used, no broken algorithms and no predictable random
// numbers. SHA-1 is only what the published list of leaked passwords is sorted by, and MD5 what
// bucket servers answer to compare uploads with.
func TestCryptography_KnownLibrariesOnly(t *testing.T) {
	t.Parallel()
	known := []string{"crypto/aes", "crypto/cipher", "crypto/ecdsa", "crypto/elliptic",
		"crypto/hkdf", "crypto/hmac", "crypto/rand", "crypto/rsa", "crypto/sha256", "crypto/sha512",
		"crypto/subtle", "crypto/tls", "crypto/x509", "golang.org/x/crypto/argon2",
		"golang.org/x/crypto/bcrypt", "golang.org/x/crypto/scrypt"}

	found := map[string]bool{}
	servertest.Must(t, filepath.WalkDir("..", func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && (d.Name() == "node_modules" || strings.HasSuffix(d.Name(), "test") || // disktest is of tests
			filepath.ToSlash(path) == "../embed/release"): // is not in the program
			return fs.SkipDir
		case !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go"):
			return nil
		}

		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.ImportsOnly)
		servertest.Must(t, err)
		for _, spec := range file.Imports {
			name := strings.Trim(spec.Path.Value, `"`)
			switch name + " in " + filepath.ToSlash(path) {
			case "crypto/sha1 in ../auth/breached/breached.go", "crypto/md5 in ../store/blob/remote.go":
				continue
			}
			if strings.Contains(name, "crypto/") || strings.HasPrefix(name, "math/rand") {
				if found[name] = true; !slices.Contains(known, name) {
					t.Errorf("%s imports %s", path, name)
				}
			}
		}

		return nil
	}))
	if !found["crypto/rand"] || !found["crypto/aes"] || !found["golang.org/x/crypto/bcrypt"] {
		t.Errorf("only %v were found", found)
	}
}

// TestPasswordFields_MaskedAndPasteable checks that password fields of the console are masked until
// their user shows them, filled by password managers, and can be pasted into.
func TestPasswordFields_MaskedAndPasteable(t *testing.T) {
	t.Parallel()
	fields := 0
	servertest.Must(t,
		filepath.WalkDir("../embed/console/src", func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() || !strings.HasSuffix(path, ".tsx") {
				return err
			}

			text, err := os.ReadFile(path)
			servertest.Must(t, err)
			within := false // the tag of a masked field
			for line := range strings.Lines(string(text)) {
				if strings.Contains(line, "function Secret({ label") &&
					!strings.Contains(string(text), "[shown, setShown] = useState(false)\n") {
					t.Errorf("%s: Secret shows what is typed from the beginning", path)
				}

				masked := within || strings.Contains(line, "<Secret") ||
					strings.Contains(line, "<Password") || strings.Contains(line, `type="password"`)
				within = masked && !strings.Contains(line, "/>")
				managed := strings.Contains(line, `autoComplete="current-password"`) ||
					strings.Contains(line, `autoComplete="new-password"`)
				if managed {
					fields++
				}
				if managed && !masked {
					t.Errorf("%s: a password that is shown: %s", path, line)
				}
				if masked && strings.Contains(line, "onPaste") {
					t.Errorf("%s: pasting is taken: %s", path, line)
				}
			}

			return nil
		}))
	if fields < 6 {
		t.Errorf("%d password fields were found", fields)
	}
}
