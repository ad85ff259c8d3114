package e2e

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reeve/store/disk/disktest"
	"syscall"
	"testing"
)

// smallDisk mounts a file system of some MiB and returns a directory on it.
func smallDisk(t *testing.T, mebibytes int) string {
	t.Helper()
	return disktest.SmallDisk(t, fmt.Sprintf("%dm", mebibytes))
}

// diskFree returns the free bytes of a disk.
func diskFree(t *testing.T, at string) int64 {
	t.Helper()
	var s syscall.Statfs_t
	if err := syscall.Statfs(at, &s); err != nil {
		t.Fatal(err)
	}
	return int64(s.Bavail) * int64(s.Bsize)
}

// ballast uses n bytes of a disk until it is removed, or all free space.
func ballast(t *testing.T, at string, n int64) (remove func()) {
	t.Helper()
	path := filepath.Join(at, "ballast")
	if err := os.WriteFile(path, make([]byte, n), 0o600); err != nil &&
		!errors.Is(err, syscall.ENOSPC) {
		t.Fatal(err)
	}
	return func() {
		t.Helper()
		if err := os.Remove(path); err != nil {
			t.Fatal(err)
		}
	}
}

// fill uploads files until one is rejected, which must be with 507 and a code.
func (c *client) fill(code string, seed uint64, size int64) (stored []fileRecord) {
	c.t.Helper()
	for i := range uint64(1000) {
		a, err := c.send(fmt.Sprint("file", i), size, payload{seed + i, size}.reader())
		if err != nil {
			c.t.Fatal(err)
		}
		if a.status != 200 {
			if a.status != 507 || a.ErrorCode != code || len(stored) == 0 {
				c.t.Fatalf("upload %d: %d %s, want 507 %s after some", i, a.status, a.raw, code)
			}
			return stored
		}
		stored = append(stored, records(c.t, a)[0])
	}

	c.t.Fatal("the disk has no end")
	return nil
}

// goesOn checks that everything except uploads works, and that the server is healthy.
func (c *client) goesOn(title string, files []fileRecord) {
	c.t.Helper()
	c.works(title, files)
	c.want(200, "GET", "/health", "")
}

// works checks that everything except uploads works.
func (c *client) works(title string, files []fileRecord) {
	c.t.Helper()
	again := &client{t: c.t, base: c.base, http: c.http}
	again.signIn(password)
	again.want(200, "PUT", "/system/setting", values("site.title", title))
	for _, f := range files {
		c.mustHold(f)
	}
}

// Uploads are rejected before the disk is full, and work again when there is space.
func TestFullDisk_UploadsLeaveRoom(t *testing.T) {
	const floor = 64 << 20
	at := smallDisk(t, 96)
	dir := filepath.Join(at, "data")
	p := start(t, dir)
	c := signedIn(t, p)
	c.want(200, "PUT", "/system/setting", values("file.free_megabytes", floor>>20))
	files := c.fill("disk_low", 1, 2<<20)
	if free := diskFree(t, at); free < floor-1<<20 {
		t.Errorf("%d KiB are free, %d KiB were to be kept", free>>10, floor>>10)
	}

	c.goesOn("low", files)
	c.discard(files[0].ID)
	c.discard(files[1].ID)
	files = files[2:]
	eventually(t, "what was deleted makes room", func() bool {
		a, err := c.send("after", 2<<20, payload{1000, 2 << 20}.reader())
		if err != nil {
			t.Fatal(err)
		}
		if a.status == 200 {
			files = append(files, records(t, a)...)
		}
		return a.status == 200
	})
	files = append(files, c.fill("disk_low", 2000, 100<<10)...)
	remove := ballast(t, at, 4<<20) // something else uses space of the disk, beyond the minimum
	if a, err := c.send("refused", 1, payload{3000, 1}.reader()); err != nil || a.status != 507 ||
		a.ErrorCode != "disk_low" {
		t.Errorf("%v %+v", err, a)
	}

	c.goesOn("lower", files)
	remove()
	c.discard(files[0].ID)
	eventually(t, "the removed file makes room", func() bool {
		a, err := c.send("more", 1<<20, payload{4000, 1 << 20}.reader())
		return err == nil && a.status == 200
	})
	c.goesOn("enough", files[1:])
	p.stop()
	sound(t, dir)
}

// A disk that fills up completely in the middle of an upload fails the upload and nothing
// else.
func TestFullDisk_DuringUpload(t *testing.T) {
	at := smallDisk(t, 96)
	dir := filepath.Join(at, "data")
	p := start(t, dir)
	c := signedIn(t, p)
	c.want(200, "PUT", "/system/setting", values("file.free_megabytes", 64))
	files := []fileRecord{c.put("before", payload{1, 5 << 20})}
	for _, room := range []int64{4 << 20, 128 << 20} { // the second leaves no byte before the upload begins
		remove := ballast(t, at, room)
		a, err := c.send("too much", 64<<20, payload{2, 64 << 20}.reader())
		if err != nil || a.status != 507 || a.ErrorCode != "disk_low" {
			t.Fatalf("an upload larger than the disk: %v %+v", err, a)
		}
		c.mustHold(files[0])
		c.want(200, "GET", "/health", "")
		remove()
		c.goesOn("room", files)
	}

	files = append(files, c.put("after", payload{4, 1 << 20}))
	c.goesOn("after", files)
	p.stop()
	sound(t, dir)
	p = start(t, dir)
	c.base = p.url
	c.goesOn("later", files)
	p.stop()
	digests := map[string]bool{}
	for _, f := range files {
		digests[f.SHA256] = true
	}

	if differs := storedIn(t, dir).onlyThose(digests); differs != "" {
		t.Error(differs)
	}
}

// A files.db that cannot grow rejects the upload, and accepts the next one once there is
// space.
func TestFullDisk_FilesDatabase(t *testing.T) {
	dir := t.TempDir()
	p := start(t, dir)
	c := signedIn(t, p)
	files := []fileRecord{c.put("before", payload{1, 1 << 20})}
	for _, errno := range []string{"ENOSPC", "EDQUOT"} {
		takeBack := inject(t, p, "ftruncate:error="+errno, filepath.Join(dir, "files.db"))
		a, err := c.send("refused", 40<<20, payload{2, 40 << 20}.reader())
		if err != nil || a.status != 507 || a.ErrorCode != "disk_full" {
			t.Errorf("%s: %v %+v", errno, err, a)
		}
		c.goesOn("full", files)
		takeBack()
		files = append(files, c.put("after "+errno, payload{3, 40 << 20}))
		c.goesOn("room", files)
	}

	p.stop()
	sound(t, dir)
}
