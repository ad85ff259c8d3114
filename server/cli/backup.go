package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"mime"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"filippo.io/age"

	"reeve/server/backup"
	"reeve/store"
	"reeve/store/disk"
	"reeve/store/errs"
	"reeve/store/kv"
)

const (
	backupDir   = "backup" // directory for backups in the data directory
	localTarget = backup.LocalName
	proofSuffix = backup.ProofSuffix
)

// streamOptions returns the options of the commit stream; nil for off. An error of the configuration
// is reported by the start.
func (p *program) streamOptions() *kv.StreamOptions {
	set, err := p.config.Backups()
	if err != nil {
		return nil
	}
	options, err := backup.Stream(p.config.DataDir, set)
	if err != nil {
		p.log.Warn().Err(err).Msg("the commit stream is off")
	}
	return options
}

// backupNow writes a backup: to the file or the directory in the argument, or else to backupDir.
func (p *program) backupNow(c *client) error {
	if len(p.args) > 0 && (p.args[0] == localTarget || slices.Contains(p.config.Targets(), p.args[0])) {
		return p.copyNow(c, p.args[0])
	}
	dir, name := filepath.Join(p.config.DataDir, backupDir), ""
	if len(p.args) > 0 {
		info, err := os.Stat(p.args[0])
		if dir = p.args[0]; err != nil || !info.IsDir() {
			dir, name = filepath.Split(p.args[0])
		}
	}
	to, err := p.openBackups(dir)
	if err != nil {
		return err
	}
	defer to.Close() // a directory, so Close loses nothing

	resp, err := c.do("GET", "/system/backup", nil, nil)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if name == "" {
		_, params, err := mime.ParseMediaType(resp.Header.Get("Content-Disposition"))
		if name = params["filename"]; err != nil || name != filepath.Base(name) {
			return errors.New("the server gave the backup no name")
		}
	}

	path := filepath.Join(dir, name)
	size, err := writeNew(to, name, resp.Body, func(n int64) { p.progress.step("backup", n, resp.ContentLength) })
	if err != nil {
		return fmt.Errorf("the backup was not written: %w", err)
	}
	if len(p.args) == 0 { // the server stores its own copies there, too
		if err := p.giveToOwner(); err != nil {
			return err
		}
	}
	return p.show(map[string]any{"file": path, "size": size}, "%s, %.1f MiB", path, float64(size)/(1<<20))
}

// openBackups opens a directory for backups, and makes the one in the data directory. The owner of that may be
// another user than the one of the process, such as root: no link in it leads out of it.
func (p *program) openBackups(dir string) (*os.Root, error) {
	if len(p.args) > 0 {
		return os.OpenRoot(cmp.Or(dir, "."))
	}
	data, err := os.OpenRoot(p.config.DataDir)
	if err != nil {
		return nil, err
	}
	defer data.Close() // a directory, so Close loses nothing
	if err := data.MkdirAll(backupDir, 0o700); err != nil {
		return nil, err
	}
	return data.OpenRoot(backupDir)
}

// writeNew writes a file that does not exist to a directory, durably, so that it has all of the content or is not
// there. Only the user of the process can read it.
func writeNew(dir *os.Root, name string, from io.Reader, at func(n int64)) (size int64, err error) {
	if _, err := dir.Lstat(name); err == nil {
		return 0, fmt.Errorf("%s exists", filepath.Join(dir.Name(), name))
	}
	part := name + disk.NewSuffix
	if err := dir.Remove(part); err != nil && !errors.Is(err, fs.ErrNotExist) { // of a run that was killed
		return 0, err
	}
	f, err := dir.OpenFile(part, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return 0, err
	}

	size, err = io.Copy(&counted{Writer: f, at: at}, from)
	if err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err == nil {
		err = dir.Rename(part, name)
	}
	if err != nil {
		return size, errors.Join(err, dir.Remove(part))
	}
	return size, disk.SyncDir(dir.Name())
}

// lost names some of the files whose content is missing after a restore.
func lost(done *kv.Restored) string {
	text := strings.Join(done.Lost, ", ")
	if more := done.Missing - len(done.Lost); more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}

