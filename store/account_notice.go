package store

import (
	"slices"
	"time"

	"reeve/store/errs"
)

// Notice is an event of an account that its user may not have seen.
type Notice struct {
	Kind string `json:"kind"`
	At   Time   `json:"at"`

	// Of a sign-in; zero otherwise.
	Browser   string `json:"browser"`
	OS        string `json:"os"`
	IP        string `json:"ip"`
	Provider  string `json:"provider_name"` // title; "" for none
	SessionID ID     `json:"session_id"`
	DeviceID  ID     `json:"device_id"`

	// User who impersonates the user, and why; zero otherwise.
	ByID   ID     `json:"by_id"`
	Reason string `json:"reason"`
}

// Kinds of notices, besides FactorRemoved: sign-ins on a device, or from a network, on which the
// user has not been before.
const (
	NewDevice  = "new_device"
	NewNetwork = "new_network"
)

// Limits of notices of a user. Beyond them, a new notice replaces the oldest one; that of a sign-in
// replaces the newest one of a sign-in.
const (
	maxNotices       = 20
	maxSignInNotices = 10 // so that sign-ins can't push out the others
	maxActedNotices  = 5  // so that administrators can't either
	maxSignInMails   = 5  // in an hour, and waiting

	signInNoticeLife = 30 * 24 * time.Hour
)

func (n *Notice) isSignIn() bool { return n.Kind == NewDevice || n.Kind == NewNetwork }

// ended reports whether a notice has been shown for long enough.
func (n *Notice) ended(now Time) bool { return n.isSignIn() && n.At.Add(signInNoticeLife) < now }

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

// ShownNotice is a notice for a session.
type ShownNotice struct {
	*Notice
	Dismissible bool // whether DropNotices removes it
}

// NoticesFor returns the notices of a user that are for a session: not that of its own sign-in, nor
// those of others on its device, if that is new.
func NoticesFor(tx *Tx, u *User, session, device ID) (shown []ShownNotice, err error) {
	older, err := u.isOlder(tx, session, device)
	for i := range u.Notices {
		n := &u.Notices[i]
		hidden := n.isSignIn() &&
			(n.SessionID == session || n.Kind == NewDevice && n.DeviceID == device)
		if !hidden && !n.ended(tx.Now()) {
			shown = append(shown, ShownNotice{n, older || !n.isSignIn()})
		}
	}
	return shown, err
}

// isOlder reports whether a session or its device is older than all sign-ins of which the user has
// notices. Only then may the session dismiss them: an attacker with the password could otherwise do
// so with another sign-in.
func (u *User) isOlder(tx *Tx, session, device ID) (bool, error) {
	first := slices.IndexFunc(u.Notices, func(n Notice) bool {
		return n.isSignIn() && !n.ended(tx.Now())
	})
	switch {
	case first < 0 || session < u.Notices[first].SessionID:
		return true, nil
	case device == 0:
		return false, nil
	}
	d, err := Devices.Get(tx, device)
	if err != nil {
		return false, ignoreMissing(err)
	}
	return d.CreatedAt < u.Notices[first].At, nil
}

// addNotice adds a notice for the next sign-in of a user.
func addNotice(tx *Tx, user ID, n Notice) error {
	_, err := Users.UpdateQuietly(tx, user, func(u *User) error {
		all := slices.DeleteFunc(slices.Clone(u.Notices), func(n Notice) bool {
			return n.ended(tx.Now())
		})
		most, alike := n.limit()
		for like := indexes(all, alike); len(like) >= most; like = indexes(all, alike) {
			one := like[0]
			if n.isSignIn() { // further sign-ins must not push the first ones out
				one = like[len(like)-1]
			}
			all = slices.Delete(all, one, one+1)
		}
		all = append(all, n)
		u.Notices = all[max(0, len(all)-maxNotices):]
		return nil
	})
	return err
}

// indexes returns the indexes of the notices that are alike.
func indexes(all []Notice, alike func(Notice) bool) (like []int) {
	for i, n := range all {
		if alike(n) {
			like = append(like, i)
		}
	}
	return like
}

// TellSignIn tells a user of a sign-in, in the console and by mail. language is that of the mail if
// there was none before.
func TellSignIn(tx *Tx, user ID, n Notice, language string) error {
	n.At = tx.Now()
	if err := addNotice(tx, user, n); err != nil || !MailEnabled.Get(tx) {
		return err
	}

	u, err := Users.Get(tx, user)
	if err != nil || u.Email == "" {
		return err
	}

	mails, err := mailsOf(tx, Account{ID: user})
	if err != nil {
		return err
	}

	recent := slices.DeleteFunc(mails, func(m *Mail) bool {
		return m.Purpose != SignInUnknown ||
			m.State != MailQueued && m.CreatedAt.Add(time.Hour) < tx.Now()
	})
	if len(recent) >= maxSignInMails {
		return nil
	}

	return tryNotice(tx, SignInUnknown, Account{ID: user}, language)
}

// tryNotice queues a mail with the content of a notice, unless the queue is full.
func tryNotice(tx *Tx, purpose string, who Account, language string) error {
	err := queueNotice(tx, purpose, who, "", language)
	if errs.Is(err, errs.Busy) {
		return nil
	}
	return err
}

// SignInNotice returns the notice of a sign-in that a mail is about, which was added in the same
// transaction; nil if the user has dismissed it.
func (u *User) SignInNotice(m *Mail) *Notice {
	i := slices.IndexFunc(u.Notices, func(n Notice) bool {
		return n.isSignIn() && n.At == m.CreatedAt
	})
	if i < 0 {
		return nil
	}
	return &u.Notices[i]
}

// DropNotices removes the notices of a user who has read them in a session, up to the time of the
// last one.
func DropNotices(tx *Tx, user ID, until Time, session, device ID) error {
	_, err := Users.UpdateQuietly(tx, user, func(u *User) error {
		older, err := u.isOlder(tx, session, device)
		u.Notices = slices.DeleteFunc(slices.Clone(u.Notices), func(n Notice) bool {
			return n.At <= until && (older || !n.isSignIn())
		})
		return err
	})
	return err
}
