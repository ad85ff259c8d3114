package store

import (
	"archive/tar"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"reeve/store/disk"
	"reeve/store/errs"

	"filippo.io/age"
	"go.etcd.io/bbolt"
)

// Restore puts a backup in the place of what a data directory holds, which no
// server may hold. The backup is an archive, a directory that a restore has kept,
// or a data.db alone. It is migrated and verified first, and a damaged or newer one
// is refused before anything is touched. What was there is kept in a directory,
// which is named in the result. The next start signs everybody out: the backup may
// hold sessions that were ended after it was taken. identities decrypt an archive that
// is encrypted, see Encrypt.
func Restore(dir, backup string, identities []age.Identity, options Options) (done Restored, err error) {
	if err := makeDir(dir); err != nil {
		return done, err
	}
	lock, _, err := takeDir(dir)
	if err != nil {
		return done, err
	}
	defer func() { err = errors.Join(err, lock.Unlock()) }()
	in := &staging{dir: filepath.Join(dir, stagingName), options: options, identities: identities}
	err = in.stage(backup)
	if err == nil {
		err = in.ready(dir)
	}
	if err != nil {
		return done, errors.Join(fmt.Errorf("%s was not restored, nothing is changed: %w", backup, err), os.RemoveAll(in.dir))
	}
	done.Unopened, done.WrongKey = in.unopened, in.wrongKey
	done.Kept, err = finishRestore(dir)
	return done, err
}

// Restored is what a restore has done.
type Restored struct {
	Kept     string   // the directory with what was there before; "" if there was nothing
	WrongKey bool     // the secret.key of the backup is not the key of its data.db, and was left out
	Unopened []string // the secret values that must be entered again, since their key is not there
}

// staging is a backup on its way in: a directory that nobody looks at until it is
// complete.
type staging struct {
	dir        string
	options    Options
	identities []age.Identity
	names      []string // of the files that come in
	aside      []string // of those that go, if they are there
	instance   string
	refs       []blobRef
	wrongKey   bool
	keepKey    bool     // the secret.key that is there has the key of the backup
	unopened   []string // see Restored
}

func (in *staging) path(name string) string { return filepath.Join(in.dir, name) }

// stage puts all of a backup into the directory and verifies it.
func (in *staging) stage(backup string) error {
	if err := errors.Join(os.RemoveAll(in.dir), os.Mkdir(in.dir, 0o700)); err != nil {
		return err
	}
	info, err := os.Stat(backup)
	if err != nil {
		return err
	}
	if info.IsDir() {
		return in.stageDir(backup)
	}
	if err := mustBeFile(backup, info); err != nil {
		return err
	}
	f, err := os.Open(backup)
	if err != nil {
		return err
	}
	defer f.Close() // it was only read
	switch {
	case info.Size() == 0:
		return errors.New("it is empty")
	case isEncrypted(f):
		plain, size, err := decrypt(f, info.Size(), in.identities)
		if err != nil {
			return err
		}
		return in.stageArchive(plain, size)
	case isArchive(f):
		return in.stageArchive(f, info.Size())
	case !disk.IsDatabase(f):
		return fmt.Errorf("it is not a backup: neither an archive that reeve has made nor a database like %s", dataName)
	}
	from := map[string]string{dataName: backup}
	if err := in.addFiles(backup, from); err != nil {
		return err
	}
	return in.stageFiles(from)
}

// addFiles adds the data directory's own files.db to a copy of data.db that a
// migration has kept beside it: the copy's files are in it.
func (in *staging) addFiles(backup string, from map[string]string) error {
	dir := filepath.Dir(in.dir)
	if !strings.HasPrefix(filepath.Base(backup), keptHead) {
		return nil
	}
	there, err := os.Stat(dir)
	if err != nil {
		return err
	}
	if beside, err := os.Stat(filepath.Dir(backup)); err != nil || !os.SameFile(there, beside) {
		return err
	}
	path := filepath.Join(dir, blobsName)
	if there, err := disk.Exists(path); err != nil || !there {
		return err
	}
	from[blobsName] = path
	return nil
}

// mustBeFile refuses a device or a pipe, whose content may have no end.
func mustBeFile(path string, info fs.FileInfo) error {
	if !info.Mode().IsRegular() {
		return fmt.Errorf("%s is neither a file nor a directory", path)
	}
	return nil
}

