package store

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"reeve/store/disk/disktest"
)

// versionsPath has a line for every schema version: its number, and the collections
// and indexes that it adds (+) and removes (-).
const versionsPath = "testdata/versions.txt"

func (s *schema) describedBuckets() (names []string) {
	for _, t := range s.tables {
		names = append(names, t.buckets()...)
	}
	return names
}

// bucketsOf replays the lines of versionsPath.
func bucketsOf(t testing.TB, lines string) (version int, names []string) {
	t.Helper()
	for line := range strings.Lines(lines) {
		words := strings.Fields(line)
		if version++; words[0] != fmt.Sprint(version) {
			t.Fatalf("%s: line %d begins with %s", versionsPath, version, words[0])
		}
		for _, word := range words[1:] {
			if name, added := strings.CutPrefix(word, "+"); added {
				names = append(names, name)
			} else {
				names = slices.DeleteFunc(names, func(n string) bool { return n == word[1:] })
			}
		}
	}
	return version, names
}

// nextVersion returns the line that versionsPath lacks, "" for none. A schema whose
// buckets have changed without a migration is an error that names them.
func nextVersion(t testing.TB, s *schema, lines string) (string, error) {
	t.Helper()
	last, known := bucketsOf(t, lines)
	line := fmt.Sprint(s.version())
	for _, name := range s.describedBuckets() {
		if !slices.Contains(known, name) {
			line += " +" + name
		}
	}
	for _, name := range known {
		if !slices.Contains(s.describedBuckets(), name) {
			line += " -" + name
		}
	}
	changes := strings.Contains(line, " ")
	switch {
	case s.version() == last && !changes:
		return "", nil
	case s.version() == last+1:
		return line + "\n", nil
	case s.version() == last:
		_, names, _ := strings.Cut(line, " ")
		return "", fmt.Errorf("append a migration to schema.go: schema %d is released without %s", last, names)
	}
	return "", fmt.Errorf("%s ends with schema %d, the program has %d: only append migrations, one in each commit", versionsPath, last, s.version())
}

// An existing database gets a collection or an index only with a migration.
func TestASchemaChangeOfBucketsHasAMigration(t *testing.T) {
	lines := string(disktest.ReadFile(t, versionsPath))
	line, err := nextVersion(t, &reeve, lines)
	switch {
	case err != nil:
		t.Error(err)
	case line != "" && *updateSchema:
		noErr(t, os.WriteFile(versionsPath, []byte(lines+line), 0o644))
	case line != "":
		t.Errorf("run go test -run SchemaChange -update to add the line %q to %s", line, versionsPath)
	}
}

func TestVersionsBeginWithTheFirstSchema(t *testing.T) {
	first, _, _ := strings.Cut(string(disktest.ReadFile(t, versionsPath)), "\n")
	_, names := bucketsOf(t, first)
	disktest.Equal(t, "buckets", slices.Sorted(slices.Values(names)), slices.Sorted(slices.Values(firstSchema().describedBuckets())))
}

func TestNextVersion(t *testing.T) {
	const lines = "1 +install +beast +beast.name +old\n2 -old\n"
	part := NewCollection[chip]("beast")
	NewUnique(part, "name", func(*chip) string { return "" })
	whole := NewCollection[chip]("beast")
	NewUnique(whole, "name", func(*chip) string { return "" })
	NewUnique(whole, "code", func(*chip) string { return "" })
	for name, test := range map[string]struct {
		tables      []table
		migrations  int
		line, fault string
	}{
		"unchanged":                         {[]table{Installs, part}, 1, "", ""},
		"a migration alone":                 {[]table{Installs, part}, 2, "3\n", ""},
		"an index with a migration":         {[]table{Installs, whole}, 2, "3 +beast.code\n", ""},
		"an index without a migration":      {[]table{Installs, whole}, 1, "", "append a migration to schema.go: schema 2 is released without +beast.code"},
		"a collection without a migration":  {[]table{Installs, part, cages}, 1, "", "append a migration to schema.go: schema 2 is released without +cage"},
		"a removal without a migration":     {[]table{Installs}, 1, "", "without -beast -beast.name"},
		"a migration too many":              {[]table{Installs, part}, 3, "", "ends with schema 2, the program has 4"},
		"a migration that has been deleted": {[]table{Installs, part}, 0, "", "ends with schema 2, the program has 1"},
	} {
		line, err := nextVersion(t, &schema{tables: test.tables, migrations: make([]migration, test.migrations)}, lines)
		disktest.Equal(t, name, line, test.line)
		if text := fmt.Sprint(err); (err == nil) != (test.fault == "") || !strings.Contains(text, test.fault) && err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// A program that was extended without a migration says so at an existing database.
func TestASchemaWithoutItsMigrationNamesWhatIsMissing(t *testing.T) {
	extended := *beasts
	extended.indexes = slices.Clone(beasts.indexes)
	NewMany(&extended, "weight", func(b *beast) []int64 { return []int64{b.Weight} })
	for name, tables := range map[string][]table{
		"no index beast.weight": {Installs, cages, keepers, &extended, chips},
		"no collection pair":    {Installs, cages, keepers, beasts, chips, pairs},
	} {
		dir := made(t)
		before := disktest.Snapshot(t, dir)
		_, err := Open(dir, Options{schema: &schema{tables: tables}})
		oneLine(t, err)
		for _, part := range []string{name, "append a migration", "store/schema.go"} {
			if err == nil || !strings.Contains(err.Error(), part) {
				t.Errorf("%v, want it to contain %q", err, part)
			}
		}
		if err != nil && strings.Contains(err.Error(), "damaged") {
			t.Errorf("the file is whole: %v", err)
		}
		sameFiles(t, disktest.Snapshot(t, dir), before)
	}
}
