package server

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
	"reeve/store"
)

// link creates a signed link to a file.
func (in *instance) link(id store.ID, body, as string) files.LinkOut {
	in.t.Helper()
	var out files.LinkOut
	in.ok("POST", fmt.Sprintf("/file/list/%d/link", id), body, as).data(&out)
	return out
}

// dead fails unless a link is rejected without a reason.
func (in *instance) dead(name, link string) {
	in.t.Helper()
	for _, method := range []string{"GET", "HEAD"} {
		if a := in.call(method, link, "", "nobody"); a.Code != 404 || a.envelope().ErrorCode != "link_expired" || a.Header.Get("Cache-Control") != "no-store" {
			in.t.Errorf("%s: %d %v %s", name, a.Code, a.Header, a.Body)
		}
	}
}

func TestFileLink_NeedsNoToken(t *testing.T) {
	t.Parallel()
	in := start(t)
	in.clerk("clerk", "file.list.download")
	f := in.keep("owner", "x.txt", "signed for")
	for _, as := range []string{"owner", "clerk"} {
		link := in.link(f.ID, "", as)
		for _, who := range []string{"nobody", "clerk", "owner"} {
			a := in.ok("GET", link.URL, "", who)
			if a.safe(false); a.Body != "signed for" || a.Header.Get("Cache-Control") != "private, no-cache" {
				t.Errorf("%q %v", a.Body, a.Header)
			}
		}
	}
	for body, field := range map[string]string{`{"seconds":0}`: "seconds", `{"seconds":301}`: "seconds", `{"seconds":"x"}`: "seconds", `{"seconds":null}`: "seconds"} {
		in.call("POST", fmt.Sprintf("/file/list/%d/link", f.ID), body, "owner").names(422, field)
	}
	in.call("POST", "/file/list/99/link", "", "owner").brief(404)
	in.ok("DELETE", fmt.Sprint("/file/list/", f.ID), "", "owner")
	in.call("POST", fmt.Sprintf("/file/list/%d/link", f.ID), "", "owner").brief(404)
}

// TestFileLink_AnyChangeInvalidates changes each part of the URL.
func TestFileLink_AnyChangeInvalidates(t *testing.T) {
	t.Parallel()
	in := start(t)
	f, other := in.keep("owner", "x", "one"), in.keep("owner", "y", "two")
	in.clerk("clerk", "file.list.download")
	signed := in.link(f.ID, "", "owner").URL
	in.ok("GET", signed, "", "nobody")
	at, err := url.Parse(signed)
	must(t, err)
	theirs, err := url.Parse(in.link(other.ID, "", "clerk").URL)
	must(t, err)
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
		in.dead(name, link)
	}
	for _, name := range []string{"signature", "expires", "session"} {
		q := at.Query()
		q.Del(name)
		in.call("GET", at.Path+"?"+q.Encode(), "", "owner").names(400, name)
	}
	in.ok("GET", signed, "", "nobody")
}

// TestFileLink_EndsWithAccess: the session, the permission, the scope or the file.
func TestFileLink_EndsWithAccess(t *testing.T) {
	t.Parallel()
	for name, end := range map[string]func(in *instance, u, role, session store.ID){
		"logout": func(in *instance, _, _, _ store.ID) { in.ok("POST", "/admin/logout", "", "clerk") },
		"the session is ended": func(in *instance, _, _, session store.ID) {
			in.ok("DELETE", fmt.Sprint("/system/session/", session), "", "owner")
		},
		"the password is reset": func(in *instance, u, _, _ store.ID) {
			in.ok("PUT", fmt.Sprintf("/admin/list/%d/password", u), `{}`, "owner")
		},
		"the password is changed elsewhere": func(in *instance, u, _, _ store.ID) {
			in.tokens["elsewhere"] = in.signIn(u)
			in.ok("PUT", "/admin/password", `{"old_password":"`+ownerPassword+`","new_password":"another one entirely"}`, "elsewhere")
		},
		"the password must be changed": func(in *instance, u, _, _ store.ID) {
			in.update(func(tx *store.Tx) error {
				_, err := store.Users.Update(tx, u, func(u *store.User) error { u.MustChangePassword = true; return nil })
				return err
			})
		},
		"the user is disabled": func(in *instance, u, _, _ store.ID) {
			in.ok("PUT", fmt.Sprintf("/admin/list/%d/status", u), `{"status":0}`, "owner")
		},
		"the user is deleted": func(in *instance, u, _, _ store.ID) { in.ok("DELETE", fmt.Sprint("/admin/list/", u), "", "owner") },
		"the permission is taken away": func(in *instance, _, role, _ store.ID) {
			in.ok("PUT", fmt.Sprintf("/admin/role/%d/rule", role), `{"rule_ids":[]}`, "owner")
		},
		"the permission is disabled": func(in *instance, _, _, _ store.ID) { in.switchPermission("file.list.download", "status", 0) },
		"the role is disabled": func(in *instance, _, role, _ store.ID) {
			in.ok("PUT", fmt.Sprint("/admin/role/", role), `{"status":0}`, "owner")
		},
	} {
		t.Run(name, func(t *testing.T) {
			in := start(t)
			u := in.clerk("clerk", "file.list.download")
			_, session := in.who(u.ID)
			f := in.keep("owner", "x", "signed for")
			link := in.link(f.ID, "", "clerk").URL
			in.ok("GET", link, "", "nobody")
			end(in, u.ID, u.RoleIDs[0], session)
			in.dead(name, link)
		})
	}
	for name, end := range map[string]func(in *instance, role, f store.ID){
		"out of scope": func(in *instance, role, _ store.ID) {
			in.ok("PUT", fmt.Sprint("/admin/role/", role), `{"data_scope":"self"}`, "owner")
		},
		"in the trash": func(in *instance, _, f store.ID) { in.ok("DELETE", fmt.Sprint("/file/list/", f), "", "owner") },
	} {
		t.Run(name, func(t *testing.T) {
			in := start(t)
			u := in.clerk("clerk", "file.list.download")
			f := in.keep("owner", "x", "signed for")
			link := in.link(f.ID, "", "clerk").URL
			end(in, u.RoleIDs[0], f.ID)
			in.call("GET", link, "", "nobody").brief(404)
		})
	}
}

