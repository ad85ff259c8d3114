package kv

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"filippo.io/age"

	"reeve/store/audit"
	"reeve/store/blob"
	"reeve/store/disk"
	"reeve/store/errs"
	"reeve/store/stream"
)

// Restore replaces the data in dir by a backup. No server may be using dir. The backup is an
// archive, a directory that an earlier restore has kept, or a bare data.db; identities decrypt
// an encrypted archive, see Backup.Encrypt. It is migrated and verified first: if it is damaged
// or newer than the program, nothing is changed. The replaced files are moved to a directory
// that is named in the result. The next start ends all sessions, because the backup may include
// sessions that ended after it was taken. An archive of BackupRecords gets the content of its files
// from the files database in dir.
func Restore(dir, backup string, identities []age.Identity,
	options Options) (done Restored, err error) {
	return RestoreContents(dir, backup, identities, nil, options)
}

// Contents opens the content of a file that an archive lacks, at the nth place that may have it, from 0. The
// error is an fs.ErrNotExist if there are no more; it, or one of reading, wraps ErrUnavailable if it says nothing
// about the content. It is called from several goroutines.
type Contents func(c Content, nth int) (io.ReadCloser, error)

// ErrUnavailable is the error of a content that can't be read now. After some attempts the restore fails.
var ErrUnavailable = errors.New("the contents of files can't be read now")

// Entries yields the entries of the commit stream that follow a position.
type Entries func(from stream.Head) iter.Seq2[*stream.Entry, error]

// RestoreContents is Restore for an archive of BackupRecords whose content of files is kept apart.
// What can't be read is missing in the restored data: see Restored.
func RestoreContents(dir, backup string, identities []age.Identity, contents Contents,
	options Options) (done Restored, err error) {
	return RestoreMoment(dir, backup, identities, contents, nil, options)
}

// RestoreMoment is RestoreContents with the entries of the commit stream that are applied to the
// records of the archive; nil for none.
func RestoreMoment(dir, backup string, identities []age.Identity, contents Contents, entries Entries,
	options Options) (done Restored, err error) {
	return restoreAs(dir, backup, options, staging{identities: identities, contents: contents, entries: entries})
}

// Join replaces the data in dir by a base copy: an archive of BackupRecords that was made of data that
// belong to a log of commits. Unlike restored data, they go on to belong to it. The key of the data must
// be in dir. Options.Files is needed. entries are applied to it, and bring it to the schema of this program
// afterwards; nil for a base copy that has this schema, for which the error with entries is ErrCurrent.
func Join(dir, base string, identities []age.Identity, entries Entries, options Options) (done Restored, err error) {
	return restoreAs(dir, base, options, staging{identities: identities, entries: entries, joins: true})
}

func restoreAs(dir, backup string, options Options, in staging) (done Restored, err error) {
	if err := makeDir(dir); err != nil {
		return done, err
	}

	if !options.Taken {
		release, err := Take(dir)
		if err != nil {
			return done, err
		}
		defer func() { err = errors.Join(err, release()) }()
	}
	in.dir, in.options = filepath.Join(dir, stagingName), options
	if err = in.stage(backup); err == nil {
		err = errors.Join(in.nameLost(), options.interrupted())
	}
	if err == nil {
		err = in.ready(dir)
	}
	if err != nil {
		return done, errors.Join(fmt.Errorf("%s was not restored, nothing is changed: %w",
			cmp.Or(options.Backup, backup), err), os.RemoveAll(in.dir))
	}

	done = Restored{
		WrongKey: in.wrongKey,
		Unopened: in.toEnter(),
		Missing:  in.without,
		Lost:     in.lost,
		Records:  in.records,
		LogHead:  in.head,
		Applied:  in.applied,

		Withdrawn:    in.withdrawn,
		RightsUnread: in.rightsUnread,
	}
	done.Kept, err = finishRestore(dir)
	return done, err
}

// Take locks a data directory for a restore that begins later, such as when a copy was fetched: no other one can
// begin, and no server can start. The caller releases it. The directory exists.
func Take(dir string) (release func() error, err error) {
	lock, _, err := takeDir(dir)
	if err != nil {
		return nil, err
	}
	return lock.Unlock, nil
}

func (o *Options) interrupted() error {
	if o.Interrupted == nil {
		return nil
	}
	return o.Interrupted()
}

// toEnter returns the titles of the secret values that must be entered again. The key of the contents in the bucket is one
// only if contents are missing: all others were in the backup, and get another key.
func (in *staging) toEnter() []string {
	if in.without > 0 {
		return in.unopened
	}
	return slices.DeleteFunc(slices.Clone(in.unopened), func(title string) bool { return title == contentKeyTitle })
}

// Restored is the result of a restore.
type Restored struct {
	Kept     string      // directory with the replaced files; "" if there were none
	WrongKey bool        // the secret.key in the backup is not the key of its data.db, and was not restored
	Unopened []string    // titles of the secret values that must be entered again, because their key is missing
	Missing  int         // number of records whose content was kept apart and could not be read
	Lost     []string    // some of these records, such as: file 12 "plan.txt"
	Records  int         // number of records
	LogHead  *audit.Head // newest entry of the change log in the backup

	Withdrawn    []string // rights in the restored state that were withdrawn since, and stay so
	RightsUnread error    // reason for which that is unknown; nil if it is known, or there was nothing to compare with

	Applied stream.Head // last entry of the commit stream that was applied; the zero Head for none
}

// Expected is what an archive should have. A data.db of an earlier schema is not compared.
type Expected struct {
	Records int         // number of records; 0 if it is unknown
	LogHead *audit.Head // newest entry of the change log; nil if it is unknown
}

