// Package files has uploads, downloads, groups and trash of files, scaled pictures, and avatars.
package files

import (
	"cmp"
	"crypto/rand"
	"io"

	"reeve/server/jobs"
	"reeve/server/web"
	"reeve/store"
	"reeve/store/blob"
	"reeve/store/errs"
	"reeve/store/fold"
	"reeve/store/kv"
)

func init() {
	web.Enums(map[string][]string{
		"thumb": {"64x64", "200x200", "400x400", "800x800"},
		"file_kind": {store.ImageFile, store.AudioFile, store.VideoFile, store.ArchiveFile,
			store.DocumentFile, store.OtherFile},
	})
}

func Routes(js *jobs.Runner) []web.Route {
	return []web.Route{
		web.List("/file/list", "file.list.query", "List files", &fileList),
		web.Read("/file/list/:id", "file.list.query", "Get a file's record", getFile),
		web.Uploads("/file/list", "file.list.create", "Upload files", uploadFiles, web.Options{
			Several: true,
			Note:    "All or nothing: if one file is rejected, none is stored.",
		}),
		web.Write("PUT", "/file/list/:id", "file.list.update", "Change a file's record",
			changeFile, web.Options{Record: web.RecordOf(store.Files)}),
		web.Write("PUT", "/file/list", "file.list.update", "Change file records", changeFiles),
		web.Write("DELETE", "/file/list/:id", "file.list.delete", "Move a file to the trash",
			trashFile, web.Options{
				Record: web.RecordOf(store.Files),
				Note:   "It can be restored until it is deleted permanently.",
			}),
		FileDeletions.Route(js, "/file/list", "Move files to the trash", web.Options{
			Note: "They can be restored until they are deleted permanently.",
		}),
	}
}

// File is a file's record in responses.
type File struct {
	store.Ident
	GroupID      store.ID    `json:"group_id" doc:"ID of the file group; 0 for none"`
	Name         string      `json:"name"`
	Ext          string      `json:"ext" doc:"Extension of the name, in lower case, without the dot"`
	Kind         string      `json:"kind" enum:"file_kind" doc:"Kind of file, detected from the content: image, audio, video, archive, document or other"`
	MIME         string      `json:"mime" doc:"Media type, detected from the content"`
	Size         int64       `json:"size" doc:"Size in bytes"`
	SHA256       blob.Digest `json:"sha256"`
	Public       store.Flag  `json:"public"`
	Unclean      store.Flag  `json:"keeps_metadata" doc:"1 if its public URL sends the content unchanged, with metadata that it may contain, such as the place in videos, SVG files and documents; 0 for pictures, which are sent without"`
	URL          string      `json:"url" doc:"URL of the content; it requires a token unless the file is public"`
	UploaderID   store.ID    `json:"uploader_id"`
	UploaderName string      `json:"uploader_name" doc:"Username of the uploader at the time of the upload"`
	StoredAt     store.Time  `json:"stored_at" doc:"Time at which the content was uploaded; later than created_at for a new version"`
	store.Versioned
}

func fileOf(req *web.Request, f *store.File) *File {
	out := &File{
		Ident:        f.Ident,
		GroupID:      f.GroupID,
		Name:         f.Name,
		Ext:          f.Ext,
		Kind:         f.Kind,
		MIME:         f.MIME,
		Size:         f.Size,
		SHA256:       f.Digest,
		Public:       store.Flag(f.Public()),
		Unclean:      store.Flag(keepsMetadata(f)),
		URL:          req.Server.URL("/file/list/" + f.ID.String() + "/content"),
		UploaderID:   f.UploaderID,
		UploaderName: f.UploaderName,
		StoredAt:     cmp.Or(f.StoredAt, f.CreatedAt),
		Versioned:    f.Versioned,
	}
	if f.Public() {
		out.URL = req.Server.URL(web.MediaPath + f.Key)
	}
	return out
}

// fileColumns are the columns that the list and the trash share.
var fileColumns = []web.Column[store.File]{
	{Name: "id", Uses: web.Sorted},
	{Name: "name", Uses: web.Sorted | web.Filtered | web.Param, Texts: named, Order: store.FileByName.Order()},
	{Name: "size", Uses: web.Sorted, Order: store.FileBySize.Order()},
}

