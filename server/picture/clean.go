package picture

import (
	"bufio"
	"encoding/binary"
	"errors"
	"io"
	"slices"
	"strings"

	"reeve/store/errs"
)

// cleaners find the pieces of a picture that are kept, by media type. They keep the parts
// that decoding needs, selected by name, and the orientation of EXIF. Everything else, like
// the location in EXIF, XMP, IPTC, comments, previews and data after the end, is dropped.
var cleaners = map[string]func(*cutter) error{
	"image/jpeg": cutJPEG, "image/png": cutPNG, "image/vnd.mozilla.apng": cutPNG, "image/gif": cutGIF, "image/webp": cutWebP,
}

// plainPictures have no place for such data.
var plainPictures = []string{"image/bmp", "image/x-icon", "image/svg+xml"}

// CanClean reports whether Clean can remove the metadata of a media type.
func CanClean(media string) bool { return cleaners[media] != nil }

// IsPlain reports whether a media type has no place for metadata.
func IsPlain(media string) bool { return slices.Contains(plainPictures, media) }

// ErrNotCleanable reports a picture with ambiguous parts or more than maxPieces.
var ErrNotCleanable = errs.New(errs.NotFound, "the file can't be read without a token: metadata can't be removed from this picture").Coded("not_cleanable")

// maxPieces bounds the memory for one picture. Pictures from cameras have fewer than ten.
const maxPieces = 1024

// Piece is a part of a cleaned picture: Size bytes of the file from At, or Own if it is set.
type Piece struct {
	At   int64  `json:"at,omitempty"`
	Size int64  `json:"size"`
	Own  []byte `json:"own,omitempty"`
}

// Clean finds the pieces of a picture without metadata; Stitch reads them. CanClean must
// hold for media. Clean reads all of in, which has size bytes. It returns ErrNotCleanable
// for a picture that it does not understand, and no error for a truncated one.
func Clean(media string, in io.Reader, size int64) ([]Piece, error) {
	c := &cutter{r: bufio.NewReaderSize(in, 32<<10), size: size}
	if err := cleaners[media](c); err != nil && err != io.EOF && err != io.ErrUnexpectedEOF {
		return nil, err
	}
	if len(c.pieces) > maxPieces {
		return nil, ErrNotCleanable
	}
	return c.pieces, nil
}

// cutter reads a picture once and remembers what of it is sent.
type cutter struct {
	r      *bufio.Reader
	at     int64 // where r is
	size   int64
	pieces []Piece
	seen   bool // EXIF, of which the first counts
}

// keep adds the bytes from a place up to where the cutter is.
func (c *cutter) keep(from int64) {
	if last := len(c.pieces) - 1; last >= 0 && c.pieces[last].Own == nil && c.pieces[last].At+c.pieces[last].Size == from {
		c.pieces[last].Size += c.at - from
	} else if c.at > from && len(c.pieces) <= maxPieces {
		c.pieces = append(c.pieces, Piece{At: from, Size: c.at - from})
	}
}

// add adds bytes that are not the file's, and returns their number.
func (c *cutter) add(own []byte) int {
	if len(c.pieces) <= maxPieces {
		c.pieces = append(c.pieces, Piece{Size: int64(len(own)), Own: own})
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
	pieces []Piece
	starts []int64 // where each Piece begins
	size   int64
	at     int64
}

// Stitch reads the pieces of src as one picture.
func Stitch(src io.ReadSeeker, pieces []Piece) *stitched {
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
