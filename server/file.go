package server

import (
	"crypto/rand"
	"io"
	"strconv"

	"reeve/store"
	"reeve/store/errs"
)

var fileRoutes = []Route{
	table("/file/list", "file.list.query", "List files", &fileList),
	read("/file/list/:id", "file.list.query", "Get a file's record", getFile),
	ofSeveral(uploads("/file/list", "file.list.create", "Upload files", uploadFiles)),
	write("PUT", "/file/list/:id", "file.list.update", "Change a file's record", changeFile),
	write("PUT", "/file/list", "file.list.update", "Change file records", changeFiles),
	write("DELETE", "/file/list/:id", "file.list.delete", "Move a file to the trash", trashFile),
	deleteSeveral("/file/list", "file.list.delete", "Move files to the trash", trashFile),
}

// file is a file's record as it is answered.
type file struct {
	store.Ident
	GroupID      store.ID     `json:"group_id" doc:"0 for none"`
	Name         string       `json:"name"`
	Ext          string       `json:"ext" doc:"of the name, in lower case, without the dot"`
	Kind         string       `json:"kind" enum:"file_kind" doc:"image, audio, video, archive, document or other, as the content tells"`
	MIME         string       `json:"mime" doc:"the media type, as the content tells"`
	Size         int64        `json:"size" doc:"bytes"`
	SHA256       store.Digest `json:"sha256"`
	Public       store.Flag   `json:"public"`
	URL          string       `json:"url" doc:"of the bytes: for everybody if it is public, else with a token"`
	UploaderID   store.ID     `json:"uploader_id"`
	UploaderName string       `json:"uploader_name" doc:"as it was at the upload"`
	store.Versioned
}

func fileOf(f *store.File) *file {
	out := &file{
		Ident: f.Ident, GroupID: f.GroupID, Name: f.Name, Ext: f.Ext, Kind: f.Kind, MIME: f.MIME, Size: f.Size, SHA256: f.Digest,
		Public: store.Flag(f.Public()), URL: "/file/list/" + f.ID.String() + "/content",
		UploaderID: f.UploaderID, UploaderName: f.UploaderName, Versioned: f.Versioned,
	}
	if f.Public() {
		out.URL = mediaURL(f.Key)
	}
	return out
}

// fileColumns are what the list and the trash have in common.
var fileColumns = []tableColumn[store.File]{
	{name: "id", uses: sorted},
	{name: "name", uses: sorted, order: store.FileByName.Order()},
	{name: "size", uses: sorted, order: store.FileBySize.Order()},
}

var fileList = Table[store.File, *file]{
	of: store.Files, keywords: []string{"name"}, order: "id, descending", descending: true, scope: ofUploaders, telling: true,
	only: func() store.Condition { return store.FileByState.AnyOf(store.FileLive) },
	out:  func(_ *store.Tx, _ *Request, f *store.File) (*file, error) { return fileOf(f), nil },
	columns: append([]tableColumn[store.File]{
		{name: "group_id", uses: filtered | param, numbers: folders},
		{name: "kind", uses: filtered | param, texts: anyText(store.FileByKind)},
		{name: "public", uses: filtered | param, texts: anyText(store.FileByPublic)},
	}, fileColumns...),
}

// folders reads group ids, of which 0 is that of the files in none.
func folders(_ *store.Tx, values []int64) store.Condition {
	of := make([]store.ID, len(values))
	for i, n := range values {
		of[i] = store.ID(n) // no group has what becomes of a negative one
	}
	return store.FileByFolder.AnyOf(of...)
}

// ofUploaders narrows a list of files to those of uploaders in scope.
func ofUploaders(tx *store.Tx, req *Request) (store.Condition, bool) {
	return scopedTo(tx, req, store.FileByUploader)
}

// seenFile returns a file that the caller may see and that is, or is not, in the trash.
func seenFile(tx *store.Tx, id store.ID, trashed bool) (*store.File, error) {
	f, err := store.Files.Get(tx, id)
	if err == nil && (f.Trashed() != trashed || !f.InScope(tx)) {
		err = store.Files.NotFound(id)
	}
	return f, err
}

func getFile(tx *store.Tx, _ *Request, in *byID) (*file, error) {
	f, err := seenFile(tx, in.ID, false)
	if err != nil {
		return nil, err
	}
	return fileOf(f), nil
}

type fileForm struct {
	GroupID store.ID   `form:"group_id" doc:"absent or 0 for none"`
	Public  store.Flag `form:"public" doc:"1 lets everybody read it who knows its address"`
}

// files is an answer with several records.
type files struct {
	Data []*file `json:"data"`
}

// uploadFiles stores what arrives as it arrives, and the records of all files
// together when the last one is durable; until then nobody sees any of them.
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
			out.Data = append(out.Data, fileOf(&f))
		}
		return nil
	})
}

// received is a file whose bytes are stored and whose record is not yet.
type received struct {
	file   store.File
	upload *store.Upload
}

// receive stores the bytes of a file, held to the limits of what it turns out to be.
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
		return errs.Field(errs.TooLarge, "file", "has more than %d MiB, the limit for the kind %s", limit>>20, kind)
	}
	return nil
}

// publish gives a file a public address, or takes it away.
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

func mediaURL(key string) string { return "/media/" + key }

type fileIn struct {
	GroupID *store.ID   `json:"group_id" doc:"0 for none"`
	Public  *store.Flag `json:"public" doc:"1 gives it an address for everybody, a new one each time"`
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
		return nil, errs.Field(errs.Invalid, "name", "must have at most %d bytes", maxName)
	}
	f, err := store.Files.Update(tx, in.ID, func(f *store.File) error {
		if err := in.apply(f); err != nil {
			return err
		}
		set(&f.Name, in.Name)
		f.Ext = ext(f.Name)
		return req.fresh(f)
	})
	if err != nil {
		return nil, err
	}
	return fileOf(f), nil
}

type filesChange struct {
	byIDs
	fileIn
}

func changeFiles(tx *store.Tx, _ *Request, in *filesChange) (*files, error) {
	out := &files{Data: []*file{}}
	return out, each(tx, in.IDs, func(id store.ID) error {
		if _, err := seenFile(tx, id, false); err != nil {
			return err
		}
		f, err := store.Files.Update(tx, id, func(f *store.File) error {
			return in.apply(f)
		})
		if err == nil {
			out.Data = append(out.Data, fileOf(f))
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

// etag is an entity tag in quotes.
func etag(text string) string { return strconv.Quote(text) }
