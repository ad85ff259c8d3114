package server

import (
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"reeve/auth"
	"reeve/server/mails"
	"reeve/server/openapi"
	"reeve/server/people"
	"reeve/store"
)

// UseLink sets a password with a link, from an address.
func (in *instance) useLink(path, token, password, ip string) *reply {
	in.t.Helper()
	r := in.request("POST", path, string(encodeJSON(in.t, openapi.Object{"token": token, "password": password})), "nobody")
	r.RemoteAddr = ip + ":1234"
	return in.send(r)
}

// linkFor returns the token of a new copy of an invitation.
func (in *instance) linkFor(id store.ID, as string) string {
	in.t.Helper()
	var out people.OneTimeLink
	in.ok("POST", fmt.Sprintf("/admin/list/%d/invite", id), `{}`, as).data(&out)
	return tokenIn(in.t, out.URL)
}

func TestInvitation_SetsPassword(t *testing.T) {
	t.Parallel()
	in := start(t)
	var made struct {
		ID         store.ID
		Password   string
		Invitation *people.OneTimeLink
	}
	in.ok("POST", "/admin/list", `{"username":"ann","nickname":"Ann","invite":"link"}`, "owner").data(&made)
	if made.Password != "" || made.Invitation == nil || time.Until(made.Invitation.ExpiresAt.Std()).Round(time.Hour) != 7*24*time.Hour {
		t.Fatalf("%+v", made)
	}
	token := tokenIn(t, made.Invitation.URL)
	in.ok("GET", "/admin/invite", "", "owner").brief(200, `"username":"ann"`, `"links":1`, `"invited_by":"admin"`, `"mail_state":""`)
	in.call("POST", "/admin/login", `{"username":"ann","password":"a good password"}`, "nobody").brief(401)
	in.useLink("/api/password/link", token, "a good password", "192.0.2.1").brief(404, `"errorCode":"link_expired"`)
	in.useLink("/admin/password/link", token, "password", "192.0.2.1").names(422, "password")
	in.useLink("/admin/password/link", token, "a good password", "192.0.2.1").brief(200, `"username":"ann"`)
	in.ok("POST", "/admin/login", `{"username":"ann","password":"a good password"}`, "nobody").brief(200, `"must_change_password":0`)
	in.useLink("/admin/password/link", token, "another password", "192.0.2.1").brief(404, `"errorCode":"link_expired"`)
	in.ok("GET", "/admin/invite", "", "owner").brief(200, `"total":0`)
	in.call("POST", fmt.Sprintf("/admin/list/%d/invite", made.ID), `{}`, "owner").brief(409, `"errorCode":"has_password"`)
	in.ok("GET", fmt.Sprintf("/admin/list/%d", made.ID), "", "owner").brief(200, `"email_verified":0`)
}

func TestInvitation_ThreeValidCopies(t *testing.T) {
	t.Parallel()
	in := start(t)
	id := in.guest("ann", "")
	var tokens []string
	for range 4 {
		tokens = append(tokens, in.linkFor(id, "owner"))
	}
	in.ok("GET", "/admin/invite", "", "owner").brief(200, `"links":3`, `"total":1`)
	page := func(token string) int { return in.call("GET", mails.LinkPath+token, "", "nobody").Code }
	for i, want := range []int{404, 200, 200, 200} {
		if got := page(tokens[i]); got != want {
			t.Errorf("link %d: %d, want %d", i, got, want)
		}
	}
	in.useLink("/admin/password/link", tokens[2], "a good password", "192.0.2.1").brief(200)
	for _, token := range tokens {
		if page(token) != 404 {
			t.Error("a link still works after another was used")
		}
	}
}

