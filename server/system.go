package server

import (
	"errors"
	"net/http"
	"strconv"
	"time"

	"reeve/store"
	"reeve/store/errs"
)

var systemRoutes = []Route{
	raw("/openapi.json", public, "Get the OpenAPI document", "application/json", openAPI),
	raw("/system/backup", "system.backup", "Download a backup", "application/octet-stream", backup),
}

func openAPI(req *Request, _ *none, _ http.ResponseWriter) error {
	var title string
	err := req.db.View(store.Nobody, func(tx *store.Tx) error {
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

// backup sends an archive of everything: without secret.key, or encrypted to the
// recipients of the configuration, so that those who take backups do not choose who can
// read them. The records are copied and verified before the first byte is sent, and the
// bytes of files are kept from being deleted, so that a slow client holds no transaction
// open and the disk holds no second copy of them.
func backup(req *Request, _ *none, w http.ResponseWriter) (err error) {
	if err := req.hold(req.s.limits.backups, 1, share{userKey(req.Actor), maxBackupsPerUser}); err != nil {
		return errs.Of(err).After(backupRetry)
	}
	recipients := req.s.config.BackupRecipients
	b, err := req.s.db.Backup(len(recipients) > 0)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, b.Close()) }()
	size, name := b.Size(), "reeve-"+time.Now().UTC().Format("20060102-150405")+".tar"
	if len(recipients) > 0 {
		name += ".age"
		if size, err = b.EncryptedSize(recipients); err != nil {
			return err
		}
	}
	h := w.Header()
	h.Set("Content-Type", "application/octet-stream")
	h.Set("Content-Length", strconv.FormatInt(size, 10))
	h.Set("Content-Disposition", `attachment; filename="`+name+`"`)
	h.Set("Cache-Control", "no-store")
	h.Set("X-Request-Id", req.ID)
	w.WriteHeader(http.StatusOK)
	out := newLongAnswer(req, w)
	if len(recipients) > 0 {
		err = b.Encrypt(out, recipients)
	} else {
		_, err = b.WriteTo(out)
	}
	if tooSlow(err) {
		req.s.limits.rate.count()
	}
	if err == nil { // the client has all of it, whatever happens to the note
		if fault := req.s.db.NoteBackup(); fault != nil {
			req.s.log.Warn().Err(fault).Msg("a backup was taken, and when is not kept")
		}
	}
	return err
}

// backupRetry is when a client may ask again for a backup that it did not get.
const backupRetry = 10 * time.Second

// askEvery is how many bytes of a long answer are sent before it is asked again
// whether the caller may have them.
const askEvery = 1 << 20

// longAnswer is an answer that may take hours, as long as its reader keeps up the
// rate. A caller who no longer may have it gets no more.
type longAnswer struct {
	req  *Request
	w    http.ResponseWriter
	pace *pace
	sent int
}

func newLongAnswer(req *Request, w http.ResponseWriter) *longAnswer {
	control := http.NewResponseController(w)
	return &longAnswer{req: req, w: w, pace: newPace(req.s.grace, func(deadline time.Time) {
		control.SetWriteDeadline(deadline) // fails only where there is no connection, in a test
	})}
}

func (a *longAnswer) Write(p []byte) (int, error) {
	if a.sent >= askEvery {
		a.sent = 0
		if err := a.req.admitAgain(); err != nil {
			return 0, err
		}
	}
	n, err := a.w.Write(p)
	a.sent += n
	a.pace.passed(n)
	return n, err
}
