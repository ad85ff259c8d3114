package server

import "reeve/store"

var fileTrashRoutes = []Route{
	diskList("/file/trash", "file.trash.query", "List the files in the trash", &fileTrash),
	sentBack[trashedFile](onRecord(store.Files, write("PUT", "/file/trash/:id", "file.trash.restore", "Restore a file from the trash", restoreFile))),
	onRecord(store.Files, write("DELETE", "/file/trash/:id", "file.trash.delete", "Delete a file permanently", removeFile)),
	deleteSeveral("/file/trash", "file.trash.delete", "Delete files permanently", removeFile),
}

// trashedFile is a file in the trash.
type trashedFile struct {
	file
	TrashedAt store.Time `json:"trashed_at"`
}

var fileTrash = Resource[store.File, *trashedFile]{
	of: store.Files, keywords: []string{"name"}, order: "trashed_at, descending", scope: ofUploaders, telling: true,
	first: store.FileByTrashed.Order(), descending: true,
	only: func() store.Condition { return store.FileByState.AnyOf(store.FileTrashed) },
	out: func(_ *store.Tx, req *Request, f *store.File) (*trashedFile, error) {
		return &trashedFile{*req.fileOf(f), f.TrashedAt}, nil
	},
	columns: append([]diskColumn[store.File]{
		{name: "trashed_at", uses: sorted, order: store.FileByTrashed.Order()},
	}, fileColumns...),
}

func restoreFile(tx *store.Tx, req *Request, in *byID) (*file, error) {
	if _, err := seenFile(tx, in.ID, true); err != nil {
		return nil, err
	}
	f, err := store.RestoreFile(tx, in.ID)
	if err != nil {
		return nil, err
	}
	return req.fileOf(f), nil
}

func removeFile(tx *store.Tx, _ *Request, in *byID) (nothing, error) {
	if _, err := seenFile(tx, in.ID, true); err != nil {
		return nothing{}, err
	}
	return nothing{}, store.Files.Delete(tx, in.ID)
}
