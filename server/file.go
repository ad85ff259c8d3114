package server

import (
	"crypto/rand"
	"io"
	"strconv"

	"reeve/store"
	"reeve/store/errs"
)

var fileRoutes = []Route{
	diskList("/file/list", "file.list.query", "List files", &fileList),
	read("/file/list/:id", "file.list.query", "Get a file's record", getFile),
	ofSeveral(uploads("/file/list", "file.list.create", "Upload files", uploadFiles)),
	onRecord(store.Files, write("PUT", "/file/list/:id", "file.list.update", "Change a file's record", changeFile)),
	write("PUT", "/file/list", "file.list.update", "Change file records", changeFiles),
	onRecord(store.Files, write("DELETE", "/file/list/:id", "file.list.delete", "Move a file to the trash", trashFile)),
	fileDeletions.route("/file/list", "Move files to the trash"),
}

// file is a file's record in responses.
type file struct {
	store.Ident
	GroupID      store.ID     `json:"group_id" doc:"ID of the file group; 0 for none"`
	Name         string       `json:"name"`
	Ext          string       `json:"ext" doc:"Extension of the name, in lower case, without the dot"`
	Kind         string       `json:"kind" enum:"file_kind" doc:"Kind of file, detected from the content: image, audio, video, archive, document or other"`
	MIME         string       `json:"mime" doc:"Media type, detected from the content"`
	Size         int64        `json:"size" doc:"Size in bytes"`
	SHA256       store.Digest `json:"sha256"`
	Public       store.Flag   `json:"public"`
	Unclean      store.Flag   `json:"keeps_metadata" doc:"1 if its public URL sends the content unchanged, with metadata that it may contain, such as the place in videos, SVG files and documents; 0 for pictures, which are sent without"`
	URL          string       `json:"url" doc:"URL of the content; it requires a token unless the file is public"`
	UploaderID   store.ID     `json:"uploader_id"`
	UploaderName string       `json:"uploader_name" doc:"Username of the uploader at the time of the upload"`
	store.Versioned
}

func (req *Request) fileOf(f *store.File) *file {
	out := &file{
		Ident: f.Ident, GroupID: f.GroupID, Name: f.Name, Ext: f.Ext, Kind: f.Kind, MIME: f.MIME, Size: f.Size, SHA256: f.Digest,
		Public: store.Flag(f.Public()), Unclean: store.Flag(keepsMetadata(f)), URL: req.s.url("/file/list/" + f.ID.String() + "/content"),
		UploaderID: f.UploaderID, UploaderName: f.UploaderName, Versioned: f.Versioned,
	}
	if f.Public() {
		out.URL = req.s.url(mediaPath + f.Key)
	}
	return out
}

// fileColumns are the columns that the list and the trash share.
var fileColumns = []diskColumn[store.File]{
	{name: "id", uses: sorted},
	{name: "name", uses: sorted, order: store.FileByName.Order()},
	{name: "size", uses: sorted, order: store.FileBySize.Order()},
}

var fileList = Resource[store.File, *file]{
	of: store.Files, keywords: []string{"name"}, order: "id, descending", descending: true, scope: ofUploaders, telling: true,
	only: func() store.Condition { return store.FileByState.AnyOf(store.FileLive) },
	out:  func(_ *store.Tx, req *Request, f *store.File) (*file, error) { return req.fileOf(f), nil },
	columns: append([]diskColumn[store.File]{
		{name: "group_id", uses: filtered | param, numbers: folders},
		{name: "kind", uses: filtered | param, texts: anyText(store.FileByKind)},
		{name: "public", uses: filtered | param, texts: anyText(store.FileByPublic)},
	}, fileColumns...),
}

// folders returns the condition that a file is in one of some groups; 0 selects files
// without a group.
func folders(_ *store.Tx, values []int64) store.Condition {
	of := make([]store.ID, len(values))
	for i, n := range values {
		of[i] = store.ID(n) // a negative number becomes an ID that no group has
	}
	return store.FileByFolder.AnyOf(of...)
}

