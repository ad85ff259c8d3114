package backup_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"filippo.io/age"

	"reeve/server/backup"
	"reeve/server/servertest"
	"reeve/server/target"
	"reeve/store/audit"
	"reeve/store/disk/disktest"
)

// TestCancel_CheckKeepsRetry cancels a check, and lets another one succeed, while a copy that has failed waits to be
// tried again: it is tried at the same time, and its error stays.
func TestCancel_CheckKeepsRetry(t *testing.T) {
	t.Parallel()
	k, dir := newKept(t), disktest.SmallDisk(t, "16m")
	fixed := time.Now().Truncate(time.Second)
	k.Server.Backups.SetClock(func() time.Time { return fixed.Add(time.Duration(k.ahead.Load())) })
	examining, release := make(chan struct{}, 9), make(chan struct{})
	var blocks atomic.Bool
	k.Server.Backups.Examine = func(ctx context.Context, archive, at string, identities []age.Identity) (int, *audit.Head, error) {
		if blocks.Load() {
			examining <- struct{}{}
			<-release
			return 0, nil, errors.New("released")
		}
		return k.examine(ctx, archive, at, identities)
	}
	k.run(target.Set{Targets: []target.Config{{Name: "nas", Path: dir}}})
	k.until("it is proven", func(s targetState) bool { return s.ProvenAt != nil && s.Phase == backup.Waiting })
	daily := *k.target().NextAt
	check := func(cancel bool) {
		t.Helper()
		before := k.target()
		blocks.Store(cancel)
		k.OK("POST", "/system/backup-target/check", `{"target":"nas"}`, "owner")
		if cancel {
			<-examining
			k.OK("POST", "/system/backup-target/cancel", `{"target":"nas"}`, "owner")
		}
		k.until("the check has ended", func(s targetState) bool { return s.Attempts > before.Attempts && s.Phase == backup.Waiting })
		if blocks.Swap(false) {
			release <- struct{}{} // examinations follow one another
		}
	}
	next := func(what string, want time.Time) {
		t.Helper()
		k.until("the next copy is due as before, after "+what, func(s targetState) bool { return s.NextAt != nil && s.NextAt.Equal(want) })
	}
	check(true)
	next("a check of a sound target", daily)

	if err := os.WriteFile(filepath.Join(dir, "full"), make([]byte, 16<<20), 0o600); !errors.Is(err, syscall.ENOSPC) {
		t.Fatal(err)
	}
	for range 3 {
		if s := k.now("nas"); !strings.Contains(s.Error, "no space left on device") {
			t.Fatalf("%+v", s)
		}
	}
	retry := fixed.Add(4 * time.Minute)
	next("three failures", retry)
	k.ahead.Store(int64(time.Minute))
	check(true)
	next("a cancelled check", retry)
	if s := k.target(); !strings.Contains(s.Error, "a user has ended it") {
		t.Errorf("%+v", s)
	}
	servertest.Must(t, os.Truncate(filepath.Join(dir, "full"), 15<<20)) // room for the proof
	check(false)
	next("a check", retry)
	if s := k.target(); !strings.Contains(s.Error, "no space left on device") {
		t.Errorf("%+v", s)
	}
	k.ahead.Store(int64(5 * time.Minute))
	servertest.Must(t, os.Remove(filepath.Join(dir, "full")))
	if s := k.now("nas"); s.Error != "" {
		t.Errorf("%+v", s)
	}
}
