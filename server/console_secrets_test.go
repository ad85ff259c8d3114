package server_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"reeve/server"
	"reeve/server/redact"
	"reeve/server/web"
)

// TestConsoleRequests_SecretsHidden: the console shows its requests as code, and hides in them what
// the server hides in its own records of requests. The names are in two files of the console.
func TestConsoleRequests_SecretsHidden(t *testing.T) {
	own := consolePattern(t, "api/sent.ts", "own")
	secret := consolePattern(t, "api/hide.ts", "secretName")
	valuesAt, value := consolePattern(t, "api/hide.ts", "valuesAt"), consolePattern(t, "api/hide.ts", "valueName")
	name := regexp.MustCompile(`(^|_)key(_|$)`) // of a record, or of an API key, of which nothing is secret
	compared := 0
	for _, rt := range server.Routes() {
		if rt.Input == nil || strings.HasPrefix(rt.Path, "/ofrep/") || !conventional(&rt) || isPublic(&rt) || rt.Access == web.AppOnly || own.MatchString(rt.Path) {
			continue
		}
		hidden := func(field string) bool {
			return secret.MatchString(field) || valuesAt.MatchString(rt.Path) && value.MatchString(field)
		}
		needed := map[string]bool{
			"values": rt.Hidden.Value || rt.Hidden.Values,
			"text":   rt.Hidden.Texts,
			"url":    rt.Hidden.URLs,
			"fields": rt.Input.Has("json", "fields"),
		}
		for field, needed := range needed {
			if needed && !hidden(field) {
				t.Errorf("%s %s: the console does not hide %s", rt.Method, rt.Path, field)
			}
		}

		walkFields(rt.Input.Fields, func(f *web.Field) {
			switch {
			case !redact.IsSecret(f.Name) || name.MatchString(f.Name):
			case f.From == "query" || f.From == "path":
				t.Errorf("%s %s: the console does not hide the %s parameter %s", rt.Method, rt.Path, f.From, f.Name)
			case !hidden(f.Name):
				t.Errorf("%s %s: the console does not hide %s", rt.Method, rt.Path, f.Name)
			default:
				compared++
			}
		})
	}
	if compared < 10 {
		t.Errorf("%d fields were compared", compared)
	}
}

func walkFields(fields []*web.Field, tell func(*web.Field)) {
	for _, f := range fields {
		tell(f)
		walkFields(f.Fields, tell)
	}
}

// consolePattern returns a regular expression of the console's source.
func consolePattern(t *testing.T, file, name string) *regexp.Regexp {
	t.Helper()
	source, err := os.ReadFile(filepath.Join(consoleSource, file))
	if err != nil {
		t.Fatal(err)
	}

	m := regexp.MustCompile(`(?m)^const ` + name + ` = /(.+)/(i?)$`).FindSubmatch(source)
	if m == nil {
		t.Fatalf("%s has no pattern %s", file, name)
	}

	text := strings.ReplaceAll(string(m[1]), `\/`, "/")
	if len(m[2]) > 0 {
		text = "(?i)" + text
	}

	return regexp.MustCompile(text)
}