var fileList = web.Resource[store.File, *File]{
	Collection: store.Files,
	Keywords:   []string{"name"},
	Order:      "id, descending",
	Descending: true,
	Scope:      ofUploaders,
	Telling:    true,
	Named:      true,
	Only:       func() kv.Condition { return store.FileByState.AnyOf(store.FileLive) },
	Output: func(_ *store.Tx, req *web.Request, f *store.File) (*File, error) {
		return fileOf(req, f), nil
	},
	Columns: append([]web.Column[store.File]{
		{Name: "group_id", Uses: web.Filtered | web.Param, Numbers: folders,
			Named: web.ByName("group", "file_group")},
		{Name: "kind", Uses: web.Filtered | web.Param, Texts: web.AnyText(store.FileByKind)},
		{Name: "public", Uses: web.Filtered | web.Param, Texts: web.AnyText(store.FileByPublic)},
	}, fileColumns...),
}

// named returns the condition that a file has one of some names; case does not matter.
func named(_ *store.Tx, names []string) kv.Condition {
	keys := make([]string, len(names))
	for i, name := range names {
		keys[i] = fold.SortKey(name)
	}
	return store.FileByName.AnyOf(keys...)
}

// folders returns the condition that a file is in one of some groups; 0 selects files
// without a group.
func folders(_ *store.Tx, values []int64) kv.Condition {
	of := make([]store.ID, len(values))
	for i, n := range values {
		of[i] = store.ID(n) // a negative number becomes an ID that no group has
	}
	return store.FileByFolder.AnyOf(of...)
}

// ofUploaders limits a list of files to those of uploaders in the caller's data scope.
func ofUploaders(tx *store.Tx, req *web.Request) (kv.Condition, bool) {
	return web.ScopedTo(tx, req, store.FileByUploader)
}

// seenFile returns a file if the caller may see it and it is in the trash exactly if
// trashed.
func seenFile(tx *store.Tx, id store.ID, trashed bool) (*store.File, error) {
	f, err := store.Files.Get(tx, id)
	if err == nil && (f.Trashed() != trashed || !f.InScope(tx)) {
		err = store.Files.NotFound(id)
	}
	return f, err
}

func getFile(tx *store.Tx, req *web.Request, in *web.ByID) (*File, error) {
	f, err := seenFile(tx, in.ID, false)
	if err != nil {
		return nil, err
	}
	return fileOf(req, f), nil
}

type fileForm struct {
	GroupID store.ID   `form:"group_id" names:"group,file_group" doc:"ID of the file group; absent or 0 for none"`
	Public  store.Flag `form:"public" doc:"Visibility: 1 lets everybody who knows the URL read the files; 0, the default, does not"`
}

// Files is a response with several records.
type Files struct {
	Data []*File `json:"data"`
}

// uploadFiles stores the contents while they arrive, and the records of all files in one
// transaction once the last content is durable. Until then none of the files is visible.
func uploadFiles(req *web.Request, in *fileForm, form *web.Form) (*Files, error) {
	var kept []*received
	defer func() {
		for _, r := range kept {
			r.upload.Release()
		}
	}()

	for {
		name, content, err := form.Next()
		if err != nil {
			return nil, err
		}
		if content == nil {
			break
		}
		r, err := receive(req, name, content)
		if err != nil {
			return nil, err
		}
		kept = append(kept, r)
	}

	working := req.Working()
	for _, r := range kept { // after the body was read, which may not wait
		if err := r.upload.Send(req.HTTP.Context(), working); err != nil {
			return nil, err
		}
	}

	out := &Files{}
	return out, req.DB.Update(req.Actor, func(tx *store.Tx) error {
		out.Data = nil
		for _, r := range kept {
			f := r.file
			f.GroupID, f.UploaderID, f.UploaderName = in.GroupID, req.Actor.ID, req.Actor.Username
			if err := Publish(&f, bool(in.Public)); err != nil {
				return err
			}
			if err := store.Files.Create(tx, &f); err != nil {
				return err
			}
			out.Data = append(out.Data, fileOf(req, &f))
		}
		return nil
	})
}

// received is a file whose content is stored and whose record is not yet.
type received struct {
	file   store.File
	upload *blob.Upload
}

