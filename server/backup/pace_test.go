package backup_test

import (
	"compress/gzip"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"testing"
	"time"

	"filippo.io/age"

	"reeve/auth"
	"reeve/server/backup"
	"reeve/server/servertest"
	"reeve/server/target"
	"reeve/store"
	"reeve/store/audit"
	"reeve/store/blob"
	"reeve/store/copies"
	"reeve/store/disk/disktest"
)

// TestRetry_BacksOff: after each failure, the next attempt is twice as far away, up to an hour; after
// a success, the next failure begins with a minute again.
func TestRetry_BacksOff(t *testing.T) {
	t.Parallel()
	k, dir := newKept(t), filepath.Join(t.TempDir(), "not-mounted")
	fixed := time.Now().Truncate(time.Second)
	k.Server.Backups.SetClock(func() time.Time { return fixed.Add(time.Duration(k.ahead.Load())) })
	k.run(target.Set{Targets: []target.Config{{Name: "nas", Path: dir}}})
	fails := func(want time.Duration) {
		t.Helper()
		k.until(fmt.Sprint("the next attempt is in ", want), func(s targetState) bool {
			return s.Phase == backup.Waiting && s.Error != "" && s.NextAt != nil && s.NextAt.Equal(fixed.Add(time.Duration(k.ahead.Load())+want))
		})
	}
	fails(time.Minute) // the first attempt is made at once
	for _, minutes := range []int{2, 4, 8, 16, 32, 60, 60} {
		k.now("nas")
		fails(time.Duration(minutes) * time.Minute)
	}
	servertest.Must(t, os.Mkdir(dir, 0o700))
	if s := k.now("nas"); s.Error != "" {
		t.Fatalf("%+v", s)
	}
	servertest.Must(t, os.RemoveAll(dir))
	k.now("nas")
	fails(time.Minute)
}

// TestMetrics_AfterSuccessAndFailure: the age of the newest proven copy is unknown before the first one,
// and a failure lets it grow.
func TestMetrics_AfterSuccessAndFailure(t *testing.T) {
	t.Parallel()
	k, dir := newKept(t), filepath.Join(t.TempDir(), "not-mounted")
	k.Set("backup.ship_seconds", "1")
	value := func(name string) float64 {
		t.Helper()
		m := regexp.MustCompile(`(?m)^` + name + ` (\S+)$`).FindStringSubmatch(k.OK("GET", "/metrics", "", "metrics").Body)
		if m == nil {
			t.Fatal(name, "is missing")
		}
		v, err := strconv.ParseFloat(m[1], 64)
		servertest.Must(t, err)
		return v
	}
	const age, lag = "reeve_backup_proof_age_seconds", "reeve_backup_lag_seconds"
	k.run(target.Set{Targets: []target.Config{{Name: "nas", Path: dir}}})
	k.until("it fails", func(s targetState) bool { return s.Error != "" && s.Attempts > 0 && s.Phase == backup.Waiting })
	if a, l := value(age), value(lag); a != -1 || l != -1 {
		t.Errorf("without a copy: age %v, lag %v", a, l)
	}
	servertest.Must(t, os.Mkdir(dir, 0o700))
	k.now("nas")
	k.stored()
	if a, l := value(age), value(lag); a < 0 || a > 3600 || l < 0 || l > 3600 {
		t.Errorf("with a copy: age %v, lag %v", a, l)
	}
	servertest.Must(t, os.RemoveAll(dir))
	k.ahead.Store(int64(30 * time.Hour))
	k.now("nas")
	if a := value(age); a < 29*3600 || a > 31*3600 {
		t.Errorf("30 hours after the copy, and after a failure: age %v", a)
	}
	if state, _ := k.health(); state != "degraded" {
		t.Error(state)
	}
}

