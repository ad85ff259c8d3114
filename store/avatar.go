package store

// Avatar is the picture of a user, made smaller.
type Avatar struct {
	Ident
	UserID ID     `json:"user_id"`
	Key    string `json:"key"` // of its public address
	MIME   string `json:"mime"`
	Digest Digest `json:"digest"`
	Stamps
}

// Avatars and their indexes.
var (
	Avatars        = NewCollection[Avatar]("avatar")
	AvatarByUser   = NewRef(Avatars, "user_id", Users, func(a *Avatar) ID { return a.UserID }, Owned)
	AvatarByKey    = NewUnique(Avatars, "key", func(a *Avatar) string { return a.Key })
	AvatarByDigest = NewMany(Avatars, "digest", func(a *Avatar) []string { return []string{a.Digest.String()} })

	_ = Avatars.Rule(func(tx *Tx, old, new *Avatar) error {
		if old != nil {
			tx.changes.release(old.Digest)
		}
		return nil
	})
)

// SetAvatar gives a user a picture in the place of the one before.
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