// ofUploaders limits a list of files to those of uploaders in the caller's data scope.
func ofUploaders(tx *store.Tx, req *Request) (store.Condition, bool) {
	return scopedTo(tx, req, store.FileByUploader)
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

func getFile(tx *store.Tx, req *Request, in *byID) (*file, error) {
	f, err := seenFile(tx, in.ID, false)
	if err != nil {
		return nil, err
	}
	return req.fileOf(f), nil
}

type fileForm struct {
	GroupID store.ID   `form:"group_id" doc:"ID of the file group; absent or 0 for none"`
	Public  store.Flag `form:"public" doc:"Visibility: 1 lets everybody who knows the URL read the files; 0, the default, does not"`
}

// files is a response with several records.
type files struct {
	Data []*file `json:"data"`
}

// uploadFiles stores the contents while they arrive, and the records of all files in one
// transaction once the last content is durable. Until then none of the files is visible.
func uploadFiles(req *Request, in *fileForm, form *form) (*files, error) {
	var kept []*received
	defer func() {
		for _, r := range kept {
			r.upload.Release()
		}
	}()
	for {
		name, content, err := form.next()
		if err != nil {
			return nil, err
		}
		if content == nil {
			break
		}
		r, err := req.receive(name, content)
		if err != nil {
			return nil, err
		}
		kept = append(kept, r)
	}
	out := &files{}
	return out, req.db.Update(req.Actor, func(tx *store.Tx) error {
		out.Data = nil
		for _, r := range kept {
			f := r.file
			f.GroupID, f.UploaderID, f.UploaderName = in.GroupID, req.Actor.ID, req.Actor.Username
			if err := publish(&f, bool(in.Public)); err != nil {
				return err
			}
			if err := store.Files.Create(tx, &f); err != nil {
				return err
			}
			out.Data = append(out.Data, req.fileOf(&f))
		}
		return nil
	})
}

// received is a file whose content is stored and whose record is not yet.
type received struct {
	file   store.File
	upload *store.Upload
}

// receive stores the content of a file, limited by the detected type.
func (req *Request) receive(name string, content io.Reader) (*received, error) {
	name = cleanName(name)
	head := make([]byte, sniffBytes)
	n, err := io.ReadFull(content, head)
	if err != nil && err != io.EOF && err != io.ErrUnexpectedEOF {
		return nil, err
	}
	media, kind := sniff(head[:n])
	limit, err := req.fileLimit(name, media, kind)
	if err != nil {
		return nil, err
	}
	upload, err := req.db.NewUpload()
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
	r.file = store.File{Name: name, Ext: ext(name), Kind: kind, MIME: media, Size: upload.Size(), Digest: digest}
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
		return errs.Field(errs.TooLarge, "file", "must be at most %d MiB for %s files", limit>>20, errs.Noun(kind))
	}
	return nil
}

// publish gives a file a public URL or removes it.
func publish(f *store.File, public bool) error {
	switch {
	case !public:
		f.Key = ""
	case !f.Public():
		f.Key = rand.Text()
		return publishable(f)
	}
	return nil
}

// mediaPath is the path of public files and avatars, before the key.
const mediaPath = "/media/"

type fileIn struct {
	GroupID *store.ID   `json:"group_id" doc:"ID of the file group; 0 for none"`
	Public  *store.Flag `json:"public" doc:"Visibility: 1 gives the file a public URL, a new one each time it is made public; 0 removes it"`
}

func (in *fileIn) apply(f *store.File) error {
	set(&f.GroupID, in.GroupID)
	if in.Public != nil {
		return publish(f, bool(*in.Public))
	}
	return nil
}

type fileChange struct {
	byID
	fileIn
	Name *string `json:"name" check:"min=1,max=255,filename"`
}

func changeFile(tx *store.Tx, req *Request, in *fileChange) (*file, error) {
	if _, err := seenFile(tx, in.ID, false); err != nil {
		return nil, err
	}
	if in.Name != nil && len(*in.Name) > maxName {
		return nil, errs.Field(errs.Invalid, "name", "must be at most %d bytes", maxName)
	}
	f, err := store.Files.Update(tx, in.ID, func(f *store.File) error {
		if err := in.apply(f); err != nil {
			return err
		}
		set(&f.Name, in.Name)
		f.Ext = ext(f.Name)
		return nil
	})
	if err != nil {
		return nil, err
	}
	return req.fileOf(f), nil
}

type filesChange struct {
	byIDs
	fileIn
}

func changeFiles(tx *store.Tx, req *Request, in *filesChange) (*files, error) {
	out := &files{Data: []*file{}}
	return out, each(tx, in.IDs, func(id store.ID) error {
		if _, err := seenFile(tx, id, false); err != nil {
			return err
		}
		f, err := store.Files.Update(tx, id, func(f *store.File) error {
			return in.apply(f)
		})
		if err == nil {
			out.Data = append(out.Data, req.fileOf(f))
		}
		return err
	})
}

func trashFile(tx *store.Tx, _ *Request, in *byID) (nothing, error) {
	if _, err := seenFile(tx, in.ID, false); err != nil {
		return nothing{}, err
	}
	return nothing{}, store.TrashFile(tx, in.ID)
}

// etag returns text as an entity tag, in quotes.
func etag(text string) string { return strconv.Quote(text) }
