package store

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/gofrs/flock"

	"reeve/store/disk"
)

// A restore replaces several files, and a crash in between must not leave some of
// each. So what comes in is put, complete and synced, into a directory of its own,
// which one rename then makes valid. From there on the restore has happened: who
// opens the data directory next, be it to serve, to verify or to restore, finishes
// the moves first, each of which can be tried again.
const (
	stagingName = "restore.tmp"   // not yet, or no longer, valid: removed by who comes next
	readyName   = "restore.ready" // valid
	planName    = "plan.json"     // in it
	keptPrefix  = "kept-"         // a directory with what was replaced
)

// swapPlan says what is to be moved.
type swapPlan struct {
	Kept  string   `json:"kept"`  // the directory for what is there
	Aside []string `json:"aside"` // what goes there
	Names []string `json:"names"` // what comes in
}

// ready makes what was staged valid.
func (in *staging) ready(dir string) error {
	plan := swapPlan{Kept: keptPrefix + time.Now().UTC().Format("20060102T150405.000000"), Names: in.names}
	for _, name := range in.aside {
		there, err := disk.Exists(filepath.Join(dir, name))
		if err != nil {
			return err
		}
		if there {
			plan.Aside = append(plan.Aside, name)
		}
	}
	text, err := json.Marshal(plan)
	if err != nil {
		return err
	}
	if err := errors.Join(disk.WriteFile(in.path(planName), text), disk.SyncDir(in.dir)); err != nil {
		return err
	}
	return os.Rename(in.dir, filepath.Join(dir, readyName))
}

// finishRestore makes the moves of a restore that are still to be made and returns
// where what was there is kept; "" when there was nothing, or no restore.
func finishRestore(dir string) (kept string, err error) {
	ready := filepath.Join(dir, readyName)
	text, err := os.ReadFile(filepath.Join(ready, planName))
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	var plan swapPlan
	if err == nil {
		err = json.Unmarshal(text, &plan)
	}
	if err == nil && (!strings.HasPrefix(plan.Kept, keptPrefix) || !filepath.IsLocal(plan.Kept)) {
		err = fmt.Errorf("it names %q", plan.Kept)
	}
	if err == nil {
		err = disk.SyncDir(dir)
	}
	if err == nil && len(plan.Aside) > 0 {
		kept = filepath.Join(dir, plan.Kept)
		err = plan.putAside(dir, kept)
	}
	if err == nil {
		err = plan.putIn(dir)
	}
	if err != nil {
		return "", fmt.Errorf("a restore is half done in %s; the next start, restore or verify goes on with it: %w", ready, err)
	}
	return kept, nil
}

// putAside keeps what was there. A file whose successor is no longer waiting is
// itself that successor, and stays.
func (p *swapPlan) putAside(dir, kept string) error {
	if err := os.Mkdir(kept, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	for _, name := range p.Aside {
		already, err := disk.Exists(filepath.Join(kept, name))
		waiting, err2 := disk.Exists(filepath.Join(dir, readyName, name))
		if err := errors.Join(err, err2); err != nil {
			return err
		}
		if already || !waiting && slices.Contains(p.Names, name) {
			continue
		}
		if err := os.Rename(filepath.Join(dir, name), filepath.Join(kept, name)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return errors.Join(disk.SyncDir(kept), disk.SyncDir(dir))
}

// putIn gives what comes in its place, and ends the restore.
func (p *swapPlan) putIn(dir string) error {
	ready, old := filepath.Join(dir, readyName), filepath.Join(dir, stagingName)
	for _, name := range p.Names {
		if err := os.Rename(filepath.Join(ready, name), filepath.Join(dir, name)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	if err := errors.Join(disk.SyncDir(ready), disk.SyncDir(dir)); err != nil {
		return err
	}
	if err := disk.MoveFile(ready, old); err != nil {
		return err
	}
	return os.RemoveAll(old)
}

// takeDir takes a data directory for this process, finishes a restore that was cut
// off in it, and says so.
func takeDir(dir string) (lock *flock.Flock, warnings []string, err error) {
	if lock, err = lockDir(dir); err != nil {
		return nil, nil, err
	}
	pending := restorePending(dir)
	kept, err := finishRestore(dir)
	if err != nil {
		return nil, nil, errors.Join(err, lock.Unlock())
	}
	if pending {
		text := "a restore that was cut off is finished"
		if kept != "" {
			text += "; what was there before is kept in " + kept
		}
		warnings = append(warnings, text)
	}
	return lock, warnings, nil
}

// restorePending tells whether a restore has happened whose moves are not all made.
func restorePending(dir string) bool {
	pending, err := disk.Exists(filepath.Join(dir, readyName, planName))
	return pending && err == nil
}

// sweepDir removes what a crash can leave behind: copies that were not finished.
func sweepDir(dir string) error {
	for _, pattern := range []string{
		dataName + "*.new", blobsName + "*.new", markerName + ".new", markName + ".new", reserveName + ".new", keyName + ".new",
		backupPattern, backupPattern + ".new", stagingName,
	} {
		left, err := filepath.Glob(filepath.Join(dir, pattern))
		for _, path := range left {
			err = errors.Join(err, os.RemoveAll(path))
		}
		if err != nil {
			return err
		}
	}
	return nil
}