// TestInvitation_NeedsRightsOfCopier: a clerk who has copied the link of a user must not
// get the rights that the user has been given since.
func TestInvitation_NeedsRightsOfCopier(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(in *instance, clerk *store.User, id store.ID){
		"the user becomes an owner": func(in *instance, _ *store.User, id store.ID) {
			in.ok("PUT", fmt.Sprintf("/admin/list/%d", id), `{"role_ids":[1]}`, "owner")
		},
		"the clerk is disabled": func(in *instance, clerk *store.User, _ store.ID) {
			in.ok("PUT", fmt.Sprintf("/admin/list/%d/status", clerk.ID), `{"status":0}`, "owner")
		},
		"the clerk is deleted": func(in *instance, clerk *store.User, _ store.ID) {
			in.ok("DELETE", fmt.Sprintf("/admin/list/%d", clerk.ID), "", "owner")
		},
		"the clerk loses the permission": func(in *instance, clerk *store.User, _ store.ID) {
			in.ok("PUT", fmt.Sprintf("/admin/role/%d/rule", clerk.RoleIDs[0]), `{"rule_ids":[]}`, "owner")
		},
		"the user is disabled": func(in *instance, _ *store.User, id store.ID) {
			in.ok("PUT", fmt.Sprintf("/admin/list/%d/status", id), `{"status":0}`, "owner")
		},
		"the user is deleted": func(in *instance, _ *store.User, id store.ID) {
			in.ok("DELETE", fmt.Sprintf("/admin/list/%d", id), "", "owner")
		},
		"the invitation is revoked": func(in *instance, _ *store.User, _ store.ID) {
			in.ok("DELETE", "/admin/invite/1", "", "owner")
		},
		"a password is set": func(in *instance, _ *store.User, id store.ID) {
			in.ok("PUT", fmt.Sprintf("/admin/list/%d/password", id), `{}`, "owner")
		},
		"a week passes": func(in *instance, _ *store.User, _ store.ID) {
			in.update(func(tx *store.Tx) error {
				_, err := store.Links.Update(tx, 1, func(l *store.Link) error { l.Tokens[0].ExpiresAt = tx.Now(); return nil })
				return err
			})
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			in := start(t)
			clerk := in.clerk("clerk", "admin.list.query", "admin.invite.create")
			id := in.guest("ann", "")
			token := in.linkFor(id, "clerk")
			in.ok("GET", mails.LinkPath+token, "", "nobody")
			change(in, clerk, id)
			in.call("GET", mails.LinkPath+token, "", "nobody").brief(404)
			in.useLink("/admin/password/link", token, "a good password", "192.0.2.1").brief(404, `"errorCode":"link_expired"`)
		})
	}
}

// TestInvitation_CeilingAndScope covers every operation that creates, lists or revokes links for
// other users.
func TestInvitation_CeilingAndScope(t *testing.T) {
	t.Parallel()
	in := start(t)
	in.turnMailOn()
	here, there := in.dept("Here", 0), in.dept("There", 0)
	rights := []string{"admin.list.query", "admin.list.password", "admin.invite.query", "admin.invite.create", "admin.invite.delete"}
	role := in.role("local", func(r *store.Role) { r.DataScope = store.ScopeDept }, rights...)
	in.member("local", here, role)
	more := in.role("more", nil, "system.info")
	inside, outside := in.guest("inside", "inside@example.org"), in.guest("outside", "outside@example.org")
	beyond := in.guest("beyond", "beyond@example.org")
	in.update(func(tx *store.Tx) error {
		set := func(id, dept store.ID, roles ...store.ID) error {
			_, err := store.Users.Update(tx, id, func(u *store.User) error { u.DeptID, u.RoleIDs = dept, roles; return nil })
			return err
		}
		return errors.Join(set(inside, here), set(outside, there), set(beyond, here, more))
	})
	for _, id := range []store.ID{inside, outside, beyond} {
		in.ok("POST", fmt.Sprintf("/admin/list/%d/invite", id), `{}`, "owner")
	}
	for _, path := range []string{"invite", "reset-link"} {
		for _, body := range []string{`{}`, `{"send":1}`} {
			in.ok("POST", fmt.Sprintf("/admin/list/%d/%s", inside, path), body, "local")
			in.call("POST", fmt.Sprintf("/admin/list/%d/%s", outside, path), body, "local").brief(404)
			in.call("POST", fmt.Sprintf("/admin/list/%d/%s", beyond, path), body, "local").brief(403, `"errorCode":"beyond_ceiling"`)
		}
	}
	var many people.InvitedMany
	in.ok("POST", fmt.Sprintf("/admin/invite?ids=%d,%d,%d,999", inside, outside, beyond), `{"copy":1}`, "local").data(&many)
	var codes []string
	for _, s := range many.Skipped {
		codes = append(codes, fmt.Sprint(s.UserID, " ", s.Username, " ", s.Code))
	}
	if want := []string{fmt.Sprint(outside, "  not_found"), fmt.Sprint(beyond, " beyond beyond_ceiling"), "999  not_found"}; many.Count != 1 || len(many.Links) != 1 || !slices.Equal(codes, want) {
		t.Errorf("%+v, skipped %q, want %q", many, codes, want)
	}
	if got := in.column("/admin/invite?sorter=%7B%22id%22:%22ascend%22%7D", "username", "local"); !slices.Equal(got, []string{"inside", "beyond"}) {
		t.Errorf("local sees the invitations of %q", got)
	}
	in.call("DELETE", "/admin/invite/2", "", "local").brief(404)
	in.call("DELETE", "/admin/invite/3", "", "local").brief(403)
	in.ok("DELETE", "/admin/invite/1", "", "local")
	in.call("POST", "/admin/list/1/reset-link", `{}`, "local").brief(404)
}

