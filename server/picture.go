package server

import (
	"bytes"
	"crypto/rand"
	"errors"
	"fmt"
	"strings"
	"time"

	"reeve/store"
	"reeve/store/errs"
)

const (
	maxAvatarBytes = 2 << 20
	avatarSide     = 256
)

var avatarRoutes = []Route{
	upload("/admin/avatar", signedIn, "Set your own picture", maxAvatarBytes+formOverhead, setAvatar),
}

type avatarOut struct {
	AvatarID  store.ID `json:"avatar_id"`
	AvatarURL string   `json:"avatar_url"`
}

// setAvatar makes the caller's picture small, stores it, and then lets the user
// refer to it.
func setAvatar(req *Request, _ *none, data []byte) (*avatarOut, error) {
	if len(data) > maxAvatarBytes {
		return nil, errs.Field(errs.TooLarge, "file", "has more than %d MiB", maxAvatarBytes>>20)
	}
	if err := req.admitAgain(); err != nil { // before the work of decoding
		return nil, err
	}
	small, media, err := req.s.images.shrink(req.http.Context(), bytes.NewReader(data), avatarSide, avatarSide)
	if err != nil {
		return nil, err
	}
	up, err := req.db.NewUpload()
	if err != nil {
		return nil, err
	}
	defer up.Release()
	if _, err := up.Write(small); err != nil {
		return nil, err
	}
	digest, err := up.Finish()
	if err != nil {
		return nil, err
	}
	out := &avatarOut{}
	return out, req.db.Update(req.Actor, func(tx *store.Tx) error {
		u, err := store.SetAvatar(tx, req.Actor.ID, &store.Avatar{Key: rand.Text(), MIME: media, Digest: digest})
		if err == nil {
			*out = avatarOut{u.AvatarID, mediaURL(u.AvatarKey)}
		}
		return err
	})
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
	small, media, err := req.s.images.shrink(req.http.Context(), blob, width, height)
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
