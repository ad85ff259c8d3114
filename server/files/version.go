package files

import (
	"cmp"
	"encoding/json"
	"slices"

	"reeve/server/web"
	"reeve/store"
	"reeve/store/blob"
	"reeve/store/errs"
)

func VersionRoutes() []web.Route {
	return []web.Route{
		web.CachedList("/file/list/:id/version", "file.list.query", "List the earlier versions of a file",
			&versions),
		web.Uploads("/file/list/:id/version", "file.list.update", "Upload a new version of a file",
			uploadVersion, web.Options{
				Note: "Replaces the content. The one before is kept as an earlier version; the setting " +
					"file.versions says how many are. Name, folder, uploader and public URL stay. A " +
					"content that the file already has changes nothing.",
			}),
		web.Write("PUT", "/file/list/:id/version/:version_id", "file.list.update",
			"Restore an earlier version of a file", restoreVersion, web.Options{
				Record: web.RecordAt(store.Files, "id"),
				Note:   "The current content becomes an earlier version.",
			}),
		web.Write("DELETE", "/file/list/:id/version/:version_id", "file.trash.delete",
			"Delete an earlier version of a file", deleteVersion, web.Options{
				Note: "It can't be restored afterwards.",
			}),
		web.Write("DELETE", "/file/list/:id/version", "file.trash.delete",
			"Delete earlier versions of a file", deleteVersions, web.Options{
				Note: "They can't be restored afterwards.",
			}),
	}
}

// Version is an earlier version of a file in responses.
type Version struct {
	store.Ident
	Kind       string      `json:"kind" enum:"file_kind"`
	MIME       string      `json:"mime" doc:"Media type, detected from the content"`
	Size       int64       `json:"size" doc:"Size in bytes"`
	SHA256     blob.Digest `json:"sha256"`
	AuthorID   store.ID    `json:"author_id" doc:"ID of the user who uploaded it"`
	AuthorName string      `json:"author_name" doc:"Username of that user; empty if the user was deleted"`
	StoredAt   store.Time  `json:"stored_at" doc:"Time at which it was uploaded"`
	ReplacedAt store.Time  `json:"replaced_at" doc:"Time at which another content replaced it"`
}

var versions = web.MemoryList[Version]{
	Under: func(tx *store.Tx, id store.ID) (out []store.Row[Version], err error) {
		f, err := seenFile(tx, id, false)
		if err != nil {
			return nil, err
		}
		for _, id := range slices.Backward(store.FileVersionByFile.AnyOf(id).IDs(tx)) {
			row := store.Row[Version]{ID: id}
			v, err := store.FileVersions.Get(tx, id)
			if err == nil {
				row, err = rowOf(tx, f, v)
			}
			if err != nil && !store.IsDamage(err) {
				return nil, err
			}
			out = append(out, row)
		}
		return out, nil
	},
	Order: "replaced_at, descending",
}

// rowOf returns the row of a version of a file in the list.
func rowOf(tx *store.Tx, f *store.File, v *store.FileVersion) (store.Row[Version], error) {
	out := &Version{
		Ident:      v.Ident,
		Kind:       v.Kind,
		MIME:       v.MIME,
		Size:       v.Size,
		SHA256:     v.Digest,
		AuthorID:   cmp.Or(v.AuthorID, f.UploaderID),
		StoredAt:   cmp.Or(v.StoredAt, f.CreatedAt),
		ReplacedAt: v.CreatedAt,
	}
	if u, err := store.Users.Get(tx, out.AuthorID); err == nil {
		out.AuthorName = u.Username
	}
	text, err := json.Marshal(out)
	return store.Row[Version]{ID: v.ID, Value: out, JSON: text}, err
}

// uploadVersion stores a content while it arrives, and makes it the file's once it is durable.
func uploadVersion(req *web.Request, in *web.ByID, form *web.Form) (*File, error) {
	r, err := receiveOne(req, form)
	if err != nil {
		return nil, err
	}
	defer r.upload.Release()
	if err := r.upload.Send(req.HTTP.Context(), req.Working()); err != nil {
		return nil, err
	}

	var out *File
	return out, req.DB.Update(req.Actor, func(tx *store.Tx) error {
		if _, err := seenFile(tx, in.ID, false); err != nil {
			return err
		}
		content := r.file.FileContent
		content.AuthorID, content.StoredAt = req.Actor.ID, tx.Now()
		f, err := store.ReplaceContent(tx, in.ID, content, mayStayPublic)
		if err != nil {
			return err
		}
		out = fileOf(req, f)
		return nil
	})
}

// receiveOne stores the content of the only file of a form.
func receiveOne(req *web.Request, form *web.Form) (*received, error) {
	name, content, err := form.Next()
	if err != nil {
		return nil, err
	}
	r, err := receive(req, name, content)
	if err != nil {
		return nil, err
	}
	_, content, err = form.Next()
	if err == nil && content != nil {
		err = errs.Field(errs.Malformed, "file", "is given twice")
	}
	if err != nil {
		r.upload.Release()
		return nil, err
	}
	return r, nil
}

// mayStayPublic returns an error if a file is public and its content may not be.
func mayStayPublic(f *store.File) error {
	if f.Public() {
		return publishable(f)
	}
	return nil
}

type byVersion struct {
	web.ByID
	VersionID store.ID `path:"version_id"`
}

// seenVersion returns a version of a file that the caller may see.
func seenVersion(tx *store.Tx, file, id store.ID) (*store.FileVersion, error) {
	v, err := store.VersionOf(tx, file, id)
	if err == nil {
		_, err = seenFile(tx, file, false)
	}
	return v, err
}

func restoreVersion(tx *store.Tx, req *web.Request, in *byVersion) (*File, error) {
	v, err := seenVersion(tx, in.ID, in.VersionID)
	if err != nil {
		return nil, err
	}
	f, err := store.UseVersion(tx, v, mayStayPublic)
	if err != nil {
		return nil, err
	}
	return fileOf(req, f), nil
}

func deleteVersion(tx *store.Tx, _ *web.Request, in *byVersion) (web.Nothing, error) {
	if _, err := seenVersion(tx, in.ID, in.VersionID); err != nil {
		return web.Nothing{}, err
	}
	return web.Nothing{}, store.FileVersions.Delete(tx, in.VersionID)
}

type byVersions struct {
	web.ByID
	web.ByIDs
}

func deleteVersions(tx *store.Tx, req *web.Request, in *byVersions) (web.Nothing, error) {
	return web.Nothing{}, web.Each(tx, in.IDs, func(id store.ID) error {
		_, err := deleteVersion(tx, req, &byVersion{in.ByID, id})
		return err
	})
}
