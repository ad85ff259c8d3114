package server

import (
	"bufio"
	"encoding/binary"
	"encoding/json"
	"errors"
	"io"
	"slices"
	"strings"

	"reeve/store"
	"reeve/store/errs"
)

// A public picture is sent without what cameras and programs write into it: EXIF with
// the place where it was taken, XMP, IPTC, comments, previews, and whatever follows
// its end. What is kept is what decoding needs, chosen by name, so that nothing
// unknown passes. The stored bytes stay as they were uploaded; what is sent is
// stitched together of them. Of EXIF the orientation alone is kept.

// cleaners find the pieces of a picture to send, by media type.
var cleaners = map[string]func(*cutter) error{
	"image/jpeg": cutJPEG, "image/png": cutPNG, "image/vnd.mozilla.apng": cutPNG, "image/gif": cutGIF, "image/webp": cutWebP,
}

// plainPictures have no place for such data.
var plainPictures = []string{"image/bmp", "image/x-icon", "image/svg+xml"}

// publishable returns an error for a picture of a type that can hold a place and is
// not cleaned.
func publishable(f *store.File) error {
	media := bareMedia(f)
	if f.Kind != store.ImageFile || cleaners[media] != nil || slices.Contains(plainPictures, media) {
		return nil
	}
	return errs.Field(errs.Invalid, "public", "pictures of the type %s can't be public, since the place where they were taken can't be removed; convert it to JPEG, PNG, GIF or WebP", media)
}

func bareMedia(f *store.File) string {
	media, _, _ := strings.Cut(f.MIME, ";")
	return media
}

// errUncut is of a picture whose parts are not clear, or too many.
var errUncut = errs.New(errs.NotFound, "the file can't be read without a token: metadata can't be removed from this picture").Coded("not_cleanable")

// maxPieces bounds what is kept in memory of a picture; those of cameras have a few.
const maxPieces = 1024

// piece is a part of what is sent: bytes of the file, or, if there are any, its own.
type piece struct {
	At   int64  `json:"at,omitempty"`
	Size int64  `json:"size"`
	Own  []byte `json:"own,omitempty"`
}

// cleaned returns the bytes of a public picture as they are sent. The pieces are found
// once, by reading all of it, and kept beside small pictures of the file.
func (req *Request) cleaned(f *store.File, blob *store.Blob) (io.ReadSeeker, error) {
	const name = "public-1" // another number when cleaners change
	kept, err := req.s.db.Thumb(f.Digest, name)
	if err != nil {
		return nil, err
	}
	var pieces []piece
	if kept == nil {
		if pieces, err = cutPicture(bareMedia(f), blob, blob.Size()); err != nil {
			return nil, err
		}
		text, err := json.Marshal(pieces)
		if err != nil {
			return nil, err
		}
		if err := req.s.db.KeepThumb(f.Digest, name, text); err != nil && !errs.Is(err, errs.Full) && !errs.Is(err, errs.Busy) {
			return nil, err
		}
	} else if err := json.Unmarshal(kept, &pieces); err != nil {
		return nil, err
	}
	return newStitched(blob, pieces), nil
}

// cutPicture finds the pieces of a picture.
func cutPicture(media string, in io.Reader, size int64) ([]piece, error) {
	c := &cutter{r: bufio.NewReaderSize(in, 32<<10), size: size}
	if err := cleaners[media](c); err != nil && err != io.EOF && err != io.ErrUnexpectedEOF {
		return nil, err
	}
	if len(c.pieces) > maxPieces {
		return nil, errUncut
	}
	return c.pieces, nil
}

// cutter reads a picture once and remembers what of it is sent.
type cutter struct {
	r      *bufio.Reader
	at     int64 // where r is
	size   int64
	pieces []piece
	seen   bool // EXIF, of which the first counts
}

