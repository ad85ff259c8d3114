package ops

import (
	"errors"
	"net/http"
	"strconv"
	"time"

	"reeve/server/limit"
	"reeve/server/web"
	"reeve/store"
	"reeve/store/errs"
)

func SystemRoutes() []web.Route {
	return []web.Route{
		web.Raw("/system/backup", "system.backup", "Download a backup", "application/octet-stream",
			backup, web.Options{
				LoggedAs:         "backup",
				RequiresScopeAll: true,
				Confirmed:        true,
				KeyAccess:        store.UnattendedBackup,
				Note: "A consistent archive of the database and all files, made while the server runs; " +
					"without the encryption key, unless the archive is encrypted itself.",
			}),
	}
}

// backup sends an archive of all data, either without secret.key or encrypted to the
// recipients in the configuration, so that the user who downloads a backup does not choose
// who can read it. The records are copied and verified before the first byte is sent,
// and the bytes of files are protected from deletion, so that a slow client neither
// holds a transaction open nor needs a second copy of the files on disk. Only without
// room for a copy does a transaction stay open, at most for the time that data.db takes
// at the minimum rate.
func backup(req *web.Request, _ *web.None, w http.ResponseWriter) (err error) {
	if err := req.HoldOne(req.Server.Limits.Backups, web.MaxBackupsPerUser); err != nil {
		return errs.Of(err).After(backupRetry)
	}

	recipients := req.Server.Now().BackupRecipients
	if req.Actor.Key != nil && len(recipients) == 0 {
		return errs.New(errs.Denied,
			"backups for API keys must be encrypted; name the recipients in backup.recipients").Coded("backup_recipients_required")
	}

	b, err := req.DB.Backup(req.HTTP.Context(), len(recipients) > 0)
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
	out := web.NewLongAnswer(req, w)
	if len(recipients) > 0 {
		err = b.Encrypt(out, recipients)
	} else {
		_, err = b.WriteTo(out)
	}
	if limit.TooSlow(err) {
		req.Server.Limits.Rate.Count()
	}
	if err == nil { // the client has the whole backup, even if recording its time fails
		if fault := req.DB.RecordBackup(); fault != nil {
			req.Server.Log.Warn().Err(fault).Msg("a backup was downloaded, but its time could not be recorded")
		}
	}

	return err
}

// backupRetry is when a client may retry a backup that was rejected.
const backupRetry = 10 * time.Second
