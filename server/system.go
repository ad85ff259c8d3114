package server

import (
	"errors"
	"io"
	"net/http"
	"os"
	"strconv"
	"time"

	"reeve/store"
	"reeve/store/errs"
)

var systemRoutes = []Route{
	free("GET", "/health", public, "Tell whether the server is up", health),
	raw("/openapi.json", public, "Read this description", "application/json", openAPI),
	raw("/system/backup", "system.backup", "Download a backup", "application/octet-stream", backup),
}

type healthOut struct {
	Status string `json:"status" doc:"ok; anything else is an error answer"`
}

func health(req *Request, _ *none) (*healthOut, error) {
	if err := req.s.db.Healthy(); err != nil {
		return nil, err
	}
	return &healthOut{"ok"}, nil
}

func openAPI(req *Request, _ *none, _ http.ResponseWriter) error {
	var title string
	err := req.s.db.View(store.Nobody, func(tx *store.Tx) error {
		title = store.SiteTitle.Get(tx)
		return nil
	})
	if err != nil {
		return err
	}
	body, err := req.s.openapi.titled(title)
	if err != nil {
		return err
	}
	req.writeJSON(http.StatusOK, body)
	return nil
}

// backup sends a copy of the data that was finished and verified before the
// first byte leaves, so a slow client holds no transaction open.
func backup(req *Request, _ *none, w http.ResponseWriter) (err error) {
	if !req.s.backup.TryLock() {
		return errs.New(errs.Busy, "another backup is being taken").After(10 * time.Second)
	}
	defer req.s.backup.Unlock()
	path, err := req.s.db.Backup()
	if err != nil {
		return err
	}
	f, err := os.Open(path)
	// Once open it needs no name, and no crash from here on leaves it behind.
	if err = errors.Join(err, os.Remove(path)); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	info, err := f.Stat()
	if err != nil {
		return err
	}
	if err := http.NewResponseController(w).SetWriteDeadline(time.Time{}); err != nil && !errors.Is(err, http.ErrNotSupported) {
		return err
	}
	h := w.Header()
	h.Set("Content-Type", "application/octet-stream")
	h.Set("Content-Length", strconv.FormatInt(info.Size(), 10))
	h.Set("Content-Disposition", `attachment; filename="reeve-`+time.Now().UTC().Format("20060102-150405")+`.db"`)
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Cache-Control", "no-store")
	h.Set("X-Request-Id", req.ID)
	w.WriteHeader(http.StatusOK)
	_, err = io.Copy(w, f)
	return err
}
