package config

import (
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// TestManual_ListsKeys: the table of the manual has every key, its default, and no other.
func TestManual_ListsKeys(t *testing.T) {
	page, err := os.ReadFile("../../embed/manual/operations.md")
	if err != nil {
		t.Fatal(err)
	}

	_, section, _ := strings.Cut(string(page), "\n## Configuration\n")
	section, _, _ = strings.Cut(section, "\n## ")
	rows := map[string]string{}
	for line := range strings.Lines(section) {
		if cells := strings.Split(line, "|"); strings.HasPrefix(line, "| `") {
			for _, name := range regexp.MustCompile("`([^`]+)`").FindAllStringSubmatch(cells[1],
				-1) {
				rows[name[1]] = cells[2]
			}
		}
	}

	for _, k := range keys {
		cell, there := rows[k.name]
		values := []string{fmt.Sprint(k.value)}
		if list, ok := k.value.([]string); ok {
			values = list
		}
		if !there || slices.ContainsFunc(values, func(v string) bool {
			return !strings.Contains(cell, v)
		}) {
			t.Errorf("%s has the default %v; the table has %q (%v)", k.name, k.value, cell, there)
		}
		delete(rows, k.name)
	}

	for name := range rows {
		t.Errorf("there is no key %s", name)
	}
}
