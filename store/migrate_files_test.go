package store

import (
	"errors"
	"slices"
	"testing"

	"reeve/store/disk/disktest"
	"reeve/store/fold"
	"reeve/store/kv"
)

// TestMigration_FilesWithoutGroup migrates a database without that index.
func TestMigration_FilesWithoutGroup(t *testing.T) {
	schemaOf := func(files *kv.Collection[File], migrations []kv.Migration) *kv.Schema {
		s := reeve
		s.Tables = slices.Clone(reeve.Tables)
		s.Tables[slices.Index(s.Tables, kv.Table(Files))] = files
		s.Migrations = migrations
		return &s
	}

	older, dir := kv.NewCollection[File]("file"), t.TempDir()
	kv.NewRef(older, "group_id", kv.NewCollection[FileGroup]("file_group"), func(f *File) ID {
		return rejectTrashed(f, f.GroupID)
	}, kv.Dangle, "trashed_at")
	kv.NewMany(older, "kind", func(f *File) []string {
		return rejectTrashed(f, []string{f.Kind})
	}, "trashed_at")
	kv.NewMany(older, "public", func(f *File) []string {
		return rejectTrashed(f, []string{flagText(Flag(f.Public()))})
	})
	kv.NewMany(older, "state", func(f *File) []string { return []string{fileState(f)} })
	kv.NewUnique(older, "key", func(f *File) string { return f.Key })
	kv.NewMany(older, "digest", func(f *File) []string { return []string{f.Digest.String()} })
	kv.NewRef(older, "uploader_id", kv.NewCollection[User]("user"), func(f *File) ID {
		return f.UploaderID
	}, kv.Dangle)
	kv.NewMany(older, "name", func(f *File) []string { return []string{fold.Lower(f.Name)} })
	kv.NewMany(older, "size", func(f *File) []int64 { return []int64{f.Size} })
	kv.NewMany(older, "trashed_at", func(f *File) []Time { return []Time{f.TrashedAt} })
	db := open(t, dir, Options{schema: schemaOf(older, reeve.Migrations[:3])})
	update(t, db, func(tx *Tx) error {
		return errors.Join(FileGroups.Create(tx, &FileGroup{Name: "Papers"}),
			older.Create(tx, &File{Name: "loose"}),
			older.Create(tx, &File{Name: "in the trash", TrashedAt: 1}),
			older.Create(tx, &File{Name: "in a group", GroupID: 1}))
	})
	shut(t, db)
	db, err := Open(dir, Options{}) // not with open, which verifies: these files have no content
	if err != nil {
		t.Fatal(err)
	}

	defer shut(t, db)
	view(t, db, func(tx *Tx) error {
		disktest.Equal(t, "faults", tx.Verify().Faults, nil)
		disktest.Equal(t, "in no group", FileByFolder.AnyOf(0).IDs(tx), []ID{1})
		disktest.Equal(t, "in a group", FileByFolder.AnyOf(1).IDs(tx), []ID{3})
		return nil
	})
}
