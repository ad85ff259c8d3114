package kv

import (
	"archive/tar"
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"

	"reeve/store/audit"
	"reeve/store/blob"
)

// A backup is an uncompressed tar file (PAX) with its entries in a fixed order. It can be
// written and read sequentially, and its size is known in advance:
//
//	manifest.json  list of the other entries; its own SHA-256 is in the comment of its tar header
//	data.db        records
//	secret.key     key of the secret values; only if the archive as a whole is encrypted
//	audit/NUMBER.db  segment of the change log; sorted by number
//	files/SHA-256  content of a file; sorted by digest
//
// An archive of format 4 has no content of files. Its manifest lists what is kept apart from it.
const (
	manifestName  = "manifest.json"
	archiveFiles  = "files/"
	archiveAudit  = segmentsName + "/"
	archiveFormat = 3 // format 2 had no segments, and format 1 always had secret.key
	apartFormat   = 4 // the same without the content of files

	unknownSize = -1 // of a content that the commit stream names
	tarBlock    = 512
	maxManifest = 512 << 20 // about three million files; held in memory
	maxKeyFile  = 4 << 10
)

// manifest lists the content of an archive.
type manifest struct {
	Format   int            `json:"format"`
	Version  string         `json:"version"` // version of the program that wrote the archive
	Instance string         `json:"instance"`
	Time     Time           `json:"time"`
	LogHead  *audit.Head    `json:"log_head,omitempty"` // newest entry of the change log in data.db
	Records  int            `json:"records,omitempty"`  // number of records in data.db; 0 if an earlier version wrote the archive
	Entries  []archiveEntry `json:"entries"`
	Apart    []Content      `json:"apart,omitempty"` // content of files that is not in the archive; sorted by digest
}

// Content is the content of a file.
type Content struct {
	SHA256 blob.Digest `json:"sha256"`
	Size   int64       `json:"size"`
}

// segmentFile matches the name of a segment of the change log in an archive.
var segmentFile = regexp.MustCompile(`^` + archiveAudit + `[0-9a-f]{16}\.db$`)

type archiveEntry struct {
	Name   string      `json:"name"`
	Size   int64       `json:"size"`
	SHA256 blob.Digest `json:"sha256"`
}

// encode returns the manifest as it is stored in the archive.
func (m *manifest) encode() ([]byte, error) {
	text, err := json.Marshal(m)
	if err == nil && len(text) > maxManifest {
		err = fmt.Errorf("the manifest of %d entries is too long", len(m.Entries)+len(m.Apart))
	}
	return text, err
}

// header returns the tar header of an entry. Times are rounded to whole seconds, so that no
// extended header is needed.
func (m *manifest) header(e archiveEntry) *tar.Header {
	return &tar.Header{
		Typeflag: tar.TypeReg,
		Name:     e.Name,
		Size:     e.Size,
		Mode:     0o600,
		ModTime:  Time(m.Time / 1e6 * 1e6).Std(),
		Format:   tar.FormatPAX,
	}
}

// ownHeader returns the tar header of the encoded manifest, with its checksum as the comment.
func (m *manifest) ownHeader(text []byte) *tar.Header {
	h := m.header(archiveEntry{Name: manifestName, Size: int64(len(text))})
	h.PAXRecords = map[string]string{"comment": manifestSum(text)}
	return h
}

// manifestSum returns the checksum of an encoded manifest, as it is in the comment of its tar
// header.
func manifestSum(text []byte) string { return "sha256 " + blob.Digest(sha256.Sum256(text)).String() }

// size returns the length in bytes of an archive with this encoded manifest.
func (m *manifest) size(text []byte) (int64, error) {
	total, err := entrySize(m.ownHeader(text))
	for _, e := range m.Entries {
		n, err2 := entrySize(m.header(e))
		total, err = total+n, errors.Join(err, err2)
	}
	return total + 2*tarBlock, err // a tar file ends with two empty blocks
}

// entrySize returns the bytes that an entry takes in the archive, with its header and padding.
func entrySize(h *tar.Header) (int64, error) {
	var head bytes.Buffer
	err := tar.NewWriter(&head).WriteHeader(h)
	return int64(head.Len()) + (h.Size+tarBlock-1)/tarBlock*tarBlock, err
}

// isArchive reports whether a file is a tar archive and not a bare data.db: byte 257 is where
// the magic of tar is.
func isArchive(r io.ReaderAt) bool {
	magic := make([]byte, 5)
	_, err := r.ReadAt(magic, 257)
	return err == nil && string(magic) == "ustar"
}

// readManifest reads and checks the first entry of an archive of length bytes.
func readManifest(r *tar.Reader, length int64) (*manifest, error) {
	h, err := r.Next()
	switch {
	case err != nil:
		return nil, fmt.Errorf("it is cut off or damaged: %w", err)
	case h.Name != manifestName || h.Typeflag != tar.TypeReg:
		return nil, fmt.Errorf("it is not a backup: it begins with %q and not with %s", h.Name,
			manifestName)
	case h.Size > min(maxManifest, length):
		return nil, fmt.Errorf("%s claims %d bytes, which is impossible", manifestName, h.Size)
	}

	text, err := io.ReadAll(r)
	if err != nil {
		return nil, fmt.Errorf("%s is cut off: %w", manifestName, err)
	}
	if h.PAXRecords["comment"] != manifestSum(text) {
		return nil, fmt.Errorf("%s is damaged: its SHA-256 is not the one in its header",
			manifestName)
	}

	var m manifest
	if err := json.Unmarshal(text, &m); err != nil {
		return nil, fmt.Errorf("%s is damaged: %w", manifestName, err)
	}
	if m.Format > apartFormat {
		return nil,
			fmt.Errorf("it was written by a newer program, reeve %s (format %d, this one knows %d)", m.Version, m.Format, apartFormat)
	}
	if err := m.check(length); err != nil {
		return nil, fmt.Errorf("%s is invalid: %w", manifestName, err)
	}
	if want, err := m.size(text); err != nil || want != length {
		return nil, errors.Join(err,
			fmt.Errorf("it is cut off, or something was added: it has %d bytes, its manifest needs %d", length, want))
	}

	return &m, nil
}

