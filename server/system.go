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
	withETag(raw("/openapi.json", anyRealm, "Get the OpenAPI document", "application/json", openAPI)),
	logged("backup", requiringAll(confirmed(keysNeed(store.UnattendedBackup, raw("/system/backup", "system.backup", "Download a backup", "application/octet-stream", backup))))),
}

func openAPI(req *Request, _ *none, _ http.ResponseWriter) error {
	var doc *sharedJSON
	err := req.db.View(store.Anonymous, func(tx *store.Tx) (err error) {
		doc, err = req.s.openapi.get(tx, req.Actor)
		return err
	})
	if err != nil {
		return err
	}
	req.writeShared(doc)
	return nil
}

// backup sends an archive of all data, either without secret.key or encrypted to the
// recipients in the configuration, so that the user who downloads a backup does not choose
// who can read it. The records are copied and verified before the first byte is sent,
// and the bytes of files are protected from deletion, so that a slow client neither
// holds a transaction open nor needs a second copy of the files on disk. Only without
// room for a copy does a transaction stay open, at most for the time that data.db takes
// at the minimum rate.
func backup(req *Request, _ *none, w http.ResponseWriter) (err error) {
	if err := req.hold(req.s.limits.backups, 1, share{userKey(req.Actor), maxBackupsPerUser}); err != nil {
		return errs.Of(err).After(backupRetry)
	}
	recipients := req.s.config.BackupRecipients
	if req.Actor.Key != nil && len(recipients) == 0 {
		return errs.New(errs.Denied, "backups for API keys must be encrypted; name the recipients in backup.recipients").Coded("backup_recipients_required")
	}
	b, err := req.db.Backup(req.http.Context(), len(recipients) > 0)
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
	if err == nil { // the client has the whole backup, even if recording its time fails
		if fault := req.db.RecordBackup(); fault != nil {
			req.s.log.Warn().Err(fault).Msg("a backup was downloaded, but its time could not be recorded")
		}
	}
	return err
}

// backupRetry is when a client may retry a backup that was rejected.
const backupRetry = 10 * time.Second

// askEvery is the number of bytes of a long response after which the request is
// authorized again.
const askEvery = 1 << 20

// longAnswer is a response that may take hours, as long as its reader keeps up the
// minimum rate. It stops if the caller loses the permission.
type longAnswer struct {
	req  *Request
	w    http.ResponseWriter
	pace *pace
	sent int
}

func newLongAnswer(req *Request, w http.ResponseWriter) *longAnswer {
	control := http.NewResponseController(w)
	return &longAnswer{req: req, w: w, pace: newPace(req.s.grace, func(deadline time.Time) {
		control.SetWriteDeadline(deadline) // fails only without a connection, in a test
	})}
}

func (a *longAnswer) Write(p []byte) (int, error) {
	if a.sent >= askEvery {
		a.sent = 0
		if err := a.req.s.db.View(store.Anonymous, a.req.proceed); err != nil {
			return 0, err
		}
	}
	n, err := a.w.Write(p)
	a.sent += n
	a.pace.passed(n)
	return n, err
}