// TestInvitation_APIKeyCannotCopy checks that a key cannot copy links, since its holder could sign
// in as the user.
func TestInvitation_APIKeyCannotCopy(t *testing.T) {
	t.Parallel()
	in := start(t)
	in.turnMailOn()
	id := in.guest("ann", "ann@example.org")
	in.tokens["key"] = in.keyOf(in.clerk("inviter", "admin.invite.create", "admin.list.query"), serviceKey)
	in.call("POST", fmt.Sprintf("/admin/list/%d/invite", id), `{}`, "key").brief(403)
	in.call("POST", fmt.Sprintf("/admin/invite?ids=%d", id), `{"copy":1}`, "key").brief(403)
	in.ok("POST", fmt.Sprintf("/admin/list/%d/invite", id), `{"send":1}`, "key").brief(200, `"email":"ann@example.org"`)
	in.ok("POST", fmt.Sprintf("/admin/invite?ids=%d", id), `{"send":1}`, "key").brief(200, `"count":1`)
}

// TestInvitation_OfImport is the whole way of many people: imported and invited, most of them accept
// at once from several addresses, some links expire, some are revoked, some are used twice.
func TestInvitation_OfImport(t *testing.T) {
	t.Parallel()
	const people, expired, revoked, twice, accepting, addresses = 200, 10, 10, 5, 150, 20
	in := start(t)
	box := in.openMailbox()
	var csv strings.Builder
	csv.WriteString("username,nickname,email\n")
	for i := range people {
		fmt.Fprintf(&csv, "person%d,Person %[1]d,person%[1]d@example.org\n", i)
	}
	in.upload("/admin/list-import?invite=1", csv.String(), "owner").brief(200, fmt.Sprintf(`"created":%d`, people))
	in.ok("GET", "/system/mail?state=queued&pageSize=1", "", "owner").brief(200, fmt.Sprintf(`"total":%d`, people))
	in.sendMails()
	mails := box.all()
	if len(mails) != people {
		t.Fatalf("%d mails were sent", len(mails))
	}
	tokens, ids := map[string]string{}, map[string]store.ID{}
	for _, m := range mails {
		name, _, _ := strings.Cut(m.to, "@")
		tokens[name] = m.token(t)
	}
	name := func(i int) string { return fmt.Sprintf("person%d", i) }
	in.update(func(tx *store.Tx) error {
		for l, err := range store.Links.All(tx) {
			must(t, err)
			username, err := l.Account().Username(tx)
			must(t, err)
			ids[username] = l.ID
		}
		for i := range expired {
			_, err := store.Links.Update(tx, ids[name(i)], func(l *store.Link) error { l.Tokens[0].ExpiresAt = tx.Now(); return nil })
			must(t, err)
		}
		return nil
	})
	var revoke []string
	for i := expired; i < expired+revoked; i++ {
		revoke = append(revoke, ids[name(i)].String())
	}
	in.ok("DELETE", "/admin/invite?ids="+strings.Join(revoke, ","), "", "owner")

	first := expired + revoked
	var accepted, refused atomic.Int64
	var wg sync.WaitGroup
	use := func(i int) {
		here := in.in(t)
		a := here.useLink("/admin/password/link", tokens[name(i)], "the password of "+name(i), fmt.Sprintf("192.0.2.%d", 1+i%addresses))
		for a.Code == http.StatusServiceUnavailable { // too many at once: the client tries again
			a = here.useLink("/admin/password/link", tokens[name(i)], "the password of "+name(i), fmt.Sprintf("192.0.2.%d", 1+i%addresses))
		}
		switch a.Code {
		case http.StatusOK:
			accepted.Add(1)
		case http.StatusNotFound:
			refused.Add(1)
		default:
			t.Errorf("%s: %d %s", name(i), a.Code, a.Body)
		}
	}
	for i := range first + accepting {
		wg.Go(func() { use(i) })
		if i >= first && i < first+twice {
			wg.Go(func() { use(i) })
		}
	}
	wg.Wait()
	if accepted.Load() != accepting || refused.Load() != expired+revoked+twice {
		t.Errorf("%d accepted and %d refused, want %d and %d", accepted.Load(), refused.Load(), accepting, expired+revoked+twice)
	}
	in.view(func(tx *store.Tx) error {
		for i := range people {
			u, err := store.UserByName.Get(tx, name(i))
			must(t, err)
			_, err = store.HashOf(tx, store.Account{ID: u.ID})
			has := i >= first && i < first+accepting
			if has != (err == nil) || has != bool(u.EmailVerified) {
				t.Errorf("%s: password %v, email verified %v", u.Username, err, u.EmailVerified)
			}
		}
		return nil
	})
	in.ok("GET", "/admin/invite?pageSize=1", "", "owner").brief(200, fmt.Sprintf(`"total":%d`, people-accepting-revoked))
	for _, i := range []int{first, first + accepting - 1} {
		in.ok("POST", "/admin/login", fmt.Sprintf(`{"username":%q,"password":"the password of %[1]s"}`, name(i)), "nobody")
	}
	in.noTokens(tokens)
	in.acceptancesAreLogged(accepting)
}