// keep adds the bytes from a place up to where the cutter is.
func (c *cutter) keep(from int64) {
	if last := len(c.pieces) - 1; last >= 0 && c.pieces[last].Own == nil && c.pieces[last].At+c.pieces[last].Size == from {
		c.pieces[last].Size += c.at - from
	} else if c.at > from && len(c.pieces) <= maxPieces {
		c.pieces = append(c.pieces, piece{At: from, Size: c.at - from})
	}
}

// add adds bytes that are not the file's, and returns their number.
func (c *cutter) add(own []byte) int {
	if len(c.pieces) <= maxPieces {
		c.pieces = append(c.pieces, piece{Size: int64(len(own)), Own: own})
	}
	return len(c.pieces) - 1
}

func (c *cutter) byte() (byte, error) {
	b, err := c.r.ReadByte()
	if err == nil {
		c.at++
	}
	return b, err
}

// next reads n bytes, which are few.
func (c *cutter) next(n int) ([]byte, error) {
	b := make([]byte, n)
	got, err := io.ReadFull(c.r, b)
	c.at += int64(got)
	return b, err
}

// skip passes n bytes, of which fewer may be there.
func (c *cutter) skip(n int64) error {
	n = min(n, c.size-c.at)
	for n > 0 {
		step, err := c.r.Discard(int(min(n, 1<<20)))
		c.at, n = c.at+int64(step), n-int64(step)
		if err != nil {
			return err
		}
	}
	return nil
}

// exif reads n bytes of EXIF and returns one with nothing but the orientation; nil if
// the picture is upright, or if there was EXIF before.
func (c *cutter) exif(n int64) ([]byte, error) {
	head, err := c.next(int(min(n, 1<<16, c.size-c.at)))
	if err != nil {
		return nil, err
	}
	orientation := orientationOf([]byte(strings.TrimPrefix(string(head), exifMark)))
	if err := c.skip(n - int64(len(head))); err != nil || c.seen || orientation == upright {
		return nil, err
	}
	c.seen = true
	return orientationOnly(orientation), nil
}

// orientationOnly is a TIFF file (see orientationOf) with one directory of one entry.
func orientationOnly(orientation int) []byte {
	b := append([]byte("MM\x00\x2a"), 0, 0, 0, 8)
	b = append(b, 0, 1, 0x01, 0x12, 0, 3, 0, 0, 0, 1, 0, byte(orientation), 0, 0)
	return binary.BigEndian.AppendUint32(b, 0) // no further directory
}

// stitched reads the pieces of a picture one after another.
type stitched struct {
	src    io.ReadSeeker
	pieces []piece
	starts []int64 // where each piece begins
	size   int64
	at     int64
}

func newStitched(src io.ReadSeeker, pieces []piece) *stitched {
	s := &stitched{src: src, pieces: pieces}
	for _, p := range pieces {
		s.starts = append(s.starts, s.size)
		s.size += p.Size
	}
	return s
}

// Read is io.Reader's.
func (s *stitched) Read(b []byte) (int, error) {
	if s.at >= s.size {
		return 0, io.EOF
	}
	i, found := slices.BinarySearch(s.starts, s.at)
	if !found {
		i--
	}
	p, in := s.pieces[i], s.at-s.starts[i]
	b = b[:min(int64(len(b)), p.Size-in)]
	if p.Own != nil {
		n := copy(b, p.Own[in:])
		s.at += int64(n)
		return n, nil
	}
	if _, err := s.src.Seek(p.At+in, io.SeekStart); err != nil {
		return 0, err
	}
	n, err := s.src.Read(b)
	s.at += int64(n)
	if err == io.EOF && n > 0 {
		err = nil
	}
	return n, err
}

// Seek is io.Seeker's.
func (s *stitched) Seek(offset int64, whence int) (int64, error) {
	switch whence {
	case io.SeekCurrent:
		offset += s.at
	case io.SeekEnd:
		offset += s.size
	}
	if offset < 0 {
		return 0, errors.New("seek before the beginning")
	}
	s.at = offset
	return offset, nil
}
