package store

import "reeve/store/errs"

// The kinds of files, as their content tells.
const (
	ImageFile    = "image"
	AudioFile    = "audio"
	VideoFile    = "video"
	ArchiveFile  = "archive"
	DocumentFile = "document"
	OtherFile    = "other"
)

// File is an uploaded file; its bytes are a blob, which other files may share.
type File struct {
	Ident
	GroupID      ID     `json:"group_id"`
	Name         string `json:"name"` // without a path
	Ext          string `json:"ext"`  // of the name, in lower case, without the dot
	Kind         string `json:"kind"`
	MIME         string `json:"mime"`
	Size         int64  `json:"size"`
	Digest       Digest `json:"digest"`
	Key          string `json:"key"` // of the public address; "" while it is not public
	UploaderID   ID     `json:"uploader_id"`
	UploaderName string `json:"uploader_name"`
	TrashedAt    Time   `json:"trashed_at"` // 0 while it is not in the trash
	Versioned
}

// Public tells whether everybody who knows the address may read the file.
func (f *File) Public() bool { return f.Key != "" }

// Trashed tells whether the file is in the trash.
func (f *File) Trashed() bool { return f.TrashedAt != 0 }

// FileGroup is a folder of files; there are none inside others.
type FileGroup struct {
	Ident
	Name     string `json:"name"`
	Sort     int64  `json:"sort"`
	Describe string `json:"describe"`
	Versioned
}

// Files and their indexes. What is in the trash is found by FileByState, digest,
// uploader and deletion time alone, so that every other index is of what people see.
var (
	FileGroups      = NewCollection[FileGroup]("file_group")
	FileGroupByName = NewUnique(FileGroups, "name", func(g *FileGroup) string { return Fold(g.Name) })
	FileGroupBySort = NewMany(FileGroups, "sort", func(g *FileGroup) []int64 { return []int64{g.Sort} })

	Files          = NewCollection[File]("file")
	FileByGroup    = NewRef(Files, "group_id", FileGroups, func(f *File) ID { return unlessTrashed(f, f.GroupID) }, Refuse, "trashed_at")
	FileByFolder   = NewMany(Files, "folder", func(f *File) []ID { return unlessTrashed(f, []ID{f.GroupID}) }) // 0 too: those in no group
	FileByKind     = NewMany(Files, "kind", func(f *File) []string { return unlessTrashed(f, []string{f.Kind}) }, "trashed_at")
	FileByPublic   = NewMany(Files, "public", func(f *File) []string { return unlessTrashed(f, []string{flagText(Flag(f.Public()))}) })
	FileByState    = NewMany(Files, "state", func(f *File) []string { return []string{fileState(f)} })
	FileByKey      = NewUnique(Files, "key", func(f *File) string { return f.Key })
	FileByDigest   = NewMany(Files, "digest", func(f *File) []string { return []string{f.Digest.String()} })
	FileByUploader = NewRef(Files, "uploader_id", Users, func(f *File) ID { return f.UploaderID }, Loose)
	FileByName     = NewMany(Files, "name", func(f *File) []string { return []string{Fold(f.Name)} })
	FileBySize     = NewMany(Files, "size", func(f *File) []int64 { return []int64{f.Size} })
	FileByTrashed  = NewMany(Files, "trashed_at", func(f *File) []Time { return []Time{f.TrashedAt} })
	FileSearch     = NewSearch(Files, func(f *File) []string { return []string{f.Name} })

	_ = Files.Guard(fileGuard).Rule(fileRule)
)

// The states of a file.
const (
	FileLive    = "live"
	FileTrashed = "trashed"
)

func fileState(f *File) string {
	if f.Trashed() {
		return FileTrashed
	}
	return FileLive
}

// unlessTrashed is nothing for a file in the trash.
func unlessTrashed[V any](f *File, v V) V {
	if f.Trashed() {
		var nothing V
		return nothing
	}
	return v
}

// fileGuard hides a file from whoever may not see its uploader.
func fileGuard(tx *Tx, f *File) error {
	if !f.InScope(tx) {
		return Files.NotFound(f.ID)
	}
	return nil
}

// fileRule releases the bytes of a file that is deleted.
func fileRule(tx *Tx, old, new *File) error {
	if old != nil && (new == nil || new.Digest != old.Digest) {
		tx.changes.release(old.Digest)
	}
	return nil
}

// InScope tells whether a file's uploader is in the actor's data scope.
func (f *File) InScope(tx *Tx) bool {
	scope := tx.actor.Scope(tx)
	if scope.All || f.UploaderID == scope.Self {
		return true
	}
	u, err := Users.Get(tx, f.UploaderID)
	return err == nil && scope.HasUser(u)
}

// TrashFile moves a file into the trash. Its public address ends.
func TrashFile(tx *Tx, id ID) error {
	_, err := Files.Update(tx, id, func(f *File) error {
		if f.Trashed() {
			return notFound(Files.noun(), id)
		}
		f.TrashedAt, f.Key = tx.now, ""
		return nil
	})
	return err
}

// RestoreFile takes a file out of the trash, into its group if there still is one.
func RestoreFile(tx *Tx, id ID) (*File, error) {
	return Files.Update(tx, id, func(f *File) error {
		if !f.Trashed() {
			return errs.New(errs.NotFound, "there is no file %d in the trash", id)
		}
		if f.TrashedAt = 0; !FileGroups.Exists(tx, f.GroupID) {
			f.GroupID = 0
		}
		return nil
	})
}

// emptyStep is how many files one commit takes out of the trash for ever.
const emptyStep = 100

// EmptyTrash deletes the files that have been in the trash for longer than the
// setting says, in steps, and returns how many.
func (db *DB) EmptyTrash() (n int, err error) {
	for {
		step := 0
		err := db.Update(System, func(tx *Tx) error {
			before := tx.now - Time(FileTrashDays.Get(tx))*24*3600*1e6
			ids := FileByTrashed.First(tx, 1, before, emptyStep)
			step = len(ids) // set and not added to: this may run again
			for _, id := range ids {
				if err := Files.Delete(tx, id); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			return n, err
		}
		if n += step; step < emptyStep {
			return n, nil
		}
	}
}
