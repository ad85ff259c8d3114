package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"time"

	"filippo.io/age"

	"reeve/server/local"
	"reeve/store"
	"reeve/store/errs"
	"reeve/store/kv"
)

// verifyCopy reads a consistent copy of all data as a backup does, which verifies each record and
// the bytes of each file.
func (p *program) verifyCopy(ctx context.Context, db *store.DB) (done map[string]int64, err error) {
	p.verified.Store(0)
	b, err := db.Backup(ctx, false)
	if errors.As(err, new(*kv.Faulty)) {
		err = fmt.Errorf("%w; stop the server and verify again for all of them; "+wayOut, err)
	}
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, b.Close()) }()
	n, err := b.WriteTo(&counted{io.Discard, 0, p.verified.Store})
	return map[string]int64{"bytes": n}, err
}

// verified is the result of verify for programs.
type verified struct {
	Records int      `json:"records"`
	Files   int      `json:"files"`
	Notes   []string `json:"notes"`
	Faults  []string `json:"faults"`
	More    int      `json:"more_faults"`
}

// verify verifies the data: that of a running server in a copy.
func (p *program) verify() (err error) {
	pid, err := kv.Holder(p.config.DataDir)
	if err != nil {
		return err
	}
	if pid != 0 {
		c, err := p.connect()
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, c.close()) }()
		var done struct{ Bytes int64 }
		err = p.progress.beside(func() error { return c.call("POST", "/local/verify", nil, nil, &done) }, func() {
			var s status
			c.get("/local/status", nil, &s) // an error shows in the other request, too
			if s.Verified == 0 {
				p.progress.step("verify", 0, 0)
			} else {
				p.progress.step("MiB verified", 1+s.Verified>>20, 0)
			}
		})
		if fault := (*apiError)(nil); errors.As(err, &fault) && fault.Code == damageCode {
			return exit{err, foundCode}
		}
		if err != nil {
			return err
		}
		return p.show(map[string]any{"bytes": done.Bytes, "faults": []string{}},
			"%.1f MiB of records, change log and files read, no faults", float64(done.Bytes)/(1<<20))
	}

	if err := p.needsDatabase(); err != nil {
		return err
	}
	report, err := store.VerifyDir(p.config.DataDir, p.storeOptions())
	if err != nil {
		return err
	}
	if p.json {
		if err := p.printJSON(verified{report.Records, report.Blobs, append([]string{}, report.Notes...),
			append([]string{}, report.Faults...), report.More}); err != nil {
			return err
		}
	} else {
		for _, line := range slices.Concat(report.Notes, report.Faults) {
			fmt.Fprintln(p.out, line)
		}
	}
	if n := len(report.Faults) + report.More; n > 0 {
		return exit{fmt.Errorf("the database in %s has %s (%s read); "+wayOut,
			p.config.DataDir, errs.Count(n, "fault"), errs.Count(report.Records, "record")), foundCode}
	}
	if p.json {
		return nil // printed above
	}
	_, err = fmt.Fprintf(p.out, "%s, %s, no faults\n", errs.Count(report.Records, "record"),
		errs.Count(report.Blobs, "file"))
	return err
}

// restore replaces the data of a server that is the only one.
func (p *program) restore() error {
	if err := p.noCluster(); err != nil {
		return err
	}
	return p.restoreData()
}

// giveToOwner gives what root has written to the data directory to the user who owns it.
func (p *program) giveToOwner() error {
	err := local.GiveToOwner(p.config.DataDir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// restoreData runs as root to the end, since root alone may be able to read the backup and the identity. The
// files belong to the owner of the directory afterwards, also after an error.
func (p *program) restoreData() (err error) {
	identities, err := p.identities()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, p.giveToOwner()) }()

	target, err := p.openTarget(p.args[0])
	if err != nil {
		return err
	}
	var done kv.Restored
	err = interruptible(func(ctx context.Context) (err error) {
		if target != nil {
			done, err = p.restoreCopy(ctx, target, p.config.DataDir, identities, false)
		} else {
			done, err = store.Restore(p.config.DataDir, p.args[0], identities, p.restoreOptions(ctx))
		}
		return err
	})
	if err != nil {
		return err
	}
	if p.json {
		return p.printJSON(map[string]any{
			"data": p.config.DataDir, "kept": done.Kept, "secrets_to_enter": nonNil(done.Unopened), "stay_withdrawn": nonNil(done.Withdrawn),
			"withdrawn_known": done.RightsUnread == nil, "missing_files": done.Missing, "missing_names": nonNil(done.Lost), "other_secret_key": done.WrongKey,
		})
	}
	if done.Kept != "" {
		fmt.Fprintln(p.out, "the previous data is kept in", done.Kept)
	}
	if done.WrongKey {
		fmt.Fprintln(p.out,
			"the secret.key of the backup is not the key of its data.db and was left out")
	}
	if len(done.Unopened) > 0 {
		fmt.Fprintln(p.out,
			"these secret values must be entered again, because their key is missing:")
		for _, title := range done.Unopened {
			fmt.Fprintln(p.out, " ", title)
		}
	}

	if len(done.Withdrawn) > 0 {
		fmt.Fprintln(p.out, "these rights were withdrawn since and stay so; --return-rights brings them back:")
		for _, title := range done.Withdrawn {
			fmt.Fprintln(p.out, " ", title)
		}
	}
	if done.RightsUnread != nil {
		fmt.Fprintln(p.out, "rights that were withdrawn since may be back: the previous data can't be compared:", errs.ForOperator(done.RightsUnread))
	}
	if done.Missing > 0 {
		fmt.Fprintf(p.out, "the contents of %s are missing: they could not be read, and the records name them: %s\n",
			errs.Count(done.Missing, "file"), lost(&done))
	}
	_, err = fmt.Fprintln(p.out, "restored; all users must sign in again")
	return err
}