// sampled returns how many contents of files the newest proof in a directory has read.
func (k *kept) sampled(dir string) (newest struct{ Files, Sampled int }) {
	k.T.Helper()
	all, err := filepath.Glob(filepath.Join(dir, "*", "*", "*", "copies", "*.proof"))
	if err != nil || len(all) == 0 {
		k.T.Fatal(all, err)
	}
	last := all[0]
	for _, path := range all {
		if filepath.Base(path) > filepath.Base(last) {
			last = path
		}
	}
	f, err := os.Open(last)
	servertest.Must(k.T, err)
	defer f.Close()
	opened, err := age.Decrypt(f, k.identity)
	servertest.Must(k.T, err)
	text, err := gzip.NewReader(opened)
	servertest.Must(k.T, err)
	servertest.Must(k.T, json.NewDecoder(text).Decode(&newest))
	return newest
}

// TestProof_AllFilesWeekly: once a week, a proof reads the contents of all files, and a sample otherwise.
func TestProof_AllFilesWeekly(t *testing.T) {
	t.Parallel()
	k, ahead := asleep(t)
	dir := t.TempDir()
	for i := range 30 {
		k.Keep("owner", fmt.Sprint(i, ".txt"), fmt.Sprint("content ", i))
	}
	k.run(target.Set{Targets: []target.Config{{Name: "nas", Path: dir}}})
	k.until("it is proven", func(s targetState) bool { return s.ProvenAt != nil && s.Phase == backup.Waiting })
	for _, step := range []struct {
		ahead time.Duration
		want  int
	}{{0, 30}, {time.Hour, 20}, {6 * 24 * time.Hour, 20}, {8 * 24 * time.Hour, 30}} {
		if ahead.Store(int64(step.ahead)); step.ahead > 0 {
			k.Tokens["owner"] = k.SignIn(auth.FirstUser)
			k.now("nas")
		}
		if got := k.sampled(dir); got.Files != 30 || got.Sampled != step.want {
			t.Errorf("after %s: %+v, want %d", step.ahead, got, step.want)
		}
	}
}

// TestProof_LostContent damages the content of a file at the target. The proof finds it, and the attempt
// after it makes a copy that has the content again.
func TestProof_LostContent(t *testing.T) {
	t.Parallel()
	k, dir := newKept(t), t.TempDir()
	f := k.Keep("owner", "a.txt", "content of a file")
	k.run(target.Set{Targets: []target.Config{{Name: "nas", Path: dir}}})
	before := k.until("it is proven", func(s targetState) bool { return s.ProvenAt != nil && s.Phase == backup.Waiting })
	contents, err := filepath.Glob(filepath.Join(dir, "*", "*", "*", "files", "*[a-z0-9]"))
	servertest.Must(t, err)
	for _, path := range contents {
		if filepath.Ext(path) == "" {
			text := disktest.ReadFile(t, path)
			text[len(text)-1] ^= 1
			disktest.WriteFile(t, path, text)
		}
	}
	k.Server.Backups.Examine = func(ctx context.Context, archive, dir string, identities []age.Identity) (int, *audit.Head, error) {
		k.ahead.Add(int64(2 * time.Minute)) // so that the next attempt is due at once
		return k.examine(ctx, archive, dir, identities)
	}
	k.OK("POST", "/system/backup-file", `{"target":"nas"}`, "owner")
	k.until("the next attempt succeeds", func(s targetState) bool {
		return s.Attempts >= before.Attempts+2 && s.Error == "" && s.Phase == backup.Waiting
	})
	in, done, err := k.restore(dir, copies.Moment{})
	servertest.Must(t, err)
	var digest blob.Digest
	in.View(func(tx *store.Tx) error {
		got, err := store.Files.Get(tx, f.ID)
		if err == nil {
			digest = got.Digest
		}
		return err
	})
	content, err := in.DB.OpenBlob(digest)
	servertest.Must(t, err)
	if text, err := io.ReadAll(content); string(text) != "content of a file" || err != nil || done.Missing > 0 {
		t.Errorf("%q, %v, %d missing", text, err, done.Missing)
	}
}
