package backup

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"sort"
	"strings"
	"time"

	"reeve/store"
	"reeve/store/copies"
	"reeve/store/disk"
	"reeve/store/errs"
)

// LocalName is the name of the copies in the data directory.
const LocalName = "local"

// ProofSuffix follows the name of a local copy in that of its proof.
const ProofSuffix = ".proof"

const (
	localKept   = 3
	localFactor = 3 // how many times the size of the records must be free
	localLayout = "20060102-150405"
)

// localFile matches the names of these copies. Backups of commands are in the same directory.
var localFile = regexp.MustCompile(`^records-(\d{8}-\d{6})\.tar$`)

// IsLocalFile reports whether a file in the directory of backups has the name of such a copy.
func IsLocalFile(name string) bool { return localFile.MatchString(name) }

func localDir(b *Service) string { return filepath.Join(b.s.DB.Dir(), "backup") }

// localKeeper keeps copies of the records in the data directory, which help against mistakes, and
// not against the loss of the disk. The content of files is not copied: files.db has it.
type localKeeper struct{ b *Service }

func (k *localKeeper) list(context.Context) ([]Copy, error) {
	entries, err := os.ReadDir(localDir(k.b))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	var all []Copy
	for _, e := range entries {
		m := localFile.FindStringSubmatch(e.Name())
		if m == nil {
			continue
		}
		at, err := time.Parse(localLayout, m[1])
		info, statErr := e.Info()
		if err != nil || statErr != nil {
			continue // another file, or it was deleted just now
		}
		c := Copy{Target: LocalName, Name: e.Name(), At: timeOf(at), Size: info.Size(), State: Stored, Checkable: true}
		var p copies.Proof
		if text, err := os.ReadFile(k.proof(e.Name())); err == nil && json.Unmarshal(text, &p) == nil {
			c.State, c.ProvenAt, c.Records = Proven, timeOf(p.Time), p.Records
		}
		all = append(all, c)
	}
	sort.Slice(all, func(i, j int) bool { return all[i].At.Std().After(all[j].At.Std()) })
	return all, nil
}

func (k *localKeeper) path(name string) string { return filepath.Join(localDir(k.b), name) }

func (k *localKeeper) proof(name string) string { return k.path(name) + ProofSuffix }

func (k *localKeeper) add(ctx context.Context, progress func(done, total int64)) (err error) {
	info, err := os.Stat(filepath.Join(k.b.s.DB.Dir(), "data.db"))
	if err == nil {
		err = needSpace(k.b, localFactor*info.Size())
	}
	if err != nil {
		return err
	}
	b, err := k.b.s.DB.BackupRecords(ctx, false)
	if err != nil {
		return err
	}
	defer b.Close()                                                  // it was written whole, or the attempt has failed
	if err := needSpace(k.b, (localFactor-1)*b.Size()); err != nil { // with the change log; the records are on the disk once more now
		return err
	}
	dir := localDir(k.b)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}

	path := k.path("records-" + b.Time().Std().UTC().Format(localLayout) + ".tar")
	f, err := disk.Create(path + ".new")
	if err != nil {
		return err
	}
	out := &counted{&disk.StepWriter{File: f}, copies.NewLimiter(0), ctx, 0, b.Size(), progress}
	_, err = b.WriteTo(out)
	if err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err == nil {
		err = disk.MoveFile(path+".new", path)
	}
	if err != nil {
		err = errors.Join(err, os.Remove(path+".new"))
	}
	return err
}

func (k *localKeeper) prove(ctx context.Context) error {
	all, err := k.list(ctx)
	if err != nil || len(all) == 0 {
		return errors.Join(err, errors.New("there is no copy to prove"))
	}
	dir, err := proofDir(k.b, all[0].Size)
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	records, _, err := k.b.examine(ctx, k.path(all[0].Name), filepath.Join(dir, "data"), nil)
	if err != nil && ctx.Err() == nil { // a proof of before does not count any more
		if missing := os.Remove(k.proof(all[0].Name)); !errors.Is(missing, fs.ErrNotExist) {
			err = errors.Join(err, missing)
		}
	}
	if err != nil {
		return err
	}
	text, err := json.Marshal(copies.Proof{Time: k.b.now().UTC(), Records: records})
	if err != nil {
		return err
	}
	return disk.WriteFile(k.proof(all[0].Name), text)
}

// prune keeps the newest copies, and the newest that is proven.
func (k *localKeeper) prune(ctx context.Context, _ copies.Keep) error {
	all, err := k.list(ctx)
	if err != nil {
		return err
	}
	entries, err := os.ReadDir(localDir(k.b))
	if err != nil {
		return err
	}
	for _, e := range entries { // leftovers of copies that were killed
		if strings.HasPrefix(e.Name(), "records-") && strings.HasSuffix(e.Name(), ".tar.new") {
			if err := os.Remove(k.path(e.Name())); err != nil && !errors.Is(err, fs.ErrNotExist) {
				return err
			}
		}
	}
	proven := slices.IndexFunc(all, func(c Copy) bool { return c.State == Proven })
	for i, c := range all {
		if i < localKept || i == proven {
			continue
		}
		for _, path := range []string{k.path(c.Name), k.proof(c.Name)} {
			if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
				return err
			}
		}
	}
	return nil
}

func (k *localKeeper) warnings() []errs.Message {
	return []errs.Message{errs.Say("these copies are on the disk of the data and lost with it: name a target as [backup.NAME] in the configuration")}
}

// needSpace returns an error unless n bytes are free beside what uploads must leave free.
func needSpace(b *Service, n int64) error {
	var floor int64
	err := b.s.DB.View(store.System, func(tx *store.Tx) error {
		floor = int64(store.FileFloor.Get(tx)) << 20
		return nil
	})
	if err != nil {
		return err
	}
	return disk.NeedSpace(b.s.DB.Dir(), n+floor)
}
