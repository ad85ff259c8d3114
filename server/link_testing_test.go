package server

import (
	"testing"
	"time"

	"reeve/auth"
	"reeve/server/mails"
	"reeve/store"
)

// testLink is a one-time link with a token that tests know.
type testLink struct {
	purpose     string
	who         store.Account
	token, hash string
}

func newTestLink(purpose string, app bool, id store.ID) testLink {
	l := testLink{purpose: purpose, who: store.Account{App: app, ID: id}}
	l.token, l.hash = auth.NewLink()
	return l
}

// goodLinks are the links whose tokens are in goodBodies: of the first two users, and of the first app
// user.
var goodLinks = struct{ password, email, appPassword, appEmail testLink }{
	newTestLink(store.Invitation, false, 2), newTestLink(store.EmailChange, false, 2),
	newTestLink(store.PasswordReset, true, 1), newTestLink(store.EmailChange, true, 1),
}

// plant stores a link for a mail address; "" for a copy that the owner got.
func (in *instance) plant(l testLink, email string) {
	in.t.Helper()
	in.update(func(tx *store.Tx) error {
		token := store.LinkToken{Hash: l.hash, Email: email, ExpiresAt: tx.Now().Add(time.Hour)}
		if email == "" {
			token.CreatedBy = auth.FirstUser
		}
		link := &store.Link{Purpose: l.purpose, Tokens: []store.LinkToken{token}, ExpiresAt: token.ExpiresAt}
		if l.purpose == store.EmailChange || l.purpose == store.EmailVerification {
			link.Email = email
		}
		if l.who.App {
			link.AppUserID = l.who.ID
		} else {
			link.UserID = l.who.ID
		}
		return store.Links.Create(tx, link)
	})
}

func (in *instance) plantGoodLinks() {
	in.t.Helper()
	in.plant(goodLinks.password, "")
	in.plant(goodLinks.email, "clerk@example.net")
	in.plant(goodLinks.appPassword, "")
	in.plant(goodLinks.appEmail, "customer@example.net")
}

// mailed turns mail on, with a server that does not exist.
const mailSettings = `{"values":{"mail.enabled":1,"mail.host":"127.0.0.1","mail.port":1,"mail.security":"none","mail.from":"reeve@example.org"}}`

func (in *instance) turnMailOn() {
	in.t.Helper()
	in.ok("PUT", "/system/setting", mailSettings, "owner")
}

// guest creates a user without a password.
func (in *instance) guest(name, email string) store.ID {
	in.t.Helper()
	u := &store.User{Username: name, Email: email, Status: true}
	in.update(func(tx *store.Tx) error { u.ID = 0; return store.Users.Create(tx, u) })
	return u.ID
}

// appGuest creates an app user without a password.
func (in *instance) appGuest(name, email string) store.ID {
	in.t.Helper()
	u := &store.AppUser{Username: name, Email: email, Status: true}
	in.update(func(tx *store.Tx) error { u.ID = 0; return store.AppUsers.Create(tx, u) })
	return u.ID
}

func invitedTwo(app bool) func(*instance) []store.ID {
	return func(in *instance) (ids []store.ID) {
		for _, name := range []string{"ann", "ben"} {
			id := store.ID(0)
			if app {
				id = in.appGuest(name, "")
			} else {
				id = in.guest(name, "")
			}
			in.update(func(tx *store.Tx) error {
				l, err := store.Invite(tx, store.Account{App: app, ID: id})
				if err == nil {
					ids = append(ids, l.ID)
				}
				return err
			})
		}
		return ids
	}
}

func queuedTwo(in *instance) (ids []store.ID) {
	for _, name := range []string{"ann", "ben"} {
		who := store.Account{ID: in.guest(name, name+"@example.org")}
		in.update(func(tx *store.Tx) error { return store.QueueMail(tx, store.Invitation, who, "", "en") })
		in.view(func(tx *store.Tx) error {
			m, err := store.LastMail(tx, store.Invitation, who)
			if err == nil {
				ids = append(ids, m.ID)
			}
			return err
		})
	}
	return ids
}

// tokenIn returns the token of a link.
func tokenIn(t testing.TB, url string) string {
	t.Helper()
	const path = "https://reeve.example.org" + mails.LinkPath
	if len(url) <= len(path) || url[:len(path)] != path {
		t.Fatalf("the link is %q", url)
	}
	return url[len(path):]
}