// receive stores the content of a file, limited by the detected type.
func receive(req *web.Request, name string, content io.Reader) (*received, error) {
	name = cleanName(name)
	head := make([]byte, sniffBytes)
	n, err := io.ReadFull(content, head)
	if err != nil && err != io.EOF && err != io.ErrUnexpectedEOF {
		return nil, err
	}

	media, kind := sniff(head[:n])
	limit, err := fileLimit(req, name, media, kind)
	if err != nil {
		return nil, err
	}

	upload, err := req.DB.NewUpload()
	if err != nil {
		return nil, err
	}

	r := &received{upload: upload}
	if err := r.take(head[:n], content, limit, kind); err != nil {
		upload.Release()
		return nil, err
	}

	digest, err := upload.Finish()
	if err != nil {
		upload.Release()
		return nil, err
	}

	r.file = store.File{
		Name:        name,
		Ext:         ext(name),
		FileContent: store.FileContent{Kind: kind, MIME: media, Size: upload.Size(), Digest: digest},
	}

	return r, nil
}

func (r *received) take(head []byte, rest io.Reader, limit int64, kind string) error {
	if _, err := r.upload.Write(head); err != nil {
		return err
	}
	if _, err := io.Copy(r.upload, io.LimitReader(rest, limit+1-int64(len(head)))); err != nil {
		return err
	}
	if r.upload.Size() > limit {
		return errs.Field(errs.TooLarge, "file", "must be at most %d MiB for %s files", limit>>20,
			errs.Noun(kind))
	}
	return nil
}

// Publish gives a file a public URL or removes it.
func Publish(f *store.File, public bool) error {
	switch {
	case !public:
		f.Key = ""
	case !f.Public():
		f.Key = rand.Text()
		return publishable(f)
	}
	return nil
}

type fileIn struct {
	GroupID *store.ID   `json:"group_id" names:"group,file_group" doc:"ID of the file group; 0 for none"`
	Public  *store.Flag `json:"public" doc:"Visibility: 1 gives the file a public URL, a new one each time it is made public; 0 removes it"`
}

func (in *fileIn) apply(f *store.File) error {
	web.Set(&f.GroupID, in.GroupID)
	if in.Public != nil {
		return Publish(f, bool(*in.Public))
	}
	return nil
}

type fileChange struct {
	web.ByID
	fileIn
	Name *string `json:"name" check:"min=1,max=255,filename"`
}

func changeFile(tx *store.Tx, req *web.Request, in *fileChange) (*File, error) {
	if _, err := seenFile(tx, in.ID, false); err != nil {
		return nil, err
	}
	if in.Name != nil && len(*in.Name) > MaxName {
		return nil, errs.Field(errs.Invalid, "name", "must be at most %d bytes", MaxName)
	}

	f, err := store.Files.Update(tx, in.ID, func(f *store.File) error {
		if err := in.apply(f); err != nil {
			return err
		}
		web.Set(&f.Name, in.Name)
		f.Ext = ext(f.Name)
		return nil
	})
	if err != nil {
		return nil, err
	}

	return fileOf(req, f), nil
}

type filesChange struct {
	web.ByIDs
	fileIn
}

func changeFiles(tx *store.Tx, req *web.Request, in *filesChange) (*Files, error) {
	out := &Files{Data: []*File{}}
	return out, web.Each(tx, in.IDs, func(id store.ID) error {
		if _, err := seenFile(tx, id, false); err != nil {
			return err
		}
		f, err := store.Files.Update(tx, id, func(f *store.File) error {
			return in.apply(f)
		})
		if err == nil {
			out.Data = append(out.Data, fileOf(req, f))
		}
		return err
	})
}

func trashFile(tx *store.Tx, _ *web.Request, in *web.ByID) (web.Nothing, error) {
	if _, err := seenFile(tx, in.ID, false); err != nil {
		return web.Nothing{}, err
	}
	return web.Nothing{}, store.TrashFile(tx, in.ID)
}

var FileDeletions = jobs.Deletions[store.File, *File]{
	List:   &fileList,
	Query:  "file.list.query",
	Job:    "file_trash",
	Access: "file.list.delete",
	Check:  mayTrash,
	One:    toTrash,
	Weight: func(*store.Tx, store.ID) (int, error) { return 1, nil },
}

func mayTrash(tx *store.Tx, id store.ID) error {
	_, err := seenFile(tx, id, false)
	return err
}

func toTrash(tx *store.Tx, id store.ID) error {
	_, err := trashFile(tx, nil, &web.ByID{ID: id})
	return err
}
