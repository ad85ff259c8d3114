package store

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"reeve/store/disk/disktest"
	"reeve/store/kv"
)

// versionsPath is a file with a line for every schema version: its number, and the collections
// and indexes that it adds (+) and removes (-).
const versionsPath = "testdata/versions.txt"

func describedBuckets(s *kv.Schema) (names []string) {
	for _, t := range s.Tables {
		names = append(names, t.Buckets()...)
	}
	return names
}

// bucketsOf returns the version and the buckets after the lines of versionsPath.
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

// nextVersion returns the line that versionsPath lacks; "" if it is complete. If buckets have
// changed without a migration, it returns an error that names them.
func nextVersion(t testing.TB, s *kv.Schema, lines string) (string, error) {
	t.Helper()
	last, known := bucketsOf(t, lines)
	line := fmt.Sprint(s.Version())
	for _, name := range describedBuckets(s) {
		if !slices.Contains(known, name) {
			line += " +" + name
		}
	}

	for _, name := range known {
		if !slices.Contains(describedBuckets(s), name) {
			line += " -" + name
		}
	}

	changes := strings.Contains(line, " ")
	switch {
	case s.Version() == last && !changes:
		return "", nil
	case s.Version() == last+1:
		return line + "\n", nil
	case s.Version() == last:
		_, names, _ := strings.Cut(line, " ")
		return "", fmt.Errorf("append a migration to schema.go: schema %d is released without %s",
			last, names)
	}

	return "",
		fmt.Errorf("%s ends with schema %d, the program has %d: only append migrations, one in each commit", versionsPath, last, s.Version())
}

// Collections and indexes are added to an existing database only by a migration.
func TestSchemaChange_BucketsHaveMigration(t *testing.T) {
	lines := string(disktest.ReadFile(t, versionsPath))
	line, err := nextVersion(t, &reeve, lines)
	switch {
	case err != nil:
		t.Error(err)
	case line != "" && *updateSchema:
		noErr(t, os.WriteFile(versionsPath, []byte(lines+line), 0o644))
	case line != "":
		t.Errorf("run go test -run SchemaChange -update to add the line %q to %s", line,
			versionsPath)
	}
}

// TestSchemaChange_MigrationsKeepPlaces checks that a migration is only ever appended: a database
// counts how many of them it has run.
func TestSchemaChange_MigrationsKeepPlaces(t *testing.T) {
	const path = "testdata/migrations.txt"
	var lines string
	for i, m := range reeve.Migrations {
		lines += fmt.Sprintf("%d %s\n", i+2, m.Title)
	}
	known := string(disktest.ReadFile(t, path))
	switch {
	case !strings.HasPrefix(lines, known):
		t.Errorf("append migrations at the end of Migrations in schema.go; the places and titles of those in %s may not change", path)
	case lines != known && *updateSchema:
		noErr(t, os.WriteFile(path, []byte(lines), 0o644))
	case lines != known:
		t.Errorf("run go test -run SchemaChange -update to add the new migration to %s", path)
	}
}

func TestSchemaVersions_BeginWithFirst(t *testing.T) {
	first, _, _ := strings.Cut(string(disktest.ReadFile(t, versionsPath)), "\n")
	_, names := bucketsOf(t, first)
	disktest.Equal(t, "buckets", slices.Sorted(slices.Values(names)),
		slices.Sorted(slices.Values(describedBuckets(firstSchema()))))
}

func TestNextVersion(t *testing.T) {
	const lines = "1 +install +beast +beast.name +old\n2 -old\n"
	type chip struct {
		Ident
		kv.Timestamps
	}
	cages := kv.NewCollection[chip]("cage")
	part := kv.NewCollection[chip]("beast")
	kv.NewUnique(part, "name", func(*chip) string { return "" })
	whole := kv.NewCollection[chip]("beast")
	kv.NewUnique(whole, "name", func(*chip) string { return "" })
	kv.NewUnique(whole, "code", func(*chip) string { return "" })
	for name, test := range map[string]struct {
		tables      []kv.Table
		migrations  int
		line, fault string
	}{
		"unchanged":         {[]kv.Table{Installs, part}, 1, "", ""},
		"a migration alone": {[]kv.Table{Installs, part}, 2, "3\n", ""},
		"an index with a migration": {[]kv.Table{Installs, whole}, 2, "3 +beast.code\n",
			""},
		"an index without a migration": {[]kv.Table{Installs, whole}, 1, "",
			"append a migration to schema.go: schema 2 is released without +beast.code"},
		"a collection without a migration": {[]kv.Table{Installs, part, cages}, 1, "",
			"append a migration to schema.go: schema 2 is released without +cage"},
		"a removal without a migration": {[]kv.Table{Installs}, 1, "",
			"without -beast -beast.name"},
		"a migration too many": {[]kv.Table{Installs, part}, 3, "",
			"ends with schema 2, the program has 4"},
		"a migration that has been deleted": {[]kv.Table{Installs, part}, 0, "",
			"ends with schema 2, the program has 1"},
	} {
		line, err := nextVersion(t, &kv.Schema{
			Tables:     test.tables,
			Migrations: make([]kv.Migration, test.migrations),
		}, lines)
		disktest.Equal(t, name, line, test.line)
		if text := fmt.Sprint(err); (err == nil) != (test.fault == "") ||
			!strings.Contains(text, test.fault) && err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}
