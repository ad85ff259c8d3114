package kv

import (
	"slices"
	"strings"
	"testing"

	"reeve/store/disk/disktest"
)

// A program whose schema was extended without a migration reports that for an existing database.
func TestSchema_MissingMigrationIsNamed(t *testing.T) {
	untyped := *beasts.untyped
	untyped.indexes = slices.Clone(untyped.indexes)
	extended := &Collection[beast]{&untyped}
	untyped.self = extended
	NewMany(extended, "weight", func(b *beast) []int64 { return []int64{b.Weight} })
	for name, tables := range map[string][]Table{
		"no index beast.weight": {Installs, cages, keepers, extended, chips},
		"no collection pair":    {Installs, cages, keepers, beasts, chips, pairs},
	} {
		dir := made(t)
		before := disktest.Snapshot(t, dir)
		_, err := Open(dir, Options{Schema: &Schema{Tables: tables}})
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
