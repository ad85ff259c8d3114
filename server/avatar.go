package server

import (
	"bytes"
	"crypto/rand"

	"reeve/store"
	"reeve/store/errs"
)

const (
	maxAvatarBytes = 2 << 20
	avatarSide     = 256
)

var avatarRoutes = []Route{
	bySession(upload("/admin/avatar", signedIn, "Set your own picture", maxAvatarBytes+formOverhead, setAvatar)),
}

type avatarOut struct {
	AvatarID  store.ID `json:"avatar_id"`
	AvatarURL string   `json:"avatar_url"`
}

// setAvatar scales a picture down, stores it, and makes it the caller's avatar.
func setAvatar(req *Request, _ *none, data []byte) (*avatarOut, error) {
	if len(data) > maxAvatarBytes {
		return nil, errs.Field(errs.TooLarge, "file", "must be at most %d MiB", maxAvatarBytes>>20)
	}
	if err := req.admitAgain(); err != nil { // before the expensive decoding
		return nil, err
	}
	small, media, err := req.shrink(bytes.NewReader(data), avatarSide, avatarSide)
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
			*out = avatarOut{u.AvatarID, req.s.url(mediaPath + u.AvatarKey)}
		}
		return err
	})
}