// TestFileLink_Expiry checks that links expire with the session at the latest. Changing the
// password keeps the links of the session that changes it.
func TestFileLink_Expiry(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		in := start(t)
		f := in.keep("owner", "x", "signed for")
		long, short := in.link(f.ID, "", "owner"), in.link(f.ID, `{"seconds":10}`, "owner")
		if want := store.TimeOf(time.Now().Add(5 * time.Minute)); long.ExpiresAt != want {
			t.Errorf("it ends at %s, want %s", long.ExpiresAt, want)
		}
		in.ok("PUT", "/admin/password", `{"old_password":"`+ownerPassword+`","new_password":"another one entirely"}`, "owner")
		time.Sleep(10 * time.Second)
		in.ok("GET", short.URL, "", "nobody")
		time.Sleep(time.Microsecond)
		in.dead("after ten seconds", short.URL)
		time.Sleep(290*time.Second - time.Microsecond)
		in.ok("GET", long.URL, "", "nobody")
		time.Sleep(time.Microsecond)
		in.dead("after five minutes", long.URL)
		time.Sleep(12*time.Hour - 6*time.Minute)
		in.tokens["owner"] = in.signIn(auth.FirstUser)
		in.set("security.session_idle_minutes", "5")
		link := in.link(f.ID, "", "owner").URL
		time.Sleep(5*time.Minute - time.Second)
		in.ok("GET", link, "", "nobody") // a download does not count as use of the session
		time.Sleep(time.Second)
		in.dead("after the session", link)
	})
}

// TestFileLink_NotForgeableFromBackup: links can't be forged from a backup, which has all records
// and, if encrypted, secret.key.
func TestFileLink_NotForgeableFromBackup(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	in := open(t, dir)
	in.tokens["owner"] = in.signIn(auth.FirstUser)
	file := in.keep("owner", "x", "signed for")
	link := in.link(file.ID, "", "owner").URL
	in.ok("GET", link, "", "nobody")

	// Links are not signed with secret.key: anybody who has it could sign any link.
	key, err := os.ReadFile(filepath.Join(dir, "secret.key"))
	must(t, err)
	raw, err := hex.DecodeString(strings.TrimSpace(string(key)))
	must(t, err)
	forger := &files.LinkSigner{}
	for name, secret := range map[string][]byte{"the key": raw, "its text": key[:32]} {
		copy(forger.Key[:], secret)
		in.dead(name, in.forged(forger, file.ID, time.Minute))
	}

	// Even with the server's own signature, a link can't live longer than the maximum.
	in.ok("GET", in.forged(in.server.files.Links, file.ID, time.Minute), "", "nobody")
	in.dead("ten years", in.forged(in.server.files.Links, file.ID, 10*365*24*time.Hour))
	in.dead("a little too long", in.forged(in.server.files.Links, file.ID, files.LinkTime+time.Minute))

	in.close()
	in = open(t, dir)
	in.dead("after a restart", link)
}

// forged returns a link for the owner's session, signed by any signer.
func (in *instance) forged(by *files.LinkSigner, file store.ID, life time.Duration) string {
	in.t.Helper()
	var session store.ID
	in.view(func(tx *store.Tx) error {
		ids, err := store.SessionsOf(tx, store.Account{ID: auth.FirstUser})
		session = ids[0]
		return err
	})
	link := files.SignedLinkIn{Session: session, Expires: strconv.FormatInt(int64(store.TimeOf(time.Now().Add(life))), 10)}
	link.ID = file
	return fmt.Sprintf("/file/signed/%s?expires=%s&session=%s&signature=%s", file, link.Expires, session, by.Sign(link.Texts(auth.FirstUser)...))
}
