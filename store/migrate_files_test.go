package store

import (
	"errors"
	"slices"
	"testing"

	"reeve/store/disk/disktest"
)

// TestFilesInNoGroupAreFoundInAnOlderFile, which has no index by that. With a copy
// of the collection nobody asks for the files' bytes.
func TestFilesInNoGroupAreFoundInAnOlderFile(t *testing.T) {
	schemaOf := func(files *Collection[File], migrations []migration) *schema {
		s := reeve
		s.tables = slices.Clone(reeve.tables)
		s.tables[slices.Index(s.tables, table(Files))] = files
		s.migrations = migrations
		return &s
	}
	before, after, dir := *Files, *Files, t.TempDir()
	before.indexes = slices.DeleteFunc(slices.Clone(Files.indexes), func(x *index[File]) bool { return x == FileByFolder.x })
	db := open(t, dir, Options{schema: schemaOf(&before, reeve.migrations[:3])})
	update(t, db, func(tx *Tx) error {
		return errors.Join(FileGroups.Create(tx, &FileGroup{Name: "Papers"}), before.Create(tx, &File{Name: "loose"}),
			before.Create(tx, &File{Name: "in the trash", TrashedAt: 1}), before.Create(tx, &File{Name: "in a group", GroupID: 1}))
	})
	shut(t, db)
	db = open(t, dir, Options{schema: schemaOf(&after, reeve.migrations)})
	mustVerify(t, db)
	view(t, db, func(tx *Tx) error {
		disktest.Equal(t, "in no group", FileByFolder.AnyOf(0).IDs(tx), []ID{1})
		disktest.Equal(t, "in a group", FileByFolder.AnyOf(1).IDs(tx), []ID{3})
		return nil
	})
}