// noTokens checks that no token is in the files of the instance: database, change log, monitoring.
func (in *instance) noTokens(tokens map[string]string) {
	in.t.Helper()
	in.flush()
	data := in.stored()
	for name, token := range tokens {
		if strings.Contains(data, token) || strings.Contains(data, token[len("rv_l_"):len(token)-6]) {
			in.t.Fatalf("the token of %s is stored", name)
		}
	}
}

// acceptancesAreLogged checks that the change log has an entry for each use of a link, by the person.
func (in *instance) acceptancesAreLogged(want int) {
	in.t.Helper()
	operation := url.QueryEscape("POST /admin/password/link")
	actors := in.column("/system/audit?pageSize=1000&operation="+operation, "actor", "owner")
	if len(actors) != want {
		in.t.Fatalf("%d uses are in the change log, want %d", len(actors), want)
	}
	for _, actor := range actors {
		if !strings.Contains(actor, `"kind":"user"`) {
			in.t.Fatalf("the actor of a use is %s", actor)
		}
	}
}

// TestMailLink_EndsWithAddress checks that a reader of the user's previous mailbox can't get the
// account.
func TestMailLink_EndsWithAddress(t *testing.T) {
	t.Parallel()
	in := start(t)
	box := in.openMailbox()
	id := in.guest("ann", "old@example.org")
	in.ok("POST", fmt.Sprintf("/admin/list/%d/invite", id), `{"send":1}`, "owner")
	in.sendMails()
	token := box.last(t, "old@example.org").token(t)
	in.ok("GET", mails.LinkPath+token, "", "nobody")
	in.ok("PUT", fmt.Sprintf("/admin/list/%d", id), `{"email":"new@example.org"}`, "owner")
	in.call("GET", mails.LinkPath+token, "", "nobody").brief(404)
	in.ok("PUT", fmt.Sprintf("/admin/list/%d", id), `{"email":"OLD@example.org"}`, "owner")
	in.useLink("/admin/password/link", token, "a good password", "192.0.2.1").brief(200)
	in.ok("GET", fmt.Sprintf("/admin/list/%d", id), "", "owner").brief(200, `"email_verified":1`)
	in.ok("PUT", fmt.Sprintf("/admin/list/%d", id), `{"email":"third@example.org"}`, "owner").brief(200, `"email_verified":0`)
}

