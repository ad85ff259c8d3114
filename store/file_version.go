package store

import (
	"encoding/json"
	"slices"

	"reeve/store/blob"
	"reeve/store/errs"
	"reeve/store/kv"
)

// FileVersion is an earlier content of a file. The file itself has the current one.
type FileVersion struct {
	Ident
	FileID ID `json:"file_id"`
	FileContent
	kv.Timestamps // created when the content was replaced
}

// FileVersions and their indexes. Undo finds an earlier content here: see useContent.
var (
	FileVersions      = kv.NewCollection[FileVersion]("file_version")
	FileVersionByFile = kv.NewRef(FileVersions, "file_id", Files, func(v *FileVersion) ID {
		return v.FileID
	}, kv.Cascade)
	FileVersionByAuthor = kv.NewRef(FileVersions, "author_id", Users, func(v *FileVersion) ID {
		return v.AuthorID
	}, kv.Dangle)
	FileVersionByDigest = kv.NewEach(FileVersions, "digest", func(v *FileVersion) string {
		return v.Digest.String()
	})

	_ = FileVersions.Content(func(v *FileVersion) blob.Digest {
		return v.Digest
	}, func(v *FileVersion) int64 { return v.Size }, FileVersionByDigest)
)

var _ = manage(Access{
	Table:  FileVersions,
	Query:  "file.list.query",
	Update: "file.list.update",
	Delete: "file.trash.delete",
})

// ReplaceContent gives a file another content, unless it is the same. The one before becomes a
// version; the oldest ones beyond FileVersionsKept are deleted. check may refuse the changed file.
func ReplaceContent(tx *Tx, id ID, content FileContent, check func(*File) error) (*File, error) {
	f, err := Files.Get(tx, id)
	if err != nil || f.Digest == content.Digest {
		return f, err
	}
	if err := FileVersions.Create(tx, &FileVersion{FileID: id, FileContent: f.FileContent}); err != nil {
		return nil, err
	}
	f, err = Files.Update(tx, id, func(f *File) error {
		f.FileContent = content
		return check(f)
	})
	if err != nil {
		return nil, err
	}

	for ids := FileVersionByFile.AnyOf(id).IDs(tx); len(ids) > int(FileVersionsKept.Get(tx)); ids = ids[1:] {
		if err := FileVersions.Delete(tx, ids[0]); err != nil && !IsDamage(err) {
			return nil, err
		}
	}
	return f, nil
}

// UseVersion makes an earlier content of a file the current one, which becomes a version. check may
// refuse the changed file.
func UseVersion(tx *Tx, v *FileVersion, check func(*File) error) (*File, error) {
	if err := FileVersions.Delete(tx, v.ID); err != nil {
		return nil, err
	}
	return ReplaceContent(tx, v.FileID, v.FileContent, check)
}

// VersionOf returns a version of a file.
func VersionOf(tx *Tx, file, id ID) (*FileVersion, error) {
	v, err := FileVersions.Get(tx, id)
	if errs.Is(err, errs.NotFound) || err == nil && v.FileID != file {
		err = errs.New(errs.NotFound, "version %d not found in file %d", id, file)
	}
	return v, err
}

// contentFields are the fields of FileContent.
var contentFields = []string{"kind", "mime", "size", "digest", "author_id", "stored_at"}

// versionWith returns the newest version of a file with a digest, given as JSON; nil if there is
// none.
func versionWith(tx *Tx, file ID, digest json.RawMessage) (*FileVersion, error) {
	var d blob.Digest
	if err := json.Unmarshal(digest, &d); err != nil {
		return nil, err
	}
	for _, id := range slices.Backward(FileVersionByFile.AnyOf(file).IDs(tx)) {
		v, err := FileVersions.Get(tx, id)
		if err != nil && !IsDamage(err) {
			return nil, err
		}
		if err == nil && v.Digest == d {
			return v, nil
		}
	}
	return nil, nil
}

// useContent makes the content with a digest the current one of a file again, for an undo.
func useContent(tx *Tx, file ID, digest json.RawMessage) error {
	v, err := versionWith(tx, file, digest)
	if err != nil {
		return err
	}
	if v == nil {
		return errs.New(errs.Conflict, "the earlier content of file %d is no longer kept", file)
	}
	_, err = UseVersion(tx, v, func(*File) error { return nil })
	return err
}
