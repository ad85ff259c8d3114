package people_test

import (
	"fmt"
	"strings"
	"testing"

	"reeve/server/changes"
	"reeve/server/openapi"
	"reeve/server/people"
	"reeve/server/servertest"
	"reeve/store"
	"reeve/store/kv"
)

// laravelHash is the hash that Laravel's user factory has for "password"; ryHash the one that RuoYi
// has for "admin123".
const (
	laravelHash = "$2y$10$92IXUNpkjO0rOQ5byMi.Ye4oKoEa3Ro9llC/.og/at2.uheWG/igi"
	ryHash      = "$2a$10$7JB720yubVSZvUI0rEqK/.VqGOZTH.ulu33dHOiBE8ByOhJIrdAu2"
	springHash  = `"{argon2}$argon2id$v=19$m=256,t=2,p=1$c29tZXNhbHQ$nf65EOgLrQMR/uIPnA4rEsF5h7TKyQwu9U1bMCHGi/4"` // of "password", as a cell
)

// importRealms are the realms of users with their imports.
var importRealms = map[string]struct {
	app                               bool
	path, signIn, importing, password string
}{
	"users":     {false, "/admin/list", "/admin/login", "admin.list.import", "admin.list.password"},
	"app users": {true, "/user/list", "/api/login", "user.list.import", "user.list.password"},
}

// hashOf returns the stored hash of the user with a name; "" for none.
func hashOf(in *servertest.Instance, app bool, name string) (hash string) {
	in.T.Helper()
	in.View(func(tx *store.Tx) error {
		who, err := accountNamed(tx, app, name)
		if err != nil {
			return err
		}
		if h, err := store.HashOf(tx, who); err == nil {
			hash = h.Hash
		}
		return nil
	})
	return hash
}

func accountNamed(tx *store.Tx, app bool, name string) (store.Account, error) {
	if app {
		u, err := store.AppUserByName.Get(tx, name)
		if err != nil {
			return store.Account{}, err
		}
		return store.Account{App: true, ID: u.ID}, nil
	}
	u, err := store.UserByName.Get(tx, name)
	if err != nil {
		return store.Account{}, err
	}
	return store.Account{ID: u.ID}, nil
}

// Imported users sign in with the password that they had, in both realms.
func TestImportedHash_Login(t *testing.T) {
	t.Parallel()
	for name, c := range importRealms {
		t.Run(name, func(t *testing.T) {
			in := servertest.Start(t)
			file := "password_hash,username\n" + laravelHash + ",Ann\n" + springHash + ",bert\n,none\n"
			before := in.Dump()
			in.Upload(c.path+"-import?dry_run=1", file, "owner").Brief(200,
				`"created":0,"failed":0`)
			in.Unchanged(before)
			in.Upload(c.path+"-import", file, "owner").Brief(200, `"created":3,"failed":0`)
			if hashOf(in, c.app, "ann") != store.ImportedHash+laravelHash ||
				hashOf(in, c.app, "none") != "" {
				t.Errorf("%q, %q", hashOf(in, c.app, "ann"), hashOf(in, c.app, "none"))
			}

			signIn := func(name, password string) *servertest.Reply {
				return in.Call("POST", c.signIn,
					string(servertest.EncodeJSON(t, openapi.Object{
						"username": name,
						"password": password,
					})), "nobody")
			}
			signIn("ann", "Password").Brief(401, "wrong_credentials")
			signIn("ann", laravelHash).Brief(401, "wrong_credentials")
			signIn("none", "password").Brief(401, "wrong_credentials")
			for _, name := range []string{"ann", "bert"} {
				signIn(name, "password").Brief(200, `"must_change_password":0`)
				if own := hashOf(in, c.app, name); !strings.HasPrefix(own, "$2a$") {
					t.Errorf("after the first sign-in: %s", own)
				}
				signIn(name, "password").Brief(200)
			}
		})
	}
}

