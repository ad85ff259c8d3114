package blob

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"io"
	"path/filepath"
	"testing"

	"reeve/store/disk/disktest"
	"reeve/store/errs"
)

func TestMain(m *testing.M) {
	disktest.InMemory()
	m.Run()
}

func randomData(t testing.TB, n int) []byte {
	data := make([]byte, n)
	r := disktest.Random(t)
	for i := range data {
		data[i] = byte(r.Uint32())
	}
	return data
}

// upload stores content and returns its digest. Release leaves it to the sweeper.
func upload(t *testing.T, b *Store, data []byte) Digest {
	t.Helper()
	u := b.Upload()
	defer u.Release()
	if _, err := u.Write(data); err != nil {
		t.Fatal(err)
	}
	d, err := u.Finish()
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func content(t *testing.T, b *Store, d Digest) ([]byte, error) {
	t.Helper()
	r, err := b.Reader(d)
	if err != nil {
		return nil, err
	}
	return io.ReadAll(r)
}

// always is the reference of every blob.
func always(Digest) (bool, error) { return true, nil }

func TestStore_EverySize(t *testing.T) {
	path := filepath.Join(t.TempDir(), FileName)
	b, _, err := Open(path, Options{Instance: "x", Referenced: always})
	if err != nil {
		t.Fatal(err)
	}

	sizes := []int{0, 1, 64 << 10, ChunkSize - 1, ChunkSize, ChunkSize + 1, 3*ChunkSize + 77}
	var total int64
	for _, n := range sizes {
		data := randomData(t, n)
		d := upload(t, b, data)
		disktest.Equal(t, "digest", d, Digest(sha256.Sum256(data)))
		if got, err := content(t, b, d); err != nil || !bytes.Equal(got, data) {
			t.Fatalf("%d bytes came back as %d: %v", n, len(got), err)
		}
		total += int64(n)
	}

	stored, coming := b.Stored()
	disktest.Equal(t, "bytes stored", stored, total)
	disktest.Equal(t, "bytes coming", coming, 0)
	if err := b.Close(); err != nil {
		t.Fatal(err)
	}

	var faults []string
	found, err := Inspect(t.Context(), path, "x", nil, false, func(format string, args ...any) {
		faults = append(faults, format)
	})
	if err != nil || len(faults) > 0 || len(found) != len(sizes) {
		t.Errorf("%d blobs, faults %v: %v", len(found), faults, err)
	}
	if _, err := Inspect(t.Context(), path, "y", nil, false, nil); err == nil {
		t.Error("the file of another installation is accepted")
	}
}

// TestFill_KeepsEverything checks that a file that is filled for later use keeps blobs that no
// record refers to yet.
func TestFill_KeepsEverything(t *testing.T) {
	path := filepath.Join(t.TempDir(), FileName)
	b, err := Fill(path, "x")
	if err != nil {
		t.Fatal(err)
	}

	d := upload(t, b, []byte("content"))
	if err := b.Close(); err != nil {
		t.Fatal(err)
	}
	if b, _, err = Open(path, Options{Instance: "x", Referenced: always}); err != nil {
		t.Fatal(err)
	}

	defer b.Close()
	if got, err := content(t, b, d); string(got) != "content" {
		t.Errorf("%q, %v", got, err)
	}
}

func TestSweep_DeletesUnreferenced(t *testing.T) {
	used := map[Digest]bool{}
	b, err := OpenOffline(filepath.Join(t.TempDir(), FileName),
		Options{Instance: "x", Referenced: func(d Digest) (bool, error) { return used[d], nil }})
	if err != nil {
		t.Fatal(err)
	}

	defer b.Close()
	kept, gone := upload(t, b, []byte("kept")), upload(t, b, []byte("gone"))
	used[kept] = true
	if err := b.SaveThumb(gone, "64", []byte("picture")); err != nil {
		t.Fatal(err)
	}

	b.Sweep()
	if got, err := content(t, b, kept); string(got) != "kept" {
		t.Errorf("%q, %v", got, err)
	}
	if _, err := b.Reader(gone); !errs.Is(err, errs.NotFound) {
		t.Errorf("what nothing refers to: %v", err)
	}
	if picture, err := b.Thumb(gone, "64"); picture != nil || err != nil {
		t.Errorf("its thumbnail: %q, %v", picture, err)
	}
}

// TestSweep_FailedLookupDeletesNothing checks that a blob stays while its references are unknown.
func TestSweep_FailedLookupDeletesNothing(t *testing.T) {
	lookup := errors.New("the disk gave up")
	b, err := OpenOffline(filepath.Join(t.TempDir(), FileName),
		Options{Instance: "x", Referenced: func(Digest) (bool, error) { return false, lookup }})
	if err != nil {
		t.Fatal(err)
	}

	defer b.Close()
	d := upload(t, b, []byte("content"))
	b.Sweep()
	if got, err := content(t, b, d); string(got) != "content" {
		t.Errorf("%q, %v", got, err)
	}

	lookup = nil
	b.Sweep()
	if _, err := b.Reader(d); !errs.Is(err, errs.NotFound) {
		t.Errorf("after the lookup works again: %v", err)
	}
}

// TestSweep_EndsWithStore checks that a sweep checks no more suspects once the file is closed.
func TestSweep_EndsWithStore(t *testing.T) {
	asked := 0
	b, err := OpenOffline(filepath.Join(t.TempDir(), FileName),
		Options{Instance: "x", Referenced: func(Digest) (bool, error) {
			asked++
			return true, nil
		}})
	if err != nil {
		t.Fatal(err)
	}

	b.Suspect(Digest{1}, Digest{2}, Digest{3})
	if err := b.Close(); err != nil {
		t.Fatal(err)
	}

	b.Sweep()
	disktest.Equal(t, "blobs looked at", asked, 0)
}
