package files_test

import (
	"encoding/hex"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"reeve/auth"
	"reeve/server/files"
	"reeve/server/servertest"
	"reeve/server/web"
	"reeve/store"
	"reeve/store/kv"
)

// dead fails unless a link is rejected without a reason.
func dead(in *servertest.Instance, name, link string) {
	in.T.Helper()
	for _, method := range []string{"GET", "HEAD"} {
		if a := in.Call(method, link, "", "nobody"); a.Code != 404 ||
			a.Envelope().ErrorCode != "link_expired" ||
			a.Header.Get("Cache-Control") != "no-store" {
			in.T.Errorf("%s: %d %v %s", name, a.Code, a.Header, a.Body)
		}
	}
}

func TestFileLink_NeedsNoToken(t *testing.T) {
	t.Parallel()
	in := servertest.Start(t)
	in.Clerk("clerk", "file.list.download")
	f := in.Keep("owner", "x.txt", "signed for")
	for _, as := range []string{"owner", "clerk"} {
		link := in.Link(f.ID, "", as)
		for _, who := range []string{"nobody", "clerk", "owner"} {
			a := in.OK("GET", link.URL, "", who)
			if a.Safe(false); a.Body != "signed for" ||
				a.Header.Get("Cache-Control") != "private, no-cache" {
				t.Errorf("%q %v", a.Body, a.Header)
			}
		}
	}

	for body, field := range map[string]string{
		`{"seconds":0}`:    "seconds",
		`{"seconds":301}`:  "seconds",
		`{"seconds":"x"}`:  "seconds",
		`{"seconds":null}`: "seconds",
	} {
		in.Call("POST", fmt.Sprintf("/file/list/%d/link", f.ID), body, "owner").Names(422, field)
	}

	in.Call("POST", "/file/list/99/link", "", "owner").Brief(404)
	in.OK("DELETE", fmt.Sprint("/file/list/", f.ID), "", "owner")
	in.Call("POST", fmt.Sprintf("/file/list/%d/link", f.ID), "", "owner").Brief(404)
}

// TestFileLink_AnyChangeInvalidates changes each part of the URL.
func TestFileLink_AnyChangeInvalidates(t *testing.T) {
	t.Parallel()
	in := servertest.Start(t)
	f, other := in.Keep("owner", "x", "one"), in.Keep("owner", "y", "two")
	in.Clerk("clerk", "file.list.download")
	signed := in.Link(f.ID, "", "owner").URL
	in.OK("GET", signed, "", "nobody")
	at, err := url.Parse(signed)
	servertest.Must(t, err)
	theirs, err := url.Parse(in.Link(other.ID, "", "clerk").URL)
	servertest.Must(t, err)
	query, signature := at.Query(), at.Query().Get("signature")
	changed := func(name, value string) string {
		q := at.Query()
		q.Set(name, value)
		return at.Path + "?" + q.Encode()
	}

	flipped := []byte(signature)
	flipped[7] ^= 1
	for name, link := range map[string]string{
		"another file":           theirs.Path + "?" + at.RawQuery,
		"no such file":           "/file/signed/99?" + at.RawQuery,
		"another session":        changed("session", theirs.Query().Get("session")),
		"no such session":        changed("session", "99"),
		"a later end":            changed("expires", query.Get("expires")+"0"),
		"an earlier end":         changed("expires", "1"),
		"an end in other digits": changed("expires", "0"+query.Get("expires")),
		"an end with a sign":     changed("expires", "+"+query.Get("expires")),
		"no time":                changed("expires", "never"),
		"a time out of range":    changed("expires", "99999999999999999999"),
		"another signature":      changed("signature", theirs.Query().Get("signature")),
		"a changed signature":    changed("signature", string(flipped)),
		"a signature cut short":  changed("signature", signature[:42]),
		"a signature and more":   changed("signature", signature+"A"),
	} {
		dead(in, name, link)
	}

	for _, name := range []string{"signature", "expires", "session"} {
		q := at.Query()
		q.Del(name)
		in.Call("GET", at.Path+"?"+q.Encode(), "", "owner").Names(400, name)
	}

	in.OK("GET", signed, "", "nobody")
}

