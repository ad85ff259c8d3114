package files

import (
	"archive/zip"
	"fmt"
	"io"
	"net/http"
	"path"
	"strings"
	"time"

	"reeve/server/web"
	"reeve/store"
)

type zipIn struct {
	IDs []store.ID `query:"ids" check:"required" doc:"IDs of the files, at most 200, as repeated keys or separated by commas"`
}

// zipFiles sends files as a ZIP archive. They are not compressed, since most media already are. Each is
// read when its turn comes, and none after the caller has lost the permission.
func zipFiles(req *web.Request, in *zipIn, w http.ResponseWriter) error {
	read := func(id store.ID) (f *store.File, err error) {
		err = req.DB.View(req.Actor, func(tx *store.Tx) error {
			f, err = seenFile(tx, id, false)
			return err
		})
		return f, err
	}
	for _, id := range in.IDs { // while an error can still be told
		if _, err := read(id); err != nil {
			return err
		}
	}

	h := w.Header()
	h.Set("Content-Type", web.ZipMedia)
	h.Set("Content-Disposition", web.Disposition(false, "files.zip"))
	h["Content-Security-Policy"] = web.FileSafe
	h.Set("Cache-Control", "no-store")
	h.Set("X-Request-Id", req.ID)
	archive, taken := zip.NewWriter(web.NewLongAnswer(req, w)), map[string]bool{}
	for _, id := range in.IDs {
		f, err := read(id)
		if err != nil {
			return err
		}
		blob, err := req.DB.OpenBlob(f.Digest)
		if err != nil {
			return err
		}
		entry, err := archive.CreateHeader(&zip.FileHeader{
			Name:     entryName(f.Name, taken),
			Method:   zip.Store,
			Modified: time.UnixMicro(int64(f.CreatedAt)).UTC(),
		})
		if err == nil {
			_, err = io.Copy(entry, blob)
		}
		if err != nil {
			return err
		}
	}
	return archive.Close()
}

// entryName returns a name for a file in an archive: not a path, and not one of those taken, whatever their case.
func entryName(name string, taken map[string]bool) string {
	name = strings.NewReplacer("/", "_", `\`, "_", ":", "_").Replace(name)
	if strings.Trim(name, ".") == "" {
		name = "_" + name
	}
	unique, ext := name, path.Ext(name)
	for n := 2; taken[strings.ToLower(unique)]; n++ {
		unique = fmt.Sprintf("%s (%d)%s", strings.TrimSuffix(name, ext), n, ext)
	}
	taken[strings.ToLower(unique)] = true
	return unique
}