// check checks the format, names and sizes of the entries. Names have fixed forms and a fixed
// order, so no entry can escape the target directory or occur twice.
func (m *manifest) check(length int64) error {
	if m.Format < 1 {
		return fmt.Errorf("there is no format %d", m.Format)
	}
	if len(m.Entries) == 0 || m.Entries[0].Name != dataName {
		return fmt.Errorf("it must name %s first", dataName)
	}
	if m.Format == 1 && !m.hasKey() {
		return fmt.Errorf("it must name %s and %s first", dataName, keyName)
	}

	for i, e := range m.Entries {
		if e.Size < 0 || e.Size > length {
			return fmt.Errorf("%q claims %d bytes, which is impossible", e.Name, e.Size)
		}
		if i >= m.files() && e.Name != archiveFiles+e.SHA256.String() {
			return fmt.Errorf("%q is not the name of a file with the SHA-256 %s", e.Name, e.SHA256)
		}
	}

	for _, part := range [][]archiveEntry{m.segments(), m.Entries[m.files():]} {
		for i := 1; i < len(part); i++ {
			if part[i-1].Name >= part[i].Name {
				return fmt.Errorf("%s comes twice or in the wrong place", part[i].Name)
			}
		}
	}

	for i, c := range m.Apart {
		if c.Size < 0 || i > 0 && bytes.Compare(m.Apart[i-1].SHA256[:], c.SHA256[:]) >= 0 {
			return fmt.Errorf("the file %s comes twice, in the wrong place or with an impossible size", c.SHA256)
		}
	}
	if m.Format != apartFormat && len(m.Apart) > 0 || m.Format == apartFormat && m.files() < len(m.Entries) {
		return fmt.Errorf("format %d has the content of files in another place", m.Format)
	}

	if m.hasKey() && m.Entries[1].Size > maxKeyFile {
		return fmt.Errorf("%s claims %d bytes, which is impossible", keyName, m.Entries[1].Size)
	}

	return nil
}

// hasKey reports whether the second entry is secret.key.
func (m *manifest) hasKey() bool { return len(m.Entries) > 1 && m.Entries[1].Name == keyName }

// segments returns the entries under audit/.
func (m *manifest) segments() []archiveEntry {
	first := 1
	if m.hasKey() {
		first = 2
	}
	end := first
	for end < len(m.Entries) && segmentFile.MatchString(m.Entries[end].Name) {
		end++
	}
	return m.Entries[first:end]
}

// files returns the index of the first entry under files/.
func (m *manifest) files() int {
	if m.hasKey() {
		return 2 + len(m.segments())
	}
	return 1 + len(m.segments())
}

// next advances r to entry i of the manifest, or past the last one. Any other entry is an
// error.
func (m *manifest) next(r *tar.Reader, i int) error {
	h, err := r.Next()
	switch {
	case err == io.EOF && i < len(m.Entries):
		return fmt.Errorf("%s is missing", m.Entries[i].Name)
	case err == io.EOF:
		return nil
	case err != nil:
		return fmt.Errorf("it is cut off or damaged: %w", err)
	case i == len(m.Entries):
		return fmt.Errorf("the entry %q is not in its manifest", h.Name)
	case h.Name != m.Entries[i].Name:
		if slices.ContainsFunc(m.Entries, func(e archiveEntry) bool { return e.Name == h.Name }) { // searched only for the error message: there may be millions of entries
			return fmt.Errorf("the entry %q is in the place of %s", h.Name, m.Entries[i].Name)
		}
		return fmt.Errorf("the entry %q is not in its manifest", h.Name)
	case h.Typeflag != tar.TypeReg:
		return fmt.Errorf("the entry %q is not a plain file", h.Name)
	case h.Size != m.Entries[i].Size:
		return fmt.Errorf("%s has %d bytes, its manifest says %d", h.Name, h.Size,
			m.Entries[i].Size)
	}
	return nil
}

// copyExact copies r to w and returns an error unless its size and digest are those of the
// entry.
func (e archiveEntry) copyExact(w io.Writer, r io.Reader) error {
	sum := sha256.New()
	n, err := io.Copy(io.MultiWriter(w, sum), r)
	return e.exactly(n, blob.Digest(sum.Sum(nil)), err)
}

// exactly returns an error unless the bytes that were copied, with err, are those of the entry.
func (e archiveEntry) exactly(n int64, got blob.Digest, err error) error {
	if errors.Is(err, io.ErrUnexpectedEOF) {
		err = errors.New("it is cut off")
	}
	if err == nil && (n != e.Size && e.Size != unknownSize || got != e.SHA256) {
		err = fmt.Errorf("it is damaged: %d bytes with the SHA-256 %s, not %d with %s", n, got,
			e.Size, e.SHA256)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", e.Name, err)
	}
	return nil
}