func TestEmailVerification(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, info, email, verify, as string }{
		{"users", "/admin/info", "/admin/email", "/admin/verify", "member"},
		{"app users", "/api/user", "/api/user/email", "/api/verify", "customer"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			in := start(t)
			box := in.openMailbox()
			in.member("member", 0)
			in.appUser("customer")
			password := ""
			if c.as == "customer" {
				password = `,"password":"` + ownerPassword + `"`
			}
			in.call("POST", c.email, `{}`, c.as).names(422, "email")
			in.ok("PUT", c.info, `{"email":"first@example.org"`+password+`}`, c.as)
			in.ok("POST", c.email, `{}`, c.as).brief(200, `"sent_to":"first@example.org"`)
			in.sendMails()
			token := box.last(t, "first@example.org").token(t)
			in.useLink("/admin/password/link", token, "a good password", "192.0.2.1").brief(404)
			in.ok("POST", c.verify, `{"token":"`+token+`"}`, "nobody")
			if !strings.Contains(in.ok("GET", c.info, "", c.as).Body, `"email_verified":1`) {
				t.Error("the address is not verified")
			}
			if c.as == "customer" {
				in.call("POST", c.email, `{"email":"second@example.org"}`, c.as).names(422, "password")
			}
			in.ok("POST", c.email, `{"email":"second@example.org"`+password+`}`, c.as)
			in.sendMails()
			if strings.Contains(in.ok("GET", c.info, "", c.as).Body, "second@example.org") {
				t.Error("the address has changed before it was confirmed")
			}
			in.ok("POST", c.verify, `{"token":"`+box.last(t, "second@example.org").token(t)+`"}`, "nobody")
			body := in.ok("GET", c.info, "", c.as).Body
			if !strings.Contains(body, `"email":"second@example.org","email_verified":1`) {
				t.Errorf("the address has not changed: %s", body)
			}
			in.sendMails()
			if _, text := box.last(t, "first@example.org").text(t); !strings.Contains(text, "second@example.org") {
				t.Errorf("the old address was not told: %q", text)
			}
			in.ok("POST", c.email, `{"email":"third@example.org"`+password+`}`, c.as)
			in.call("POST", c.email, `{"email":"fourth@example.org"`+password+`}`, c.as).brief(429)
		})
	}
}

// TestMailLink_UnknownIsRateLimited checks that unknown links are limited by address, and a valid
// one is not.
func TestMailLink_UnknownIsRateLimited(t *testing.T) {
	t.Parallel()
	in := start(t)
	id := in.guest("ann", "")
	token := in.linkFor(id, "owner")
	unknown, _ := auth.NewLink()
	codes := map[int]int{}
	for range 60 {
		codes[in.useLink("/admin/password/link", unknown, "a good password", "192.0.2.7").Code]++
		if in.call("GET", mails.LinkPath+token, "", "nobody").Code != 200 {
			t.Fatal("a valid link does not work")
		}
	}
	if codes[404] != 50 || codes[429] != 10 {
		t.Errorf("%v", codes)
	}
	in.useLink("/admin/password/link", token, "a good password", "192.0.2.7").brief(200)
}

