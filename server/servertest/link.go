package servertest

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"reeve/auth"
	"reeve/server"
	"reeve/server/mails"
	"reeve/server/openapi"
	"reeve/server/people"
	"reeve/store"
)

// TestLink is a one-time link with a token that tests know.
type TestLink struct {
	purpose     string
	Who         store.Account
	Token, Hash string
}

// NewTestLink returns a link of a purpose for a user, with its token.
func NewTestLink(purpose string, app bool, id store.ID) TestLink {
	l := TestLink{purpose: purpose, Who: store.Account{App: app, ID: id}}
	l.Token, l.Hash = auth.NewLink()
	return l
}

// Plant stores a link for a mail address; "" for a copy that the owner got.
func (in *Instance) Plant(l TestLink, email string) {
	in.T.Helper()
	in.Update(func(tx *store.Tx) error {
		token := store.LinkToken{Hash: l.Hash, Email: email, ExpiresAt: tx.Now().Add(time.Hour)}
		if email == "" {
			token.CreatedBy = auth.FirstUser
		}

		link := &store.Link{
			Purpose:   l.purpose,
			Tokens:    []store.LinkToken{token},
			ExpiresAt: token.ExpiresAt,
		}
		if l.purpose == store.EmailChange || l.purpose == store.EmailVerification {
			link.Email = email
		}
		if l.Who.App {
			link.AppUserID = l.Who.ID
		} else {
			link.UserID = l.Who.ID
		}

		return store.Links.Create(tx, link)
	})
}

// mailed turns mail on, with a server that does not exist.
const MailSettings = `{"values":{"mail.enabled":1,"mail.host":"127.0.0.1","mail.port":1,"mail.security":"none","mail.from":"reeve@example.org"}}`

// TurnMailOn configures mail, which nothing delivers.
func (in *Instance) TurnMailOn() {
	in.T.Helper()
	in.OK("PUT", "/system/setting", MailSettings, "owner")
}

// Guest creates a user without a password.
func (in *Instance) Guest(name, email string) store.ID {
	in.T.Helper()
	u := &store.User{Username: name, Email: email, Status: true}
	in.Update(func(tx *store.Tx) error { u.ID = 0; return store.Users.Create(tx, u) })
	return u.ID
}

// AppGuest creates an app user without a password.
func (in *Instance) AppGuest(name, email string) store.ID {
	in.T.Helper()
	u := &store.AppUser{Username: name, Email: email, Status: true}
	in.Update(func(tx *store.Tx) error { u.ID = 0; return store.AppUsers.Create(tx, u) })
	return u.ID
}

// TokenIn returns the token of a link.
func TokenIn(t testing.TB, url string) string {
	t.Helper()
	const path = "https://reeve.example.org" + mails.LinkPath
	if len(url) <= len(path) || url[:len(path)] != path {
		t.Fatalf("the link is %q", url)
	}
	return url[len(path):]
}

// UseLink sets a password with a link, from an address.
func (in *Instance) UseLink(path, token, password, ip string) *Reply {
	in.T.Helper()
	r := in.Request("POST", path,
		string(EncodeJSON(in.T, openapi.Object{"token": token, "password": password})), "nobody")
	r.RemoteAddr = ip + ":1234"
	return in.Send(r)
}

// LinkFor returns the token of a new copy of an invitation.
func (in *Instance) LinkFor(id store.ID, as string) string {
	in.T.Helper()
	var out people.OneTimeLink
	in.OK("POST", fmt.Sprintf("/admin/list/%d/invite", id), `{}`, as).Data(&out)
	return TokenIn(in.T, out.URL)
}

// Restored returns an instance whose data is that of a backup of this one, without secret.key.
func (in *Instance) Restored() *Instance { return in.RestoredIn(in.T.TempDir()) }

// RestoredIn restores a backup in a directory, which may have a secret.key, and opens it.
func (in *Instance) RestoredIn(dir string) *Instance {
	in.T.Helper()
	file := filepath.Join(in.T.TempDir(), "backup.tar")
	Must(in.T, os.WriteFile(file, []byte(in.OK("GET", "/system/backup", "", "owner").Body), 0o600))
	_, err := store.Restore(dir, file, nil, store.Options{Version: "test", Keys: server.Keys()})
	Must(in.T, err)
	other := Open(in.T, dir)
	other.Enter("owner", "admin", OwnerPassword)
	return other
}
