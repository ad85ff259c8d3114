package store

import (
	"slices"
	"time"

	"reeve/store/errs"
)

// Notice is something that has happened to an account while its user may not have looked.
type Notice struct {
	Kind string `json:"kind"`
	At   Time   `json:"at"`

	// Of a sign-in; zero otherwise.
	Browser   string `json:"browser"`
	OS        string `json:"os"`
	IP        string `json:"ip"`
	SessionID ID     `json:"session_id"`
	DeviceID  ID     `json:"device_id"`

	// Of somebody who acts as the user; zero otherwise.
	ByID   ID     `json:"by_id"`
	Reason string `json:"reason"`
}

// Kinds of notices, besides FactorRemoved: sign-ins on a device, or from a network, on which the user has not been before.
const (
	NewDevice  = "new_device"
	NewNetwork = "new_network"
)

// Limits of notices of a user. Another one replaces the oldest.
const (
	maxNotices       = 20
	maxSignInNotices = 10 // so that sign-ins can't push out the others
	maxActedNotices  = 5  // so that administrators can't either
	maxSignInMails   = 5  // in an hour

	signInNoticeLife = 30 * 24 * time.Hour
)

func (n *Notice) isSignIn() bool { return n.Kind == NewDevice || n.Kind == NewNetwork }

// limit returns how many notices like this one a user can have, and which are like it.
func (n *Notice) limit() (most int, alike func(Notice) bool) {
	switch {
	case n.isSignIn():
		return maxSignInNotices, func(n Notice) bool { return n.isSignIn() }
	case n.Kind == ActedAs:
		return maxActedNotices, func(n Notice) bool { return n.Kind == ActedAs }
	}
	return maxNotices, func(Notice) bool { return true }
}

// HiddenFrom reports whether a notice is not for a session: that of the sign-in itself, or another one on a device that
// is new.
func (n *Notice) HiddenFrom(session, device ID) bool {
	return n.isSignIn() && (n.SessionID == session || n.Kind == NewDevice && n.DeviceID == device)
}

// mayDismiss reports whether a session may dismiss a notice. One of a sign-in can be dismissed in sessions and on devices
// that are older: otherwise somebody who has got hold of the password could do that with a second sign-in.
func mayDismiss(tx *Tx, n *Notice, session, device ID) (bool, error) {
	switch {
	case !n.isSignIn(), session < n.SessionID:
		return true, nil
	case session == n.SessionID, device == 0:
		return false, nil
	}
	d, err := Devices.Get(tx, device)
	if err != nil {
		return false, ignoreMissing(err)
	}
	return d.CreatedAt < n.At, nil
}

// addNotice tells a user something at the next sign-in.
func addNotice(tx *Tx, user ID, n Notice) error {
	_, err := Users.UpdateQuietly(tx, user, func(u *User) error {
		all := slices.DeleteFunc(slices.Clone(u.Notices), func(n Notice) bool { return n.isSignIn() && n.At.Add(signInNoticeLife) < tx.Now() })
		most, alike := n.limit()
		for count(all, alike) >= most {
			oldest := slices.IndexFunc(all, alike)
			all = slices.Delete(all, oldest, oldest+1)
		}
		all = append(all, n)
		u.Notices = all[max(0, len(all)-maxNotices):]
		return nil
	})
	return err
}

func count(all []Notice, alike func(Notice) bool) (n int) {
	for _, one := range all {
		if alike(one) {
			n++
		}
	}
	return n
}

// TellSignIn tells a user of a sign-in, in the console and by mail. language is that of the mail if there was none before.
func TellSignIn(tx *Tx, user ID, n Notice, language string) error {
	n.At = tx.Now()
	if err := addNotice(tx, user, n); err != nil || !MailEnabled.Get(tx) {
		return err
	}
	u, err := Users.Get(tx, user)
	if err != nil || u.Email == "" {
		return err
	}
	recent := 0
	for i := range u.Notices {
		if old := &u.Notices[i]; old.isSignIn() && old.At.Add(time.Hour) > tx.Now() {
			recent++
		}
	}
	if recent > maxSignInMails {
		return nil
	}
	return tryNotice(tx, SignInUnknown, Account{ID: user}, language)
}

// tryNotice queues a mail about something that a notice tells, too, unless the queue is full.
func tryNotice(tx *Tx, purpose string, who Account, language string) error {
	err := queueNotice(tx, purpose, who, "", language)
	if errs.Is(err, errs.Busy) {
		return nil
	}
	return err
}

// LastSignInNotice returns the newest notice of a sign-in; nil if the user has seen all.
func (u *User) LastSignInNotice() *Notice {
	for i := len(u.Notices) - 1; i >= 0; i-- {
		if u.Notices[i].isSignIn() {
			return &u.Notices[i]
		}
	}
	return nil
}

// DropNotices removes the notices of a user who has read them in a session, up to the time of the last one.
func DropNotices(tx *Tx, user ID, until Time, session, device ID) error {
	_, err := Users.UpdateQuietly(tx, user, func(u *User) (err error) {
		u.Notices = slices.DeleteFunc(slices.Clone(u.Notices), func(n Notice) bool {
			may := false
			if err == nil && n.At <= until {
				may, err = mayDismiss(tx, &n, session, device)
			}
			return may
		})
		return err
	})
	return err
}
