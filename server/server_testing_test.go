package server_test

import (
	"encoding/json"
	"testing"

	"reeve/server/servertest"
	"reeve/store"
	"reeve/store/disk/disktest"
)

// plantDevice adds a device of the owner with the hash of a token, and returns its ID.
func plantDevice(in *servertest.Instance, hash string) (id store.ID) {
	in.T.Helper()
	in.Update(func(tx *store.Tx) error {
		d, err := store.AddDevice(tx, store.Account{ID: 1}, hash, store.Client{
			Browser: "Firefox 140.0",
			OS:      "Linux",
			IP:      "192.0.2.1",
		})
		if err == nil {
			id = d.ID
		}
		return err
	})
	return id
}

func ident(v any) store.ID {
	var head store.Ident
	b, err := json.Marshal(v)
	if err == nil {
		err = json.Unmarshal(b, &head)
	}
	if err != nil {
		panic(err)
	}
	return head.ID
}

// goodLinks are the links whose tokens are in goodBodies: of the first two users, and of the first
// app user.
var goodLinks = struct{ password, email, appPassword, appEmail servertest.TestLink }{
	servertest.NewTestLink(store.Invitation, false, 2),
	servertest.NewTestLink(store.EmailChange, false, 2),
	servertest.NewTestLink(store.PasswordReset, true, 1),
	servertest.NewTestLink(store.EmailChange, true, 1),
}

func plantGoodLinks(in *servertest.Instance) {
	in.T.Helper()
	in.Plant(goodLinks.password, "")
	in.Plant(goodLinks.email, "clerk@example.net")
	in.Plant(goodLinks.appPassword, "")
	in.Plant(goodLinks.appEmail, "customer@example.net")
}

func invitedTwo(app bool) func(*servertest.Instance) []store.ID {
	return func(in *servertest.Instance) (ids []store.ID) {
		for _, name := range []string{"ann", "ben"} {
			id := store.ID(0)
			if app {
				id = in.AppGuest(name, "")
			} else {
				id = in.Guest(name, "")
			}
			in.Update(func(tx *store.Tx) error {
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

func queuedTwo(in *servertest.Instance) (ids []store.ID) {
	for _, name := range []string{"ann", "ben"} {
		who := store.Account{ID: in.Guest(name, name+"@example.org")}
		in.Update(func(tx *store.Tx) error {
			return store.QueueMail(tx, store.Invitation, who, "", "en")
		})
		in.View(func(tx *store.Tx) error {
			m, err := store.LastMail(tx, store.Invitation, who)
			if err == nil {
				ids = append(ids, m.ID)
			}
			return err
		})
	}
	return ids
}

// newCredential returns the response of a passkey of the owner, or of the app user customer, that is
// accepted now, or a new one.
func newCredential(in *servertest.Instance, app, create bool) string {
	in.T.Helper()
	p := servertest.NewAuthenticator()
	switch {
	case app && create:
		return string(p.Create(in.OK("GET", "/api/user/passkey-options", "", "customer").Options()))
	case app:
		in.AddAppPasskey(p, "customer")
		return string(p.Get(in.OK("GET", "/api/login/passkey", "", "nobody").Options()))
	}
	if create {
		return string(p.Create(in.OK("GET", "/admin/account/passkey-options", "", "owner").Options()))
	}
	in.AddPasskey(p, "", "owner")
	return string(p.Get(in.OK("GET", "/admin/login/passkey", "", "nobody").Options()))
}

// third returns a filter that keeps a random third of the rows of a large table, and all of them
// in CI and in long tests. It is for what a row repeats: something of every route, field and
// setting has to remain. The seed is logged; REEVE_TEST_SEED sets it.
func third(t testing.TB) func() bool {
	t.Helper()
	if servertest.Size(3, 1, 1) == 1 {
		return func() bool { return true }
	}
	random := disktest.Random(t)
	return func() bool { return random.IntN(3) == 0 }
}

var credentials = []servertest.Credential{servertest.BySessionToken, servertest.ByCookie,
	servertest.PersonalKey, servertest.ServiceKey}

// eachCredential runs a test for each kind of credential that users sign in with.
func eachCredential(t *testing.T, test func(t *testing.T, c servertest.Credential)) {
	t.Helper()
	for _, c := range credentials {
		t.Run(string(c), func(t *testing.T) { test(t, c) })
	}
}
