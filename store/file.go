package store

import (
	"reeve/store/blob"
	"reeve/store/errs"
	"reeve/store/fold"
	"reeve/store/kv"
)

// The kinds of files, detected from their content.
const (
	ImageFile    = "image"
	AudioFile    = "audio"
	VideoFile    = "video"
	ArchiveFile  = "archive"
	DocumentFile = "document"
	OtherFile    = "other"
)

// File is an uploaded file. Its content is a blob, which other files may share.
type File struct {
	Ident
	GroupID ID     `json:"group_id"`
	Name    string `json:"name" visible:"name"` // base name
	Ext     string `json:"ext"`                 // extension of the name, in lower case and without the dot
	FileContent
	Key          string `json:"key" log:"secret"` // key in the public URL; "" if the file is not public
	UploaderID   ID     `json:"uploader_id"`
	UploaderName string `json:"uploader_name" log:"personal"`
	TrashedAt    Time   `json:"trashed_at"` // 0 if it is not in the trash
	Versioned
}

// FileContent describes the content of a file, or of an earlier version of it.
type FileContent struct {
	Kind     string      `json:"kind"`
	MIME     string      `json:"mime"`
	Size     int64       `json:"size"`
	Digest   blob.Digest `json:"digest"`
	AuthorID ID          `json:"author_id"` // user who uploaded it as a new version; 0 for the first content, which is the uploader's
	StoredAt Time        `json:"stored_at"` // time of that upload; 0 for the first content
}

// Public reports whether anyone with the URL may read the file.
func (f *File) Public() bool { return f.Key != "" }

// Trashed reports whether the file is in the trash.
func (f *File) Trashed() bool { return f.TrashedAt != 0 }

// FileGroup is a folder of files. Folders are not nested.
type FileGroup struct {
	Ident
	Name     string `json:"name" visible:"name"`
	Sort     int64  `json:"sort"`
	Describe string `json:"describe"`
	Versioned
}

// FileGroups, Files and their indexes. The indexes that use rejectTrashed have no files in the
// trash, so that lists of the others need no further condition.
var (
	FileGroups      = kv.NewCollection[FileGroup]("file_group").Undoable()
	FileGroupByName = kv.NewUniqueText(FileGroups, "name", fold.Name, func(g *FileGroup) string {
		return g.Name
	})
	FileGroupBySort = kv.NewEach(FileGroups, "sort", func(g *FileGroup) int64 { return g.Sort })

	Files       = kv.NewCollection[File]("file").Undoable()
	FileByGroup = kv.NewRef(Files, "group_id", FileGroups, func(f *File) ID {
		return rejectTrashed(f, f.GroupID)
	}, kv.Restrict, "trashed_at")
	FileByFolder = kv.NewMany(Files, "folder", func(f *File) []ID { return rejectTrashed(f, []ID{f.GroupID}) }) // also 0, for files without a folder
	FileByKind   = kv.NewMany(Files, "kind", func(f *File) []string {
		return rejectTrashed(f, []string{f.Kind})
	}, "trashed_at")
	FileByPublic = kv.NewMany(Files, "public", func(f *File) []string {
		return rejectTrashed(f, []string{flagText(Flag(f.Public()))})
	})
	FileByState    = kv.NewEach(Files, "state", func(f *File) string { return fileState(f) })
	FileByKey      = kv.NewUnique(Files, "key", func(f *File) string { return f.Key })
	FileByDigest   = kv.NewEach(Files, "digest", func(f *File) string { return f.Digest.String() })
	FileByUploader = kv.NewRef(Files, "uploader_id", Users, func(f *File) ID {
		return f.UploaderID
	}, kv.Dangle)
	FileByAuthor = kv.NewRef(Files, "author_id", Users, func(f *File) ID {
		return f.AuthorID
	}, kv.Dangle)
	FileByName    = kv.NewEach(Files, "name", func(f *File) string { return fold.SortKey(f.Name) })
	FileBySize    = kv.NewEach(Files, "size", func(f *File) int64 { return f.Size })
	FileByTrashed = kv.NewEach(Files, "trashed_at", func(f *File) Time { return f.TrashedAt })
	FileSearch    = kv.NewSearch(Files, func(f *File) []string { return []string{f.Name} })

	_ = Files.Authorize(authorizeFile).Content(func(f *File) blob.Digest {
		return f.Digest
	}, func(f *File) int64 { return f.Size }, FileByDigest).ContentName(func(f *File) string { return f.Name })
)

var _ = manage(Access{
	Table:  Files,
	Query:  "file.list.query",
	Update: "file.list.update",
	Delete: "file.list.delete",
	Fields: []FieldAccess{{"trashed_at", "file.trash.restore"}},
})

var _ = Manage(FileGroups, "file.group")

// The states of a file.
const (
	FileLive    = "live"
	FileTrashed = "trashed"
)

// fileState returns the value in the index FileByState.
func fileState(f *File) string {
	if f.Trashed() {
		return FileTrashed
	}
	return FileLive
}

// rejectTrashed returns v, or the zero value for a file in the trash.
func rejectTrashed[V any](f *File, v V) V {
	if f.Trashed() {
		var nothing V
		return nothing
	}
	return v
}

// authorizeFile hides files whose uploader is outside the actor's data scope.
func authorizeFile(tx *Tx, f *File) error {
	if !f.InScope(tx) {
		return Files.NotFound(f.ID)
	}
	return nil
}

// InScope reports whether the uploader of the file is in the actor's data scope.
func (f *File) InScope(tx *Tx) bool {
	scope := ActorOf(tx).Scope(tx)
	if scope.All || f.UploaderID == scope.Self {
		return true
	}
	u, err := Users.Get(tx, f.UploaderID)
	return err == nil && scope.HasUser(u)
}

// TrashFile moves a file to the trash and removes its public URL.
func TrashFile(tx *Tx, id ID) error {
	_, err := Files.Update(tx, id, func(f *File) error {
		if f.Trashed() {
			return Files.NotFound(id)
		}
		f.TrashedAt, f.Key = tx.Now(), ""
		return nil
	})
	return err
}

// RestoreFile moves a file out of the trash, to its folder if that still exists.
func RestoreFile(tx *Tx, id ID) (*File, error) {
	return Files.Update(tx, id, func(f *File) error {
		if !f.Trashed() {
			return errs.New(errs.NotFound, "file %d not found in the trash", id)
		}
		if f.TrashedAt = 0; !FileGroups.Exists(tx, f.GroupID) {
			f.GroupID = 0
		}
		return nil
	})
}

// emptyStep is the maximum number of files that one commit deletes from the trash.
const emptyStep = 100

// EmptyTrash permanently deletes the files that have been in the trash for longer than
// FileTrashDays, in steps, and returns their number.
func EmptyTrash(db *DB) (n int, err error) {
	for {
		step := 0
		err := db.Update(System, func(tx *Tx) error {
			before := tx.Now() - Time(FileTrashDays.Get(tx))*24*3600*1e6
			ids := FileByTrashed.First(tx, 1, before, emptyStep)
			step = len(ids) // assigned, not added: the function may run again
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