// TestImportedHash_NeedsPasswordPermission checks that the caller needs the permission to set
// passwords, even when the job runs later.
func TestImportedHash_NeedsPasswordPermission(t *testing.T) {
	t.Parallel()
	for name, c := range importRealms {
		t.Run(name, func(t *testing.T) {
			in := servertest.Start(t)
			in.Clerk("importer", c.importing)
			both := in.Clerk("both", c.importing, c.password)
			file := "username,password_hash\nann," + laravelHash + "\n"
			before := in.Dump()
			for _, query := range []string{"", "?dry_run=1"} {
				in.Upload(c.path+"-import"+query, file, "importer").Brief(403, c.password)
				in.Upload(c.path+"-import"+query, "username,password_hash\nann,\n", "importer").Brief(403, c.password)
			}

			in.Unchanged(before)
			in.Upload(c.path+"-import?dry_run=1", "username\nann\n", "importer").Brief(200)
			in.Upload(c.path+"-import?dry_run=1", file, "both").Brief(200, `"failed":0`)
			a := in.HeldUpload(c.path+"-import", file, "both", func() {
				in.OK("PUT", fmt.Sprintf("/admin/role/%d/rule", both.RoleIDs[0]),
					fmt.Sprintf(`{"rule_ids":[%d]}`, in.Permission(c.importing)), "owner")
			})
			a.Brief(409, "job_failed", c.password)
			in.Lists(c.path+"?keywordSearch=ann", "username", "owner")
			in.OK("PUT", fmt.Sprintf("/admin/role/%d/rule", both.RoleIDs[0]),
				fmt.Sprintf(`{"rule_ids":[%d,%d]}`, in.Permission(c.importing),
					in.Permission(c.password)), "owner")
			in.Upload(c.path+"-import", file, "both").Brief(200, `"created":1`)
		})
	}
}

// The owner role accepts no imported hash.
func TestImportedHash_RefusedForOwner(t *testing.T) {
	t.Parallel()
	in := servertest.WithOffice(t, nil)
	file := "username,roles,password_hash\nann,Plain," + laravelHash + "\nboss,plain;Owner," + ryHash + "\n"
	before := in.Dump()
	_, failed, rows := in.Imported(file)
	if failed != 1 || !rows[0].OK || rows[1].Errors["password_hash"] == "" ||
		len(rows[1].Errors) != 1 {
		t.Errorf("%+v", rows)
	}

	in.Upload("/admin/list-import", file, "owner").Names(422, "line 3 password_hash")
	in.Unchanged(before)
	in.Upload("/admin/list-import", strings.Replace(file, ryHash, "", 1), "owner").Brief(200,
		`"created":2`)
	var ann store.Account
	in.View(func(tx *store.Tx) (err error) {
		ann, err = accountNamed(tx, false, "ann")
		return err
	})
	promote := func() *servertest.Reply {
		return in.Call("PUT", fmt.Sprintf("/admin/list/%d", ann.ID), `{"role_ids":[1]}`, "owner")
	}
	promote().Names(409, "role_ids")
	in.Login("ann", "password").Brief(200)
	promote().Brief(200)
}

func TestImportedHash_Faults(t *testing.T) {
	t.Parallel()
	in := servertest.Start(t)
	const secret = "92IXUNpkjO0rOQ5byMi"
	for cell, want := range map[string]string{
		strings.Replace(laravelHash, "$10$", "$15$", 1): "bcrypt cost is 15, and must be 4 to 14",
		strings.Replace(laravelHash, "$10$", "$31$", 1): "bcrypt cost is 31",
		laravelHash[:50]:  "not a well-formed hash of bcrypt",
		secret:            "in a known form",
		"{noop}" + secret: "in a known form",
		`"$argon2id$v=19$m=65537,t=1,p=1$` + secret + "$" + secret + `"`: "argon2 m (KiB) is 65537, and must be 8 to 65536",
		"'" + laravelHash:                       "in a known form",
		laravelHash + strings.Repeat("x", 7000): "at most 512 bytes",
	} {
		for _, c := range importRealms {
			a := in.Upload(c.path+"-import", "username,password_hash\nann,"+cell+"\n", "owner")
			if fault := a.Envelope().Errors["line 2 password_hash"]; a.Code != 422 ||
				!strings.Contains(fault, want) || strings.Contains(a.Body, secret) {
				t.Errorf("%.80s: %d %.300s", cell, a.Code, a.Body)
			}
			if a := in.Upload(c.path+"-import?dry_run=1", "username,password_hash\nann,"+cell+"\n",
				"owner"); a.Code != 200 || strings.Contains(a.Body, secret) {
				t.Errorf("%.80s: %d %.300s", cell, a.Code, a.Body)
			}
		}
	}

	for name, file := range map[string]string{
		"no header":             laravelHash + ",ann\n",
		"no header, name first": "username," + laravelHash + "\n",
		"an unquoted comma":     "username,password_hash\nann," + strings.Trim(springHash, `"`) + "\n",
		"a large cell": "username,password_hash\nann," + secret + strings.Repeat("x",
			people.MaxCellBytes) + "\n",
	} {
		if a := in.Upload("/user/list-import", file, "owner"); a.Code != 422 ||
			a.Envelope().Errors["file"] == "" || strings.Contains(a.Body, secret) ||
			strings.Contains(a.Body, "c29tZXNhbHQ") {
			t.Errorf("%s: %d %s", name, a.Code, a.Body)
		}
	}
}