func TestMailLink_EndedByRestore(t *testing.T) {
	t.Parallel()
	in := start(t)
	in.turnMailOn()
	id := in.guest("ann", "ann@example.org")
	token := in.linkFor(id, "owner")
	in.ok("POST", fmt.Sprintf("/admin/list/%d/invite", id), `{"send":1}`, "owner")
	in = in.restored()
	in.call("GET", mails.LinkPath+token, "", "nobody").brief(404)
	in.ok("GET", "/admin/invite", "", "owner").brief(200, `"links":0`, `"expires_at":null`, `"total":1`)
	in.ok("GET", "/system/mail", "", "owner").brief(200, `"state":"failed"`, `"stage":"restored"`)
	in.ok("GET", "/api/home", "", "nobody").brief(200, `"forgot_password":0`)
	in.call("POST", "/system/mail/1/retry", "", "owner").brief(409, `"errorCode":"mail_off"`)
	in.ok("PUT", "/system/setting", `{"values":{"mail.enabled":1}}`, "owner")
	in.ok("POST", "/system/mail/1/retry", "", "owner").brief(200, `"state":"queued"`)
}

// restored returns an instance whose data is that of a backup of this one, without secret.key.
func (in *instance) restored() *instance { return in.restoredIn(in.t.TempDir()) }

// restoredIn restores a backup in a directory, which may have a secret.key, and opens it.
func (in *instance) restoredIn(dir string) *instance {
	in.t.Helper()
	file := filepath.Join(in.t.TempDir(), "backup.tar")
	must(in.t, os.WriteFile(file, []byte(in.ok("GET", "/system/backup", "", "owner").Body), 0o600))
	_, err := store.Restore(dir, file, nil, store.Options{Version: "test", Keys: Keys()})
	must(in.t, err)
	other := open(in.t, dir)
	other.enter("owner", "admin", ownerPassword)
	return other
}

// stored returns the bytes of all files in the data directory.
func (in *instance) stored() string {
	in.t.Helper()
	var all strings.Builder
	must(in.t, filepath.WalkDir(in.dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := os.ReadFile(path)
		all.Write(data)
		return err
	}))
	return all.String()
}

// TestMailLinkLog_PermissionAndScope: links of app users need the permission for those.
func TestMailLinkLog_PermissionAndScope(t *testing.T) {
	t.Parallel()
	in := start(t)
	here := in.dept("Here", 0)
	local := in.role("local", func(r *store.Role) { r.DataScope = store.ScopeDept }, "system.audit.query", "admin.invite.query")
	in.member("local", here, local)
	in.clerk("all", "system.audit.query", "admin.invite.query")
	in.clerk("apps", "system.audit.query", "user.invite.query")
	in.clerk("none", "system.audit.query")
	inside, outside, customer := in.guest("inside", ""), in.guest("outside", ""), in.appGuest("customer", "")
	in.ok("PUT", fmt.Sprintf("/admin/list/%d", inside), fmt.Sprintf(`{"dept_id":%d}`, here), "owner")
	for _, url := range []string{fmt.Sprintf("/admin/list/%d/invite", inside), fmt.Sprintf("/admin/list/%d/invite", outside), fmt.Sprintf("/user/list/%d/invite", customer)} {
		in.ok("POST", url, `{}`, "owner")
	}
	for _, url := range []string{"/admin/invite/1", "/admin/invite/2", "/user/invite/3"} {
		in.ok("DELETE", url, "", "owner")
	}
	for who, want := range map[string]string{"owner": "1 2 3", "all": "1 2", "local": "1", "apps": "3", "none": ""} {
		var seen []string
		for id := 1; id <= 3; id++ {
			if a := in.call("GET", fmt.Sprintf("/system/audit?collection=link&record=%d&pageSize=1", id), "", who); strings.Contains(a.Body, `"collection":"link"`) {
				seen = append(seen, fmt.Sprint(id))
			}
		}
		if got := strings.Join(seen, " "); got != want {
			t.Errorf("%s sees the changes of the links %q, want %q", who, got, want)
		}
	}
}