// nonNil returns a list that JSON has as one, even if it is empty.
func nonNil(list []string) []string { return append([]string{}, list...) }

// identities reads the file of --identity. Without the flag it returns none.
func (p *program) identities() ([]age.Identity, error) {
	if p.identity == "" {
		return nil, nil
	}
	f, err := os.Open(p.identity)
	if err != nil {
		return nil, err
	}
	defer f.Close() // opened for reading only, so Close loses nothing
	all, err := age.ParseIdentities(io.LimitReader(f, 1<<20))
	if err != nil { // its text may quote the file, which is secret
		return nil, fmt.Errorf("%s must hold age identities, one AGE-SECRET-KEY-… per line",
			p.identity)
	}
	return all, nil
}

func (p *program) rotateKey() error {
	if err := cmp.Or(p.needsDatabase(), local.Become(p.config.DataDir)); err != nil {
		return err
	}
	n, err := store.RotateKey(p.config.DataDir, p.storeOptions())
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(p.out, "secret.key has a new key; sealed with it: %s\n",
		errs.Count(n, "secret value"))
	return err
}

// newIdentity prints an identity in the format of age-keygen, from the age project.
func (p *program) newIdentity() error {
	identity, err := age.GenerateX25519Identity()
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(p.out,
		"# Keep this file away from the server; only it decrypts the backups.\n# backup.recipients = [%q]\n%s\n", identity.Recipient(), identity)
	return err
}

func (p *program) salvage() error {
	if err := p.needsDatabase(); err != nil {
		return err
	}
	done, err := store.Salvage(p.config.DataDir, p.args[0], p.storeOptions())
	if done == nil {
		return err
	}

	for _, list := range []struct {
		head  string
		lines []string
	}{{"lost", done.Lost},
		{"found outside of the tree, perhaps an older version or deleted", done.Outside},
		{"changed", done.Changed}} {
		for _, line := range list.lines {
			fmt.Fprintf(p.out, "%s: %s\n", list.head, line)
		}
	}
	if err != nil {
		return err
	}

	_, err = fmt.Fprintf(p.out,
		"copied to %[3]s: %[1]s and %[2]s; lost: %[4]d; found outside of the tree: %[5]d; start it with `reeve --data %[3]s`; all users must sign in again\n",
		errs.Count(done.Records, "record"), errs.Count(done.Blobs, "file"), p.args[0], len(done.Lost), len(done.Outside))
	return err
}

// compact compacts the files of a running server, or those of a stopped one.
func (p *program) compact() (err error) {
	pid, err := kv.Holder(p.config.DataDir)
	if err != nil {
		return err
	}
	if pid != 0 {
		c, err := p.connect()
		if err != nil {
			return err
		}
		if c.running {
			defer func() { err = errors.Join(err, c.close()) }()
			return p.compactLive(c)
		}
		if err := c.close(); err != nil { // the server has ended since
			return err
		}
	}

	if err := cmp.Or(p.needsDatabase(), local.Become(p.config.DataDir)); err != nil {
		return err
	}
	done, err := store.Compact(p.config.DataDir, p.storeOptions())
	files := []compactedFile{}
	for _, c := range done {
		files = append(files, compactedFile{c.Name, c.Before, c.After})
	}
	return errors.Join(err, p.showCompacted(files))
}

// compactedFile is a database file that was rewritten.
type compactedFile struct {
	Name   string `json:"name"`
	Before int64  `json:"before_bytes"`
	After  int64  `json:"after_bytes"`
}

func (p *program) showCompacted(files []compactedFile) error {
	if p.json {
		return p.printJSON(files)
	}
	for _, f := range files {
		fmt.Fprintf(p.out, "%s: %.1f MiB before, %.1f MiB after\n", f.Name,
			float64(f.Before)/(1<<20), float64(f.After)/(1<<20))
	}
	return nil
}

// compactLive lets the running server compact its files, and waits.
func (p *program) compactLive(c *client) error {
	if err := c.call("POST", "/system/compact", nil, nil, nil); err != nil {
		return err
	}
	for {
		var now struct {
			State string          `json:"state"`
			Done  int64           `json:"done_bytes"`
			Total int64           `json:"total_bytes"`
			Files []compactedFile `json:"files"`
			Error string          `json:"error"`
		}
		if err := c.get("/system/compact", nil, &now); err != nil {
			return err
		}
		p.progress.step("compact", now.Done, now.Total)
		if now.State == "running" {
			time.Sleep(askEvery)
			continue
		}

		p.progress.end()
		err := p.showCompacted(now.Files)
		if now.State == "failed" {
			err = errors.New(now.Error)
		}
		return err
	}
}