// staging is a backup that is being restored: it is copied to a temporary directory, which is
// not used before it is complete.
type staging struct {
	dir        string
	options    Options
	identities []age.Identity
	contents   Contents // source of contents apart from the archive; nil for the data directory
	entries    Entries  // entries to apply to data.db; nil for none
	joins      bool     // whether it is a base copy, see Join
	applied    stream.Head
	missing    map[blob.Digest]error
	lost       []string // see Restored.Lost
	without    int      // see Restored.Missing
	records    int
	head       *audit.Head
	expected   []Expected // counts that data.db must have before entries are applied
	names      []string   // names of the files to move into the data directory
	aside      []string   // names of the files to move away, if they exist
	instance   string
	refs       []blobRef
	wrongKey   bool
	keepKey    bool     // the secret.key in the data directory is the key of the backup
	unopened   []string // see Restored.Unopened

	withdrawn    []string // see Restored
	rightsUnread error
}

func (in *staging) path(name string) string { return filepath.Join(in.dir, name) }

// stage copies a backup to the staging directory and verifies it.
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

	defer f.Close() // read only: nothing can be lost
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

// addFiles adds the files.db of the data directory if the backup is a copy of data.db that a
// migration has kept there: files.db has the content for both.
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

	for _, name := range []string{blob.FileName, segmentsName} {
		path := filepath.Join(dir, name)
		there, err := disk.Exists(path)
		if err != nil {
			return err
		}
		if there {
			from[name] = path
		}
	}

	return nil
}

// mustBeFile rejects a device or a pipe, whose content may be endless.
func mustBeFile(path string, info fs.FileInfo) error {
	if !info.Mode().IsRegular() {
		return fmt.Errorf("%s is neither a file nor a directory", path)
	}
	return nil
}

// stageDir stages the files of a data directory, or of one that an earlier restore has kept.
func (in *staging) stageDir(backup string) error {
	from := map[string]string{dataName: filepath.Join(backup, dataName)}
	for _, name := range []string{lockName, keyName, blob.FileName, segmentsName} {
		path := filepath.Join(backup, name)
		if there, err := disk.Exists(path); err != nil {
			return err
		} else if there {
			from[name] = path
		}
	}

	if _, used := from[lockName]; used { // it is a data directory, which may be in use
		lock, err := lockDir(backup)
		if err != nil {
			return err
		}
		defer lock.Unlock() // the files are copied: a failure has no effect
		delete(from, lockName)
	}

	return in.stageFiles(from)
}

// stageFiles stages data.db and the files that come with it; a backup from before archives
// existed is data.db alone. An existing files.db is always moved away: it belongs to records
// that are replaced, and the next start would delete its content. An existing key stays unless
// the backup has one, because the secret values may need it.
func (in *staging) stageFiles(from map[string]string) error {
	in.names = append(slices.Sorted(maps.Keys(from)), markName)
	need := int64(0)
	for name, path := range from {
		if name == segmentsName {
			size, err := dirSize(path)
			if err != nil {
				return err
			}
			need += size
			continue
		}

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
		copyIn := copyFile
		if name == segmentsName {
			copyIn = copySegments
		}
		if err := copyIn(path, in.path(name)); err != nil {
			return err
		}
	}

	if err := in.accept(); err != nil {
		return err
	}

	in.aside = slices.Compact(slices.Sorted(slices.Values(append([]string{blob.FileName, segmentsName},
		in.names...))))
	if err := in.settleKey(); err != nil {
		return err
	}
	lacking := slices.DeleteFunc(slices.Clone(in.refs), func(r blobRef) bool {
		return in.options.Files != nil && r.object != nil // it is read from the bucket
	})
	if from[blob.FileName] != "" || len(lacking) == 0 {
		return in.checkBlobs(false)
	}

	return fmt.Errorf("its records have %s, and there is no %s beside them; restore an archive, or a directory that has both",
		errs.Count(len(lacking), "file"), blob.FileName)
}

// segmentPaths returns the paths of the segments of the change log in a directory.
func segmentPaths(dir string) ([]string, error) {
	all, err := filepath.Glob(filepath.Join(dir, "*.db"))
	return slices.DeleteFunc(all, func(path string) bool {
		return !segmentFile.MatchString(archiveAudit + filepath.Base(path))
	}), err
}

// copySegments copies the segments of the change log to a new directory and syncs them.
func copySegments(from, to string) error {
	paths, err := segmentPaths(from)
	if err != nil {
		return err
	}
	if err := os.Mkdir(to, 0o700); err != nil {
		return err
	}
	for _, path := range paths {
		if err := copyFile(path, filepath.Join(to, filepath.Base(path))); err != nil {
			return err
		}
	}
	return disk.SyncDir(to)
}

// dirSize returns the total size of the segments in a directory.
func dirSize(dir string) (total int64, err error) {
	paths, err := segmentPaths(dir)
	for _, path := range paths {
		info, statErr := os.Stat(path)
		if err = errors.Join(err, statErr); statErr == nil {
			total += info.Size()
		}
	}
	return total, err
}

// copyFile copies a file and syncs the copy. It stops at the size that the file has at the
// beginning.
func copyFile(from, to string) error {
	in, err := os.Open(from)
	if err != nil {
		return err
	}

	defer in.Close() // read only: nothing can be lost
	info, err := in.Stat()
	if err != nil {
		return err
	}

	out, err := disk.Create(to)
	if err != nil {
		return err
	}

	_, err = io.CopyN(out, in, info.Size())
	return errors.Join(err, out.Sync(), out.Close())
}
