package e2e

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// volume is a file system in a file, whose power a test can cut: what was not synced is lost. Where it can't
// be had, it is nil, and nothing is lost; with CI=true, the test fails.
type volume struct {
	t         *testing.T
	image, at string
}

// newVolume mounts a file system at a new directory.
func newVolume(t *testing.T, at string) *volume {
	t.Helper()
	noErr(t, os.Mkdir(at, 0o700))
	without := func(reason string) *volume {
		t.Helper()
		if os.Getenv("CI") == "true" {
			t.Fatal(reason)
		}
		t.Log(reason)
		return nil
	}
	if os.Geteuid() != 0 {
		return without("no power can be cut without the rights of root")
	}
	v := &volume{t, filepath.Join(t.TempDir(), "image"), at}
	noErr(t, os.WriteFile(v.image, nil, 0o600))
	noErr(t, os.Truncate(v.image, 2<<30))
	for _, words := range [][]string{{"mkfs.ext4", "-q", "-F", v.image}, {"mount", "-o", "loop", v.image, at}} {
		if out, err := exec.Command(words[0], words[1:]...).CombinedOutput(); err != nil {
			return without(fmt.Sprintf("no power can be cut: %v: %v: %s", words, err, out))
		}
	}
	noErr(t, os.Remove(filepath.Join(at, "lost+found")))
	noErr(t, os.Chmod(at, 0o700))
	t.Cleanup(func() {
		if err := unix.Unmount(at, unix.MNT_DETACH); err != nil {
			t.Error(err)
		}
	})
	return v
}

// cut ends all writing to the disk at once. Data in memory are not written any more.
func (v *volume) cut() {
	if v == nil {
		return
	}
	v.t.Helper()
	const shutdown, withoutFlush = 0x8004587d, 2 // EXT4_IOC_SHUTDOWN, EXT4_GOING_FLAGS_NOLOGFLUSH
	dir, err := os.Open(v.at)
	noErr(v.t, err)
	defer dir.Close()
	noErr(v.t, unix.IoctlSetPointerInt(int(dir.Fd()), shutdown, withoutFlush))
}

// sync writes all data to the disk, so that the next cut loses none.
func (v *volume) sync() {
	if v == nil {
		return
	}
	v.t.Helper()
	dir, err := os.Open(v.at)
	noErr(v.t, err)
	defer dir.Close()
	noErr(v.t, unix.Syncfs(int(dir.Fd())))
}

// mount makes the disk usable again, as after a start of the machine. No process must use it.
func (v *volume) mount() {
	if v == nil {
		return
	}
	v.t.Helper()
	// A process that another test has just started has all files open until it runs its own program.
	err := unix.Unmount(v.at, 0)
	for try := 0; err == unix.EBUSY && try < 200; try++ {
		time.Sleep(50 * time.Millisecond)
		err = unix.Unmount(v.at, 0)
	}
	noErr(v.t, err)
	if out, err := exec.Command("mount", "-o", "loop", v.image, v.at).CombinedOutput(); err != nil {
		v.t.Fatalf("mount: %v: %s", err, out)
	}
}
