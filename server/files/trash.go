package files

import (
	"context"
	"reflect"
	"time"

	"reeve/server/web"
	"reeve/store"
	"reeve/store/kv"
)

func TrashRoutes() []web.Route {
	return []web.Route{
		web.List("/file/trash", "file.trash.query", "List the files in the trash", &fileTrash),
		web.Write("PUT", "/file/trash/:id", "file.trash.restore", "Restore a file from the trash",
			restoreFile, web.Options{
				SentBack: reflect.TypeFor[trashedFile](),
				Record:   web.RecordOf(store.Files),
			}),
		web.Write("DELETE", "/file/trash/:id", "file.trash.delete", "Delete a file permanently",
			removeFile, web.Options{
				Record: web.RecordOf(store.Files),
				Note:   "The file must be in the trash, and can't be restored afterwards.",
			}),
		web.DeleteSeveral("/file/trash", "file.trash.delete", "Delete files permanently",
			removeFile, web.Options{
				Note: "The files must be in the trash, and can't be restored afterwards.",
			}),
	}
}

// trashedFile is a file in the trash.
type trashedFile struct {
	File
	TrashedAt store.Time `json:"trashed_at"`
}

var fileTrash = web.Resource[store.File, *trashedFile]{
	Collection: store.Files,
	Keywords:   []string{"name"},
	Order:      "trashed_at, descending",
	Scope:      ofUploaders,
	Telling:    true,
	First:      store.FileByTrashed.Order(),
	Descending: true,
	Only:       func() kv.Condition { return store.FileByState.AnyOf(store.FileTrashed) },
	Output: func(_ *store.Tx, req *web.Request, f *store.File) (*trashedFile, error) {
		return &trashedFile{*fileOf(req, f), f.TrashedAt}, nil
	},
	Columns: append([]web.Column[store.File]{
		{Name: "trashed_at", Uses: web.Sorted, Order: store.FileByTrashed.Order()},
	}, fileColumns...),
}

func restoreFile(tx *store.Tx, req *web.Request, in *web.ByID) (*File, error) {
	if _, err := seenFile(tx, in.ID, true); err != nil {
		return nil, err
	}
	f, err := store.RestoreFile(tx, in.ID)
	if err != nil {
		return nil, err
	}
	return fileOf(req, f), nil
}

func removeFile(tx *store.Tx, _ *web.Request, in *web.ByID) (web.Nothing, error) {
	if _, err := seenFile(tx, in.ID, true); err != nil {
		return web.Nothing{}, err
	}
	return web.Nothing{}, store.Files.Delete(tx, in.ID)
}

// emptyEvery is the interval of checks for files to remove from the trash.
const emptyEvery = time.Hour

// KeepFiles logs the warnings from opening the files database, and empties the trash
// periodically.
func KeepFiles(s *web.Server, ctx context.Context) {
	warnings, err := s.DB.FilesOpened()
	for _, warning := range warnings {
		s.Log.Warn().Msg(warning)
	}
	if err != nil {
		s.Log.Error().Err(err).Msg("the files database is unavailable")
		return
	}

	tick := time.NewTicker(emptyEvery)
	defer tick.Stop()
	for {
		if s.OnDuty() {
			if _, err := store.EmptyTrash(s.DB); err != nil {
				s.Log.Error().Err(err).Msg("emptying the trash failed")
			}
		}
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}
