package server_test

import (
	"io/fs"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"reeve/server/web"
)

// TestAuthEvents_AreDocumented compares the types of auth events in the source with the documented
// ones, which the console lists, too.
func TestAuthEvents_AreDocumented(t *testing.T) {
	note := regexp.MustCompile(`\.Note\("([a-z_]+)"|\bevent :?= "([a-z_]+)"`)
	found := []string{"permission"} // of package monitor itself
	err := fs.WalkDir(os.DirFS("."), ".", func(path string, _ fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return err
		}
		text, err := os.ReadFile(path)
		if !strings.Contains(string(text), ".Note(") {
			return err
		}
		for _, m := range note.FindAllStringSubmatch(string(text), -1) {
			found = append(found, m[1]+m[2])
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(found)
	documented := slices.Sorted(slices.Values(web.EnumOf("auth_event")))
	if found = slices.Compact(found); !slices.Equal(found, documented) {
		t.Errorf("the source has the types %q, documented are %q", found, documented)
	}
	console, err := os.ReadFile("../embed/console/src/pages/monitor/kinds.ts")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range documented {
		if !strings.Contains(string(console), "'"+name+"'") {
			t.Errorf("the console can't filter by %s", name)
		}
	}
}
