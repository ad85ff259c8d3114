package store

import (
	"reeve/store/blob"
	"reeve/store/kv"
)

// Avatar is the photo of a user, scaled down.
type Avatar struct {
	Ident
	UserID ID          `json:"user_id"`
	Key    string      `json:"key" log:"secret"` // key in its public URL
	MIME   string      `json:"mime"`
	Digest blob.Digest `json:"digest"`
	kv.Timestamps
}

// Avatars and their indexes.
var (
	Avatars        = kv.NewCollection[Avatar]("avatar")
	AvatarByUser   = refToUser(Avatars, func(a *Avatar) ID { return a.UserID }, kv.Cascade)
	AvatarByKey    = kv.NewUnique(Avatars, "key", func(a *Avatar) string { return a.Key })
	AvatarByDigest = kv.NewEach(Avatars, "digest", func(a *Avatar) string {
		return a.Digest.String()
	})

	_ = Avatars.Content(func(a *Avatar) blob.Digest { return a.Digest }, nil, AvatarByDigest)
)

var _ = manage(Access{Table: Avatars, Query: "admin.list.query"})

// ForgetMissingAvatar removes the photo of a user from the record if it no longer exists.
func ForgetMissingAvatar(tx *Tx, user ID) error {
	u, err := Users.Get(tx, user)
	if err != nil || u.AvatarID == 0 || Avatars.Exists(tx, u.AvatarID) {
		return ignoreMissing(err)
	}
	_, err = Users.UpdateQuietly(tx, user, func(u *User) error {
		u.AvatarID, u.AvatarKey = 0, ""
		return nil
	})
	return err
}

// SetAvatar stores the photo of a user and deletes the previous one.
func SetAvatar(tx *Tx, user ID, a *Avatar) (*User, error) {
	before, err := AvatarByUser.IDs(tx, user)
	if err != nil {
		return nil, err
	}

	a.UserID = user
	if err := Avatars.Create(tx, a); err != nil {
		return nil, err
	}

	u, err := Users.Update(tx, user, func(u *User) error {
		u.AvatarID, u.AvatarKey = a.ID, a.Key
		return nil
	})
	for _, id := range before {
		if err == nil {
			err = Avatars.Delete(tx, id)
		}
	}

	return u, err
}