// TestFileLink_EndsWithAccess: the session, the permission, the scope or the file.
func TestFileLink_EndsWithAccess(t *testing.T) {
	t.Parallel()
	for name, end := range map[string]func(in *servertest.Instance, u, role, session store.ID){
		"logout": func(in *servertest.Instance, _, _, _ store.ID) {
			in.OK("POST", "/admin/logout", "", "clerk")
		},
		"the session is ended": func(in *servertest.Instance, _, _, session store.ID) {
			in.OK("DELETE", fmt.Sprint("/system/session/", session), "", "owner")
		},
		"the password is reset": func(in *servertest.Instance, u, _, _ store.ID) {
			in.OK("PUT", fmt.Sprintf("/admin/list/%d/password", u), `{}`, "owner")
		},
		"the password is changed elsewhere": func(in *servertest.Instance, u, _, _ store.ID) {
			in.Tokens["elsewhere"] = in.SignIn(u)
			in.OK("PUT", "/admin/password",
				`{"old_password":"`+servertest.OwnerPassword+`","new_password":"another one entirely"}`, "elsewhere")
		},
		"the password must be changed": func(in *servertest.Instance, u, _, _ store.ID) {
			in.Update(func(tx *store.Tx) error {
				_, err := store.Users.Update(tx, u, func(u *store.User) error {
					u.MustChangePassword = true
					return nil
				})
				return err
			})
		},
		"the user is disabled": func(in *servertest.Instance, u, _, _ store.ID) {
			in.OK("PUT", fmt.Sprintf("/admin/list/%d/status", u), `{"status":0}`, "owner")
		},
		"the user is deleted": func(in *servertest.Instance, u, _, _ store.ID) {
			in.OK("DELETE", fmt.Sprint("/admin/list/", u), "", "owner")
		},
		"the permission is taken away": func(in *servertest.Instance, _, role, _ store.ID) {
			in.OK("PUT", fmt.Sprintf("/admin/role/%d/rule", role), `{"rule_ids":[]}`, "owner")
		},
		"the permission is disabled": func(in *servertest.Instance, _, _, _ store.ID) {
			in.SwitchPermission("file.list.download", "status", 0)
		},
		"the role is disabled": func(in *servertest.Instance, _, role, _ store.ID) {
			in.OK("PUT", fmt.Sprint("/admin/role/", role), `{"status":0}`, "owner")
		},
	} {
		t.Run(name, func(t *testing.T) {
			in := servertest.Start(t)
			u := in.Clerk("clerk", "file.list.download")
			_, session := in.Who(u.ID)
			f := in.Keep("owner", "x", "signed for")
			link := in.Link(f.ID, "", "clerk").URL
			in.OK("GET", link, "", "nobody")
			end(in, u.ID, u.RoleIDs[0], session)
			dead(in, name, link)
		})
	}
	for name, end := range map[string]func(in *servertest.Instance, role, f store.ID){
		"out of scope": func(in *servertest.Instance, role, _ store.ID) {
			in.OK("PUT", fmt.Sprint("/admin/role/", role), `{"data_scope":"self"}`, "owner")
		},
		"in the trash": func(in *servertest.Instance, _, f store.ID) {
			in.OK("DELETE", fmt.Sprint("/file/list/", f), "", "owner")
		},
	} {
		t.Run(name, func(t *testing.T) {
			in := servertest.Start(t)
			u := in.Clerk("clerk", "file.list.download")
			f := in.Keep("owner", "x", "signed for")
			link := in.Link(f.ID, "", "clerk").URL
			end(in, u.RoleIDs[0], f.ID)
			in.Call("GET", link, "", "nobody").Brief(404)
		})
	}
}