// checkBackupFile restores a backup to a temporary directory beside it, migrates and verifies it as
// a restore and a start would, and removes the directory.
func (p *program) checkBackupFile() error { return interruptible(p.checkBackupUntil) }

func (p *program) checkBackupUntil(ctx context.Context) (err error) {
	identities, err := p.identities()
	if err != nil {
		return err
	}
	if path, err := p.localCopy(); path != "" || err != nil {
		if err == nil {
			err = p.checkRecords(ctx, path, identities)
		}
		return err
	}
	target, err := p.openTarget(p.args[0])
	if err != nil {
		return err
	}
	beside := filepath.Dir(p.args[0])
	if target != nil {
		beside = p.text("temp")
	} else if _, err := os.Stat(p.args[0]); err != nil {
		return err
	}
	dir, err := os.MkdirTemp(beside, "reeve-check-*")
	if err != nil {
		return err
	}

	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	var done kv.Restored
	if target != nil {
		done, err = p.restoreCopy(ctx, target, dir, identities, true)
	} else {
		options := p.restoreOptions(ctx)
		options.Expected = &kv.Expected{}
		done, err = store.Restore(dir, p.args[0], identities, options)
	}
	if err == nil && done.Missing > 0 {
		err = fmt.Errorf("the contents of %s are missing or damaged: %s", errs.Count(done.Missing, "file"), lost(&done))
	}
	if err != nil {
		return exit{err, foundCode}
	}
	report, err := store.VerifyDir(dir, p.storeOptions())
	if err != nil {
		return exit{err, foundCode}
	}
	if n := len(report.Faults) + report.More; n > 0 {
		return exit{fmt.Errorf("the backup has %s, such as: %s", errs.Count(n, "fault"), report.Faults[0]), foundCode}
	}
	if err := p.answerOnce(dir); err != nil {
		return exit{err, foundCode}
	}

	return p.showChecked(report, &done)
}

// showChecked prints what a check has found.
func (p *program) showChecked(report *kv.Report, done *kv.Restored) error {
	out := map[string]any{"records": report.Records, "files": report.Blobs, "secrets_to_enter": done.Unopened}
	text := fmt.Sprintf("%s, %s, no faults", errs.Count(report.Records, "record"), errs.Count(report.Blobs, "file"))
	if n := len(done.Unopened); n > 0 {
		text += fmt.Sprintf("; %s must be entered again after a restore without secret.key", errs.Count(n, "secret value"))
	}
	return p.show(out, "%s", text)
}

// localCopy returns the path of the copy of the server in the data directory that the argument names, or for the name
// of their target the newest one, or that of --copy; "" if it names none.
func (p *program) localCopy() (path string, err error) {
	name, dir := p.args[0], filepath.Join(p.config.DataDir, backupDir)
	if name != localTarget {
		if backup.IsLocalFile(filepath.Base(name)) {
			path = name
		}
		return path, nil
	}
	if wanted := p.text("copy"); wanted != "" {
		return filepath.Join(dir, filepath.Base(wanted)), nil
	}
	all, err := filesIn(dir)
	if i := slices.IndexFunc(all, func(c listedCopy) bool { return backup.IsLocalFile(filepath.Base(c.File)) }); i >= 0 {
		return all[i].File, nil
	}
	if err == nil || errors.Is(err, fs.ErrNotExist) {
		err = fmt.Errorf("there is no copy in %s", dir)
	}
	return "", err
}

// checkRecords checks a copy of the server in its data directory, as the server does. It lacks the contents of files.
func (p *program) checkRecords(ctx context.Context, path string, identities []age.Identity) (err error) {
	if _, err := os.Stat(path); err != nil {
		return err
	}
	dir, err := os.MkdirTemp(filepath.Dir(path), "reeve-check-*")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	records, _, err := p.examine(ctx, path, filepath.Join(dir, "data"), identities, false)
	if err != nil {
		return exit{err, foundCode}
	}
	return p.show(map[string]any{"file": path, "records": records},
		"%s: %s, no faults; the contents of files are not in it, but in files.db", path, errs.Count(records, "record"))
}
