package kv

import (
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"
	"testing"
	"time"

	"reeve/store/disk/disktest"
)

const mebibytesVar = "REEVE_TEST_MEBIBYTES"

// anonymous returns the anonymous resident memory of this process (RssAnon), in KiB.
func anonymous() (kib int) {
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return 0
	}
	_, rest, _ := strings.Cut(string(status), "RssAnon:")
	fmt.Sscan(rest, &kib)
	return kib
}

// memoryChild fills a database, takes a backup, restores and compacts it, and prints the peak
// of its anonymous memory.
func memoryChild() int {
	stop, most := make(chan struct{}), make(chan int)
	go func() {
		top := 0
		for tick := time.NewTicker(5 * time.Millisecond); ; {
			select {
			case <-tick.C:
				top = max(top, anonymous())
			case <-stop:
				most <- top
				return
			}
		}
	}()

	if err := backUpAndRestore(dirOf(), os.Getenv(mebibytesVar)); err != nil {
		fmt.Println(err)
		return 1
	}

	close(stop)
	fmt.Println(<-most)
	return 0
}

func backUpAndRestore(dir, mebibytes string) error {
	var n int
	if _, err := fmt.Sscan(mebibytes, &n); err != nil {
		return err
	}

	db, err := Open(filepath.Join(dir, "source"), Options{Schema: &office})
	if err != nil {
		return err
	}

	bytes := rand.NewChaCha8([32]byte{})
	for i := range 2 { // one with nearly all the data, and a small one
		u, err := db.NewUpload()
		if err != nil {
			return err
		}
		if _, err := io.CopyN(u, bytes, int64(n<<20)>>(10*i)); err != nil {
			return err
		}

		digest, err := u.Finish()
		if err != nil {
			return err
		}

		f := &File{Name: "some", Size: u.Size(), Digest: digest}
		if err := db.Update(System, func(tx *Tx) error { return Files.Create(tx, f) }); err != nil {
			return err
		}

		u.Release()
	}

	b, err := db.Backup(context.Background(), true)
	if err != nil {
		return err
	}

	archive, target := filepath.Join(dir, "backup.tar"), filepath.Join(dir, "target")
	f, err := os.Create(archive)
	if err != nil {
		return err
	}

	for _, step := range []func() error{
		func() error { _, err := b.WriteTo(f); return err },
		f.Close, b.Close, db.Close,
		func() error {
			_, err := Restore(target, archive, nil, Options{Schema: &office})
			return err
		},
		func() error { _, err := Compact(target, Options{Schema: &office}); return err },
	} {
		if err := step(); err != nil {
			return err
		}
	}

	if info, err := os.Stat(archive); err != nil || info.Size() < int64(n)<<20 {
		return fmt.Errorf("the archive is too small: %v, %w", info, err)
	}

	return nil
}

func TestBackup_BoundedMemory(t *testing.T) {
	limit := 40
	if info, ok := debug.ReadBuildInfo(); ok && slices.Contains(info.Settings, debug.BuildSetting{
		Key:   "-race",
		Value: "true",
	}) {
		limit = 120 // the race detector needs memory of its own
	}

	n := disktest.Size(96, 160, 512)
	// Garbage is collected early: on a busy machine, it would otherwise be a third of the memory.
	out, err := child(t, "memory", 10*time.Minute, dirVar+"="+t.TempDir(),
		fmt.Sprint(mebibytesVar, "=", n), "GOGC=25")
	var kib int
	if _, scan := fmt.Sscan(out, &kib); err != nil || scan != nil {
		t.Fatalf("%v, %v: %s", err, scan, out)
	}
	if kib == 0 {
		t.Skip("this system does not tell how much memory is a process's own")
	}

	t.Logf("%d MiB of files, %.1f MiB of memory", n, float64(kib)/1024)
	if kib > limit<<10 {
		t.Errorf("%d KiB of memory of its own, at most %d MiB are right", kib, limit)
	}
}