// TestFileLink_Expiry checks that links expire with the session at the latest. Changing the
// password keeps the links of the session that changes it.
func TestFileLink_Expiry(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		in := servertest.Start(t)
		f := in.Keep("owner", "x", "signed for")
		long, short := in.Link(f.ID, "", "owner"), in.Link(f.ID, `{"seconds":10}`, "owner")
		if want := kv.TimeOf(time.Now().Add(5 * time.Minute)); long.ExpiresAt != want {
			t.Errorf("it ends at %s, want %s", long.ExpiresAt, want)
		}

		in.OK("PUT", "/admin/password",
			`{"old_password":"`+servertest.OwnerPassword+`","new_password":"another one entirely"}`, "owner")
		time.Sleep(10 * time.Second)
		in.OK("GET", short.URL, "", "nobody")
		time.Sleep(time.Microsecond)
		dead(in, "after ten seconds", short.URL)
		time.Sleep(290*time.Second - time.Microsecond)
		in.OK("GET", long.URL, "", "nobody")
		time.Sleep(time.Microsecond)
		dead(in, "after five minutes", long.URL)
		time.Sleep(12*time.Hour - 6*time.Minute)
		in.Tokens["owner"] = in.SignIn(auth.FirstUser)
		in.Set("security.session_idle_minutes", "5")
		link := in.Link(f.ID, "", "owner").URL
		time.Sleep(5*time.Minute - time.Second)
		in.OK("GET", link, "", "nobody") // a download does not count as use of the session
		time.Sleep(time.Second)
		dead(in, "after the session", link)
	})
}

// TestFileLink_NotForgeableFromBackup: links can't be forged with what a backup has in clear: all records
// and, if encrypted, secret.key.
func TestFileLink_NotForgeableFromBackup(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	in := servertest.Open(t, dir)
	in.Tokens["owner"] = in.SignIn(auth.FirstUser)
	file := in.Keep("owner", "x", "signed for")
	link := in.Link(file.ID, "", "owner").URL
	in.OK("GET", link, "", "nobody")

	// Links are not signed with secret.key itself, which other keys are derived from, too.
	key, err := os.ReadFile(filepath.Join(dir, "secret.key"))
	servertest.Must(t, err)
	raw, err := hex.DecodeString(strings.TrimSpace(string(key)))
	servertest.Must(t, err)
	forger := &web.LinkSigner{}
	for name, secret := range map[string][]byte{"the key": raw, "its text": key[:32]} {
		forger.Key = secret
		dead(in, name, forged(in, forger, file.ID, time.Minute))
	}

	// Even with the server's own signature, a link can't live longer than the maximum.
	in.OK("GET", forged(in, in.Server.Files.Links, file.ID, time.Minute), "", "nobody")
	dead(in, "ten years", forged(in, in.Server.Files.Links, file.ID, 10*365*24*time.Hour))
	dead(in, "a little too long",
		forged(in, in.Server.Files.Links, file.ID, files.LinkTime+time.Minute))

	in.Close()
	in = servertest.Open(t, dir)
	in.OK("GET", link, "", "nobody") // also after a restart
}

// forged returns a link for the owner's session, signed by any signer.
func forged(in *servertest.Instance, by *web.LinkSigner, file store.ID,
	life time.Duration) string {
	in.T.Helper()
	var session store.ID
	in.View(func(tx *store.Tx) error {
		ids, err := store.SessionsOf(tx, store.Account{ID: auth.FirstUser})
		session = ids[0]
		return err
	})
	link := files.SignedLinkIn{
		Session: session,
		Expires: strconv.FormatInt(int64(kv.TimeOf(time.Now().Add(life))), 10),
	}
	link.ID = file
	return fmt.Sprintf("/file/signed/%s?expires=%s&session=%s&signature=%s", file, link.Expires,
		session, by.Sign(link.Texts(auth.FirstUser)...))
}