// A step that was applied keeps nothing of its rows, until its job has ended.
func TestImportedHash_AppliedStepsForgetRows(t *testing.T) {
	t.Parallel()
	in := servertest.Start(t)
	in.Update(func(tx *store.Tx) error {
		sealed, err := store.SealHash(tx, "ann", store.ImportedHash+laravelHash)
		servertest.Must(t, err)
		input := servertest.EncodeJSON(t, []people.ImportedRow[store.AppUser]{{
			Line: 2,
			User: store.AppUser{Username: "ann", Status: true},
			Hash: &sealed,
		}})
		made, undo, err := people.AppUserRealm.Apply(tx, input)
		if len(made) != 1 || string(undo) != "null" {
			t.Errorf("%v, %s", made, undo)
		}
		return err
	})
}

// Users with a password hash are not invited, the others are; steps stay within the limit of a
// write.
func TestImportedHash_NoInvitation(t *testing.T) {
	t.Parallel()
	for name, c := range importRealms {
		t.Run(name, func(t *testing.T) {
			in := servertest.Start(t)
			in.TurnMailOn()
			file := "username,email,password_hash\n"
			for n := range 130 {
				file += fmt.Sprintf("hash%d,hash%[1]d@example.org,%s\nlink%[1]d,link%[1]d@example.org,\n", n, laravelHash)
			}

			in.Upload(c.path+"-import?invite=1", file, "owner").Brief(200, `"created":260`)
			in.View(func(tx *store.Tx) error {
				links, err := store.Links.Count(tx)
				mails, err2 := store.Mails.Count(tx)
				hashes, err3 := store.PasswordHashes.Count(tx)
				if links != 130 || mails != 130 || hashes != 131 {
					t.Errorf("%d links, %d mails, %d hashes; %v %v %v", links, mails, hashes, err,
						err2, err3)
				}
				return nil
			})
			if largest := in.DB.Stats().Largest; largest > kv.MaxRecordsPerWrite {
				t.Errorf("a write changed %d records", largest)
			}
		})
	}
}

// An import is undone as one, with the hashes, and can be undone after users have signed in.
func TestImportedHash_Undo(t *testing.T) {
	t.Parallel()
	for name, c := range importRealms {
		t.Run(name, func(t *testing.T) {
			in := servertest.Start(t)
			before := in.State()
			file := "username,password_hash\n"
			for n := range 70 {
				file += fmt.Sprintf("user%d,%s\n", n, laravelHash)
			}

			in.Upload(c.path+"-import", file, "owner").Brief(200, `"created":70`)
			var p struct{ Data []changes.LogEntry }
			in.OK("GET", "/system/audit?job=1&pageSize=1", "", "owner").Data(&p)
			if len(p.Data) != 1 {
				t.Fatalf("%d entries of the job", len(p.Data))
			}

			in.OK("POST", fmt.Sprintf("/system/audit/%d/undo", p.Data[0].Seq), "", "owner")
			in.SameState("the import undone", before)
			in.View(func(tx *store.Tx) error {
				n, err := store.PasswordHashes.Count(tx)
				if n != 1 {
					t.Errorf("%d hashes are left", n)
				}
				return err
			})
		})
	}
}
