package files

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"reeve/server/picture"
	"reeve/server/web"
	"reeve/store"
	"reeve/store/blob"
	"reeve/store/errs"
)

// shrink scales a picture (see picture.Scaler), unless too many are being scaled already.
func (d *Downloads) shrink(req *web.Request, src io.ReadSeeker,
	width, height int) (data []byte, mediaType string, err error) {
	if err := req.Server.Limits.Pictures.Acquire(1); err != nil {
		return nil, "", err
	}
	defer req.Server.Limits.Pictures.Release(1)
	return d.Images.Scale(req.HTTP.Context(), src, width, height)
}

// thumb returns the thumbnail of a file, and makes it if it is not stored yet.
func (d *Downloads) thumb(req *web.Request, f *store.File, size string) (*content, error) {
	if f.Kind != store.ImageFile {
		return nil, errNoThumbnail
	}

	kept, err := req.DB.Thumb(f.Digest, size)
	if err != nil {
		return nil, err
	}
	if kept == nil {
		if kept, err = d.makeThumb(req, f, size); err != nil {
			return nil, err
		}
	}
	if err := req.HoldAnswer(len(kept)); err != nil {
		return nil, err
	}

	media, data, _ := bytes.Cut(kept, []byte("\n"))
	return &content{
		src:    bytes.NewReader(data),
		etag:   f.Digest.String() + "-" + size,
		media:  string(media),
		inline: true,
	}, nil
}

// makeThumb returns the media type, a line break and the thumbnail, and stores them. The
// thumbnail is returned even if the disk is too full to store it or writing has stopped.
func (d *Downloads) makeThumb(req *web.Request, f *store.File, size string) ([]byte, error) {
	var width, height int
	if _, err := fmt.Sscanf(size, "%dx%d", &width, &height); err != nil {
		return nil, err
	}

	blob, err := req.DB.OpenBlob(f.Digest)
	if err != nil {
		return nil, err
	}

	began := time.Now()
	small, media, err := d.shrink(req, blob, width, height)
	req.Observed.Imaging += time.Since(began)
	if errs.Is(err, errs.BadMedia) {
		return nil, errNoThumbnail
	}
	if known := (*errs.Error)(nil); errors.As(err, &known) && known.Fields != nil {
		return nil, errs.Field(errs.Invalid, "thumb", "%s", known)
	}
	if err != nil {
		return nil, err
	}

	kept := append([]byte(media+"\n"), small...)
	if err := req.DB.SaveThumb(f.Digest, size, kept); err != nil && !errs.Is(err, errs.Full) &&
		!errs.Is(err, errs.Busy) {
		return nil, err
	}

	return kept, nil
}

// publishable returns an error for a picture whose type can hold the place where it was
// taken and cannot be cleaned of it.
func publishable(f *store.File) error {
	media := bareMedia(f)
	raw := f.Kind == store.VideoFile && f.Ext == "cr3" // an older version took it for a video
	if !raw && f.Kind != store.ImageFile || picture.CanClean(media) || picture.IsPlain(media) ||
		media == "image/svg+xml" {
		return nil
	}
	return errs.Field(errs.Invalid, "public",
		"images of the type %s can't be public, because their location data can't be removed; convert the file to JPEG, PNG, GIF or WebP", media)
}

// keepsMetadata reports whether the public URL of a file sends its content unchanged, with all
// metadata that it may contain.
func keepsMetadata(f *store.File) bool {
	media := bareMedia(f)
	return !picture.CanClean(media) && !picture.IsPlain(media)
}

func bareMedia(f *store.File) string {
	media, _, _ := strings.Cut(f.MIME, ";")
	return media
}

// cleaned returns the content of a public picture without metadata. The pieces to send are
// found once, by reading the whole picture, and stored beside the thumbnails of the file.
func cleaned(req *web.Request, f *store.File,
	whole *blob.Reader) (io.ReadSeeker, error) {
	const name = "public-1" // change the number when a cleaner changes
	kept, err := req.DB.Thumb(f.Digest, name)
	if err != nil {
		return nil, err
	}

	var pieces []picture.Piece
	if kept == nil {
		if pieces, err = picture.Clean(bareMedia(f), whole, whole.Size()); err != nil {
			return nil, err
		}
		text, err := json.Marshal(pieces)
		if err != nil {
			return nil, err
		}
		if err := req.DB.SaveThumb(f.Digest, name, text); err != nil && !errs.Is(err, errs.Full) &&
			!errs.Is(err, errs.Busy) {
			return nil, err
		}
	} else if err := json.Unmarshal(kept, &pieces); err != nil {
		return nil, err
	}

	return picture.Stitch(whole, pieces), nil
}
