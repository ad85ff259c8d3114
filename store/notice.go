package store

// Notice is something that has happened to an account while its user may not have looked.
type Notice struct {
	Kind string `json:"kind" doc:"What has happened: factor_removed, if somebody else has removed the second factor"`
	At   Time   `json:"at"`
}

// maxNotices is the number of notices of a user. Another one replaces the oldest.
const maxNotices = 20

// addNotice tells a user something at the next sign-in.
func addNotice(tx *Tx, user ID, kind string) error {
	_, err := Users.UpdateQuietly(tx, user, func(u *User) error {
		u.Notices = append(u.Notices, Notice{kind, tx.Now()})
		u.Notices = u.Notices[max(0, len(u.Notices)-maxNotices):]
		return nil
	})
	return err
}

// DropNotices removes the notices of a user who has read them, up to the time of the last one.
func DropNotices(tx *Tx, user ID, until Time) error {
	_, err := Users.UpdateQuietly(tx, user, func(u *User) error {
		for len(u.Notices) > 0 && u.Notices[0].At <= until {
			u.Notices = u.Notices[1:]
		}
		return nil
	})
	return err
}
