package files

import (
	"bytes"
	"crypto/rand"

	"reeve/server/web"
	"reeve/store"
	"reeve/store/errs"
)

const (
	MaxAvatarBytes = 2 << 20
	avatarSide     = 256
)

func AvatarRoutes(d *Downloads) []web.Route {
	return []web.Route{
		web.Upload("/admin/avatar", web.SignedIn, "Set your own picture",
			MaxAvatarBytes+web.FormOverhead, d.setAvatar, web.Options{
				Keys: web.ByNoKey,
				Note: "Stores an image as the avatar, scaled down and without metadata.",
			}),
	}
}

type AvatarOut struct {
	AvatarID  store.ID `json:"avatar_id"`
	AvatarURL string   `json:"avatar_url"`
}

// setAvatar scales a picture down, stores it, and makes it the caller's avatar.
func (d *Downloads) setAvatar(req *web.Request, _ *web.None, data []byte) (*AvatarOut, error) {
	if len(data) > MaxAvatarBytes {
		return nil, errs.Field(errs.TooLarge, "file", "must be at most %d MiB", MaxAvatarBytes>>20)
	}
	if err := req.AdmitAgain(); err != nil { // before the expensive decoding
		return nil, err
	}

	small, media, err := d.shrink(req, bytes.NewReader(data), avatarSide, avatarSide)
	if err != nil {
		return nil, err
	}

	up, err := req.DB.NewUpload()
	if err != nil {
		return nil, err
	}

	defer up.Release()
	if _, err := up.Write(small); err != nil {
		return nil, err
	}

	digest, err := up.Finish()
	if err == nil {
		err = up.Send(req.HTTP.Context(), req.Working())
	}
	if err != nil {
		return nil, err
	}

	out := &AvatarOut{}
	return out, req.DB.Update(req.Actor, func(tx *store.Tx) error {
		u, err := store.SetAvatar(tx, req.Actor.ID, &store.Avatar{
			Key:    rand.Text(),
			MIME:   media,
			Digest: digest,
		})
		if err == nil {
			*out = AvatarOut{u.AvatarID, req.Server.URL(web.MediaPath + u.AvatarKey)}
		}
		return err
	})
}