// stageDir takes what there is of a data directory's files.
func (in *staging) stageDir(backup string) error {
	from := map[string]string{dataName: filepath.Join(backup, dataName)}
	for _, name := range []string{lockName, keyName, blobsName} {
		path := filepath.Join(backup, name)
		if there, err := disk.Exists(path); err != nil {
			return err
		} else if there {
			from[name] = path
		}
	}
	if _, used := from[lockName]; used { // it is a whole data directory, and somebody may be at it
		lock, err := lockDir(backup)
		if err != nil {
			return err
		}
		defer lock.Unlock() // which nothing depends on any more
		delete(from, lockName)
	}
	return in.stageFiles(from)
}

// stageFiles takes a data.db, which alone is what a backup was before there were
// files, and those beside it. A files.db that is there goes aside in any case: its
// bytes belong to records that go, and the next start would delete them. The key
// stays unless another one comes, as it may be the one that secrets need.
func (in *staging) stageFiles(from map[string]string) error {
	in.names = append(slices.Sorted(maps.Keys(from)), markName)
	need := int64(0)
	for _, path := range from {
		info, err := os.Stat(path)
		if err == nil {
			err = mustBeFile(path, info)
		}
		if err != nil {
			return err
		}
		need += info.Size()
	}
	if err := disk.NeedSpace(in.dir, need); err != nil {
		return err
	}
	for name, path := range from {
		if err := copyFile(path, in.path(name)); err != nil {
			return err
		}
	}
	if err := in.accept(); err != nil {
		return err
	}
	in.aside = slices.Compact(slices.Sorted(slices.Values(append([]string{blobsName}, in.names...))))
	if err := in.settleKey(); err != nil {
		return err
	}
	if from[blobsName] != "" || len(in.refs) == 0 {
		return in.checkBlobs()
	}
	return fmt.Errorf("its records have %s, and there is no %s beside them; restore an archive, or a directory that has both",
		errs.Count(len(in.refs), "file"), blobsName)
}

// stageArchive takes an archive of this many bytes.
func (in *staging) stageArchive(f io.Reader, length int64) error {
	r := tar.NewReader(f)
	m, err := readManifest(r, length)
	if err != nil {
		return err
	}
	if err := disk.NeedSpace(in.dir, length); err != nil {
		return err
	}
	for i, e := range m.Entries[:m.files()] {
		if err := m.next(r, i); err != nil {
			return err
		}
		if err := writeExact(in.path(e.Name), e, r); err != nil {
			return err
		}
		in.names = append(in.names, e.Name)
	}
	if err := in.accept(); err != nil {
		return err
	}
	if m.Instance != in.instance {
		return fmt.Errorf("its %s is of another installation than its %s", manifestName, dataName)
	}
	in.names = append(in.names, markName)
	if hasFiles(in.options.schemaOr()) {
		if err := in.stageBlobs(m, r); err != nil {
			return err
		}
		in.names = append(in.names, blobsName)
	}
	in.aside = slices.Clone(in.names)
	if err := in.settleKey(); err != nil {
		return err
	}
	return errors.Join(m.next(r, len(m.Entries)), in.checkBlobs())
}

// stageBlobs makes a file of blobs of the archive's. Until it is synced at the end
// no commit is: nobody looks at it before, and files are many and small.
func (in *staging) stageBlobs(m *manifest, r *tar.Reader) error {
	all := func(Digest) (bool, error) { return true, nil }
	b, _, err := newBlobs(in.path(blobsName), in.instance, all, unlimited)
	if err != nil {
		return err
	}
	b.bolt.NoSync = true
	b.done.Go(b.write)
	for i := m.files(); i < len(m.Entries) && err == nil; i++ {
		if err = m.next(r, i); err == nil {
			err = stageBlob(b, m.Entries[i], r)
		}
	}
	return errors.Join(err, b.bolt.Sync(), b.close())
}

// unlimited are the limits of a file that is filled from another.
func unlimited() (quota, floor int64) { return 0, 0 }

func stageBlob(b *blobs, e archiveEntry, r io.Reader) error {
	u := b.upload()
	defer u.Release()
	if err := e.copyExact(u, r); err != nil {
		return err
	}
	_, err := u.Finish()
	return err
}

// checkBlobs reads everything back, and looks for the bytes of every record.
func (in *staging) checkBlobs() error {
	if !hasFiles(in.options.schemaOr()) {
		return nil
	}
	report := &Report{}
	err := inspectBlobs(in.path(blobsName), in.instance, in.refs, report)
	return errors.Join(in.blame(err), report.err("it"))
}

