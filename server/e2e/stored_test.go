package e2e

import (
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"testing"

	"go.etcd.io/bbolt"
)

// stored is the content of files.db in a stopped data directory.
type stored struct {
	blobs  []string // digests, sorted
	stray  []string // chunks without a blob, and incomplete blobs
	thumbs []string // digests of files with thumbnails, sorted and unique
}

// storedIn reads files.db with bbolt, in the format that the source of the program
// documents, to find content that the program itself does not report.
func storedIn(t testing.TB, dir string) stored {
	t.Helper()
	path := filepath.Join(dir, "files.db")
	db, err := bbolt.Open(path, 0o600, &bbolt.Options{ReadOnly: true, Timeout: patience})
	if err != nil {
		t.Fatalf("open %s: %v", path, err)
	}

	defer db.Close()
	s := stored{blobs: []string{}}
	err = db.View(func(tx *bbolt.Tx) error {
		chunks := map[string]bool{} // true if it belongs to a blob
		if err := tx.Bucket([]byte("chunk")).ForEachBucket(func(name []byte) error {
			chunks[hex.EncodeToString(name)] = false
			return nil
		}); err != nil {
			return err
		}
		if err := tx.Bucket([]byte("blob")).ForEach(func(key, value []byte) error {
			s.blobs = append(s.blobs, hex.EncodeToString(key))
			var entry struct {
				Place       uint64
				Size, Chunk int64
			}
			if err := json.Unmarshal(value[5:], &entry); err != nil { // after version and checksum
				return fmt.Errorf("blob %x: %w", key, err)
			}

			for number := range (entry.Size + entry.Chunk - 1) / entry.Chunk {
				name := fmt.Sprintf("%016x%08x", entry.Place, number)
				if _, there := chunks[name]; !there {
					s.stray = append(s.stray, fmt.Sprintf("blob %x lacks chunk %s", key, name))
				}
				chunks[name] = true
			}

			return nil
		}); err != nil {
			return err
		}

		for name, taken := range chunks {
			if !taken {
				s.stray = append(s.stray, fmt.Sprintf("chunk %s", name))
			}
		}

		thumbs := map[string]bool{}
		err := tx.Bucket([]byte("thumb")).ForEach(func(key, _ []byte) error {
			thumbs[hex.EncodeToString(key[:32])] = true
			return nil
		})

		s.thumbs = slices.Sorted(maps.Keys(thumbs))
		return err
	})
	if err != nil {
		t.Fatalf("read %s: %v", path, err)
	}

	return s
}

// onlyThose describes how the stored content differs from that of some records; "" if it is
// exactly theirs.
func (s stored) onlyThose(records map[string]bool) string {
	want := slices.Sorted(maps.Keys(records))
	switch {
	case len(s.stray) > 0:
		return fmt.Sprintf("of %d blobs: %q", len(s.blobs), s.stray)
	case len(want) != len(s.blobs) || !slices.Equal(want, s.blobs):
		return fmt.Sprintf("%d blobs are stored, the records have %d: %q and %q", len(s.blobs),
			len(want), s.blobs, want)
	}
	for _, d := range s.thumbs {
		if !records[d] {
			return "a small picture is left of " + d
		}
	}
	return ""
}
