package kv

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/gofrs/flock"

	"reeve/store/blob"
	"reeve/store/disk"
)

// A restore replaces several files, and a crash must not leave a mixture. So the new files are
// written and synced to a directory of their own, which one rename makes valid. From then on
// the restore counts as done: any process that opens the data directory next, to serve, verify
// or restore, completes the moves first. Each move can be repeated.
const (
	stagingName = "restore.tmp"   // not yet, or no longer, valid; removed by the next start
	readyName   = "restore.ready" // renamed from stagingName once it is complete
	planName    = "plan.json"     // the swapPlan, in either directory
	keptPrefix  = "kept-"         // directory with the replaced files
)

// swapPlan lists the moves of a restore.
type swapPlan struct {
	Kept  string   `json:"kept"`  // name of the directory for the replaced files
	Aside []string `json:"aside"` // files to move there
	Names []string `json:"names"` // files to move into the data directory
}

// ready writes the plan and makes the staged files valid.
func (in *staging) ready(dir string) error {
	plan := swapPlan{
		Kept:  keptPrefix + time.Now().UTC().Format("20060102T150405.000000"),
		Names: in.names,
	}
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

// finishRestore completes the moves of a restore and returns the directory with the replaced
// files; "" if there were none, or no restore is pending.
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
		return "",
			fmt.Errorf("a restore in %s is incomplete; the next start, restore or verify will continue it: %w", ready, err)
	}

	return kept, nil
}

// putAside moves the replaced files away. A file whose replacement is no longer waiting is that
// replacement, and stays.
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
		if err := os.Rename(filepath.Join(dir, name), filepath.Join(kept, name)); err != nil &&
			!errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return errors.Join(disk.SyncDir(kept), disk.SyncDir(dir))
}

// putIn moves the new files into the data directory and ends the restore.
func (p *swapPlan) putIn(dir string) error {
	ready, old := filepath.Join(dir, readyName), filepath.Join(dir, stagingName)
	for _, name := range p.Names {
		if err := os.Rename(filepath.Join(ready, name), filepath.Join(dir, name)); err != nil &&
			!errors.Is(err, fs.ErrNotExist) {
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

// takeDir locks a data directory for this process and completes a restore that was interrupted,
// with a warning.
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
		text := "an interrupted restore was completed"
		if kept != "" {
			text += "; the previous data is kept in " + kept
		}
		warnings = append(warnings, text)
	}

	return lock, warnings, nil
}

// takeDirToRead is takeDir for a command that only reads. A file system that is mounted read-only,
// such as a snapshot, cannot be locked, and need not be.
func takeDirToRead(dir string) (unlock func() error, err error) {
	lock, _, err := takeDir(dir)
	if errors.Is(err, syscall.EROFS) && !restorePending(dir) {
		return func() error { return nil }, nil
	}
	if err != nil {
		return nil, err
	}
	return lock.Unlock, nil
}

// restorePending reports whether a restore is valid but not all its moves are made.
func restorePending(dir string) bool {
	pending, err := disk.Exists(filepath.Join(dir, readyName, planName))
	return pending && err == nil
}

// FetchedPattern matches the directories into which a restore fetches a copy from a target before it begins.
const FetchedPattern = "fetched-*"

// unfinishedRestore returns the path of the rest of a restore that was killed before it changed anything; "" for none.
func unfinishedRestore(dir string) string {
	left, _ := filepath.Glob(filepath.Join(dir, FetchedPattern)) // the pattern is valid
	staging := filepath.Join(dir, stagingName)
	if there, err := disk.Exists(staging); err == nil && there {
		left = append(left, staging)
	}
	if len(left) == 0 {
		return ""
	}
	return left[0]
}

// sweepDir removes unfinished copies that a crash can leave behind.
func sweepDir(dir string) error {
	for _, pattern := range []string{
		dataName + "*.new", blob.FileName + "*.new", markerName + ".new", markName + ".new",
		reserveName + ".new", keyName + ".new",
		backupPattern, backupPattern + ".new", stagingName, FetchedPattern,
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
