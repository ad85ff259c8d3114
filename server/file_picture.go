package server

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"reeve/server/picture"
	"reeve/store"
	"reeve/store/errs"
)

// shrink scales a picture (see picture.Scaler), unless too many are being scaled already.
func (req *Request) shrink(src io.ReadSeeker, width, height int) (data []byte, mediaType string, err error) {
	if err := req.s.limits.pictures.take(1); err != nil {
		return nil, "", err
	}
	defer req.s.limits.pictures.give(1)
	return req.s.images.Scale(req.http.Context(), src, width, height)
}

// thumb makes a small picture of a file, or finds the one that was made before.
func (req *Request) thumb(f *store.File, size string) (*content, error) {
	if f.Kind != store.ImageFile {
		return nil, errNoPicture
	}
	kept, err := req.s.db.Thumb(f.Digest, size)
	if err != nil {
		return nil, err
	}
	if kept == nil {
		if kept, err = req.makeThumb(f, size); err != nil {
			return nil, err
		}
	}
	media, data, _ := bytes.Cut(kept, []byte("\n"))
	return &content{src: bytes.NewReader(data), etag: f.Digest.String() + "-" + size, media: string(media), inline: true}, nil
}

// makeThumb returns the media type, a line break and the picture, and keeps them
// unless the disk is too full for that, or nothing is written any more.
func (req *Request) makeThumb(f *store.File, size string) ([]byte, error) {
	var width, height int
	if _, err := fmt.Sscanf(size, "%dx%d", &width, &height); err != nil {
		return nil, err
	}
	blob, err := req.db.OpenBlob(f.Digest)
	if err != nil {
		return nil, err
	}
	began := time.Now()
	small, media, err := req.shrink(blob, width, height)
	req.mon.imaging += time.Since(began)
	if errs.Is(err, errs.BadMedia) {
		return nil, errNoPicture
	}
	if known := (*errs.Error)(nil); errors.As(err, &known) && known.Fields != nil {
		return nil, errs.Field(errs.Invalid, "thumb", "%s", strings.TrimPrefix(known.Msg, "file: "))
	}
	if err != nil {
		return nil, err
	}
	kept := append([]byte(media+"\n"), small...)
	if err := req.s.db.KeepThumb(f.Digest, size, kept); err != nil && !errs.Is(err, errs.Full) && !errs.Is(err, errs.Busy) {
		return nil, err
	}
	return kept, nil
}

// publishable returns an error for a picture of a type that can hold a place and is
// not cleaned.
func publishable(f *store.File) error {
	media := bareMedia(f)
	if f.Kind != store.ImageFile || picture.CanClean(media) || picture.IsPlain(media) {
		return nil
	}
	return errs.Field(errs.Invalid, "public", "pictures of the type %s can't be public, since the place where they were taken can't be removed; convert it to JPEG, PNG, GIF or WebP", media)
}

func bareMedia(f *store.File) string {
	media, _, _ := strings.Cut(f.MIME, ";")
	return media
}

// cleaned returns the bytes of a public picture as they are sent. The pieces are found
// once, by reading all of it, and kept beside small pictures of the file.
func (req *Request) cleaned(f *store.File, blob *store.Blob) (io.ReadSeeker, error) {
	const name = "public-1" // another number when cleaners change
	kept, err := req.s.db.Thumb(f.Digest, name)
	if err != nil {
		return nil, err
	}
	var pieces []picture.Piece
	if kept == nil {
		if pieces, err = picture.Clean(bareMedia(f), blob, blob.Size()); err != nil {
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
	return picture.Stitch(blob, pieces), nil
}