// blame makes damage of a staged file, which is about to be removed, damage of the
// backup.
func (in *staging) blame(err error) error {
	if d := (*disk.Damaged)(nil); errors.As(err, &d) {
		d.Where = strings.Replace(d.Where, in.dir+string(filepath.Separator), "its ", 1)
		if d.Do == "" {
			d.Do = "restore another backup"
		}
	}
	return err
}

// lookAtSecrets finds the key of the backup, in it or in the data directory, and the
// secret values that have to be entered again.
func (in *staging) lookAtSecrets(tx *Tx) error {
	ring, err := readKeyring(in.dir)
	if err != nil {
		return fmt.Errorf("its %s does not hold 64 hexadecimal digits", keyName)
	}
	key, err := tx.choose(ring)
	if err != nil {
		return err
	}
	if in.wrongKey = ring != nil && key == nil; key == nil {
		ring, err = readKeyring(filepath.Dir(in.dir))
		if err != nil { // a damaged file is put aside, like one of another database
			ring = nil
		}
		if key, err = tx.choose(ring); err != nil {
			return err
		}
		in.keepKey = key != nil
	}
	if key == nil {
		ring = nil
	}
	in.unopened, _, err = tx.unopened(ring)
	return err
}

// settleKey leaves out a key that is not the backup's, and puts aside one that is there
// and is not the backup's either. Then the next start makes a new one.
func (in *staging) settleKey() error {
	isKey := func(name string) bool { return name == keyName }
	in.aside = slices.DeleteFunc(in.aside, isKey)
	if !in.keepKey {
		in.aside = append(in.aside, keyName)
	}
	if !in.wrongKey {
		return nil
	}
	in.names = slices.DeleteFunc(in.names, isKey)
	return os.Remove(in.path(keyName))
}

// accept makes a backup's data.db fit to be started from, or says why not.
func (in *staging) accept() (err error) {
	path := in.path(dataName)
	if info, err := os.Stat(path); err != nil || info.Size() == 0 {
		return errors.Join(err, errors.New("it is empty"))
	}
	db := &DB{path: path, schema: in.options.schemaOr(), options: in.options, clock: clockNow}
	if err := db.openFile(); err != nil {
		return in.blame(err)
	}
	defer func() { err = errors.Join(err, db.bolt.Close()) }()
	if len(db.warnings) > 0 {
		return fmt.Errorf("it is damaged: %s", db.warnings[0])
	}
	if err := db.migrate(false); err != nil {
		return in.blame(err)
	}
	var meta fileMeta
	err = db.View(System, func(tx *Tx) error {
		if err := tx.Verify().err("it"); err != nil {
			return err
		}
		install, err := Installs.Get(tx, 1)
		if err != nil {
			return err
		}
		in.instance, db.instance = install.Name, install.Name
		if err := in.lookAtSecrets(tx); err != nil {
			return err
		}
		if hasFiles(db.schema) {
			in.refs = blobRefs(tx)
		}
		meta, err = readMeta(tx)
		return err
	})
	if err != nil {
		return in.blame(err)
	}
	meta.Restored = true
	mark := commitMark{Instance: in.instance}
	err = db.bolt.Update(func(btx *bbolt.Tx) error {
		mark.Commit = uint64(btx.ID())
		return writeMeta(&Tx{db: db, bolt: btx, changes: newChanges()}, meta)
	})
	if err != nil {
		return err
	}
	return writeMark(in.dir, mark) // the one that is there counts the commits of what goes
}

// endRestore ends the sessions of a backup that is started from for the first time.
func (db *DB) endRestore() error {
	var meta fileMeta
	err := db.View(System, func(tx *Tx) (err error) {
		meta, err = readMeta(tx)
		return err
	})
	if err != nil || !meta.Restored {
		return err
	}
	meta.Restored = false
	return disk.RecoverDamage(db.path, func() error {
		return db.bolt.Update(func(btx *bbolt.Tx) error {
			tx := &Tx{db: db, actor: System, now: db.clock(), bolt: btx, changes: newChanges()}
			if err := errors.Join(endAllSessions(tx), db.forgetIndexes(tx)); err != nil {
				return err
			}
			return writeMeta(tx, meta)
		})
	})
}

// writeExact writes an archive's entry to a file, synced.
func writeExact(path string, e archiveEntry, r io.Reader) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	return errors.Join(e.copyExact(f, r), f.Sync(), f.Close())
}

// copyFile copies a file, no further than it reaches when the copy begins.
func copyFile(from, to string) error {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close() // it was only read
	info, err := in.Stat()
	if err != nil {
		return err
	}
	out, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	_, err = io.CopyN(out, in, info.Size())
	return errors.Join(err, out.Sync(), out.Close())
}
