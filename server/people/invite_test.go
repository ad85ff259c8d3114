package people_test

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
	"reeve/server/people"
	"reeve/server/servertest"
	"reeve/store"
)

func TestInvitation_SetsPassword(t *testing.T) {
	t.Parallel()
	in := servertest.Start(t)
	var made struct {
		ID         store.ID
		Password   string
		Invitation *people.OneTimeLink
	}
	in.OK("POST", "/admin/list", `{"username":"ann","nickname":"Ann","invite":"link"}`, "owner").Data(&made)
	if made.Password != "" || made.Invitation == nil ||
		time.Until(made.Invitation.ExpiresAt.Std()).Round(time.Hour) != 7*24*time.Hour {
		t.Fatalf("%+v", made)
	}

	token := servertest.TokenIn(t, made.Invitation.URL)
	in.OK("GET", "/admin/invite", "", "owner").Brief(200, `"username":"ann"`, `"links":1`,
		`"invited_by":"admin"`, `"mail_state":""`)
	in.Call("POST", "/admin/login", `{"username":"ann","password":"a good password"}`, "nobody").Brief(401)
	in.UseLink("/api/password/link", token, "a good password", "192.0.2.1").Brief(404,
		`"errorCode":"link_expired"`)
	in.UseLink("/admin/password/link", token, "password", "192.0.2.1").Names(422, "password")
	in.UseLink("/admin/password/link", token, "a good password", "192.0.2.1").Brief(200,
		`"username":"ann"`)
	in.OK("POST", "/admin/login", `{"username":"ann","password":"a good password"}`, "nobody").Brief(200, `"must_change_password":0`)
	in.UseLink("/admin/password/link", token, "another password", "192.0.2.1").Brief(404,
		`"errorCode":"link_expired"`)
	in.OK("GET", "/admin/invite", "", "owner").Brief(200, `"total":0`)
	in.Call("POST", fmt.Sprintf("/admin/list/%d/invite", made.ID), `{}`, "owner").Brief(409,
		`"errorCode":"has_password"`)
	in.OK("GET", fmt.Sprintf("/admin/list/%d", made.ID), "", "owner").Brief(200,
		`"email_verified":0`)
}

func TestInvitation_ThreeValidCopies(t *testing.T) {
	t.Parallel()
	in := servertest.Start(t)
	id := in.Guest("ann", "")
	var tokens []string
	for range 4 {
		tokens = append(tokens, in.LinkFor(id, "owner"))
	}

	in.OK("GET", "/admin/invite", "", "owner").Brief(200, `"links":3`, `"total":1`)
	page := func(token string) int {
		return in.Call("GET", mails.LinkPath+token, "", "nobody").Code
	}
	for i, want := range []int{404, 200, 200, 200} {
		if got := page(tokens[i]); got != want {
			t.Errorf("link %d: %d, want %d", i, got, want)
		}
	}

	in.UseLink("/admin/password/link", tokens[2], "a good password", "192.0.2.1").Brief(200)
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
	for name, change := range map[string]func(in *servertest.Instance, clerk *store.User,
		id store.ID){
		"the user becomes an owner": func(in *servertest.Instance, _ *store.User, id store.ID) {
			in.OK("PUT", fmt.Sprintf("/admin/list/%d", id), `{"role_ids":[1]}`, "owner")
		},
		"the clerk is disabled": func(in *servertest.Instance, clerk *store.User, _ store.ID) {
			in.OK("PUT", fmt.Sprintf("/admin/list/%d/status", clerk.ID), `{"status":0}`, "owner")
		},
		"the clerk is deleted": func(in *servertest.Instance, clerk *store.User, _ store.ID) {
			in.OK("DELETE", fmt.Sprintf("/admin/list/%d", clerk.ID), "", "owner")
		},
		"the clerk loses the permission": func(in *servertest.Instance, clerk *store.User,
			_ store.ID) {
			in.OK("PUT", fmt.Sprintf("/admin/role/%d/rule", clerk.RoleIDs[0]), `{"rule_ids":[]}`,
				"owner")
		},
		"the user is disabled": func(in *servertest.Instance, _ *store.User, id store.ID) {
			in.OK("PUT", fmt.Sprintf("/admin/list/%d/status", id), `{"status":0}`, "owner")
		},
		"the user is deleted": func(in *servertest.Instance, _ *store.User, id store.ID) {
			in.OK("DELETE", fmt.Sprintf("/admin/list/%d", id), "", "owner")
		},
		"the invitation is revoked": func(in *servertest.Instance, _ *store.User, _ store.ID) {
			in.OK("DELETE", "/admin/invite/1", "", "owner")
		},
		"a password is set": func(in *servertest.Instance, _ *store.User, id store.ID) {
			in.OK("PUT", fmt.Sprintf("/admin/list/%d/password", id), `{}`, "owner")
		},
		"a week passes": func(in *servertest.Instance, _ *store.User, _ store.ID) {
			in.Update(func(tx *store.Tx) error {
				_, err := store.Links.Update(tx, 1, func(l *store.Link) error {
					l.Tokens[0].ExpiresAt = tx.Now()
					return nil
				})
				return err
			})
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			in := servertest.Start(t)
			clerk := in.Clerk("clerk", "admin.list.query", "admin.invite.create")
			id := in.Guest("ann", "")
			token := in.LinkFor(id, "clerk")
			in.OK("GET", mails.LinkPath+token, "", "nobody")
			change(in, clerk, id)
			in.Call("GET", mails.LinkPath+token, "", "nobody").Brief(404)
			in.UseLink("/admin/password/link", token, "a good password", "192.0.2.1").Brief(404,
				`"errorCode":"link_expired"`)
		})
	}
}

// TestInvitation_CeilingAndScope covers every operation that creates, lists or revokes links for
// other users.
func TestInvitation_CeilingAndScope(t *testing.T) {
	t.Parallel()
	in := servertest.Start(t)
	in.TurnMailOn()
	here, there := in.Dept("Here", 0), in.Dept("There", 0)
	rights := []string{"admin.list.query", "admin.list.password", "admin.invite.query",
		"admin.invite.create", "admin.invite.delete"}
	role := in.Role("local", func(r *store.Role) { r.DataScope = store.ScopeDept }, rights...)
	in.Member("local", here, role)
	more := in.Role("more", nil, "system.info")
	inside, outside := in.Guest("inside", "inside@example.org"), in.Guest("outside",
		"outside@example.org")
	beyond := in.Guest("beyond", "beyond@example.org")
	in.Update(func(tx *store.Tx) error {
		set := func(id, dept store.ID, roles ...store.ID) error {
			_, err := store.Users.Update(tx, id, func(u *store.User) error {
				u.DeptID, u.RoleIDs = dept, roles
				return nil
			})
			return err
		}
		return errors.Join(set(inside, here), set(outside, there), set(beyond, here, more))
	})
	for _, id := range []store.ID{inside, outside, beyond} {
		in.OK("POST", fmt.Sprintf("/admin/list/%d/invite", id), `{}`, "owner")
	}

	for _, path := range []string{"invite", "reset-link"} {
		for _, body := range []string{`{}`, `{"send":1}`} {
			in.OK("POST", fmt.Sprintf("/admin/list/%d/%s", inside, path), body, "local")
			in.Call("POST", fmt.Sprintf("/admin/list/%d/%s", outside, path), body, "local").Brief(404)
			in.Call("POST", fmt.Sprintf("/admin/list/%d/%s", beyond, path), body, "local").Brief(403, `"errorCode":"beyond_ceiling"`)
		}
	}

	var many people.InvitedMany
	in.OK("POST", fmt.Sprintf("/admin/invite?ids=%d,%d,%d,999", inside, outside, beyond),
		`{"copy":1}`, "local").Data(&many)
	var codes []string
	for _, s := range many.Skipped {
		codes = append(codes, fmt.Sprint(s.UserID, " ", s.Username, " ", s.Code))
	}

	if want := []string{fmt.Sprint(outside, "  not_found"),
		fmt.Sprint(beyond, " beyond beyond_ceiling"), "999  not_found"}; many.Count != 1 ||
		len(many.Links) != 1 || !slices.Equal(codes, want) {
		t.Errorf("%+v, skipped %q, want %q", many, codes, want)
	}
	if got := in.Column("/admin/invite?sorter=%7B%22id%22:%22ascend%22%7D", "username", "local"); !slices.Equal(got, []string{"inside", "beyond"}) {
		t.Errorf("local sees the invitations of %q", got)
	}

	in.Call("DELETE", "/admin/invite/2", "", "local").Brief(404)
	in.Call("DELETE", "/admin/invite/3", "", "local").Brief(403)
	in.OK("DELETE", "/admin/invite/1", "", "local")
	in.Call("POST", "/admin/list/1/reset-link", `{}`, "local").Brief(404)
}

// TestInvitation_APIKeyCannotCopy checks that a key cannot copy links, since its holder could sign
// in as the user.
func TestInvitation_APIKeyCannotCopy(t *testing.T) {
	t.Parallel()
	in := servertest.Start(t)
	in.TurnMailOn()
	id := in.Guest("ann", "ann@example.org")
	in.Tokens["key"] = in.KeyOf(in.Clerk("inviter", "admin.invite.create", "admin.list.query"),
		servertest.ServiceKey)
	in.Call("POST", fmt.Sprintf("/admin/list/%d/invite", id), `{}`, "key").Brief(403)
	in.Call("POST", fmt.Sprintf("/admin/invite?ids=%d", id), `{"copy":1}`, "key").Brief(403)
	in.OK("POST", fmt.Sprintf("/admin/list/%d/invite", id), `{"send":1}`, "key").Brief(200,
		`"email":"ann@example.org"`)
	in.OK("POST", fmt.Sprintf("/admin/invite?ids=%d", id), `{"send":1}`, "key").Brief(200,
		`"count":1`)
}

// TestInvitation_OfImport is the whole way of many people: imported and invited, most of them
// accept at once from several addresses, some links expire, some are revoked, some are used twice.
func TestInvitation_OfImport(t *testing.T) {
	t.Parallel()
	const people, expired, revoked, twice, accepting, addresses = 200, 10, 10, 5, 150, 20
	in := servertest.Start(t)
	box := in.OpenMailbox()
	var csv strings.Builder
	csv.WriteString("username,nickname,email\n")
	for i := range people {
		fmt.Fprintf(&csv, "person%d,Person %[1]d,person%[1]d@example.org\n", i)
	}

	in.Upload("/admin/list-import?invite=1", csv.String(), "owner").Brief(200,
		fmt.Sprintf(`"created":%d`, people))
	in.OK("GET", "/system/mail?state=queued&pageSize=1", "", "owner").Brief(200,
		fmt.Sprintf(`"total":%d`, people))
	in.SendMails()
	mails := box.All()
	if len(mails) != people {
		t.Fatalf("%d mails were sent", len(mails))
	}

	tokens, ids := map[string]string{}, map[string]store.ID{}
	for _, m := range mails {
		name, _, _ := strings.Cut(m.To, "@")
		tokens[name] = m.Token(t)
	}

	name := func(i int) string { return fmt.Sprintf("person%d", i) }
	in.Update(func(tx *store.Tx) error {
		for l, err := range store.Links.All(tx) {
			servertest.Must(t, err)
			username, err := l.Account().Username(tx)
			servertest.Must(t, err)
			ids[username] = l.ID
		}
		for i := range expired {
			_, err := store.Links.Update(tx, ids[name(i)], func(l *store.Link) error {
				l.Tokens[0].ExpiresAt = tx.Now()
				return nil
			})
			servertest.Must(t, err)
		}
		return nil
	})
	var revoke []string
	for i := expired; i < expired+revoked; i++ {
		revoke = append(revoke, ids[name(i)].String())
	}

	in.OK("DELETE", "/admin/invite?ids="+strings.Join(revoke, ","), "", "owner")

	first := expired + revoked
	var accepted, refused atomic.Int64
	var wg sync.WaitGroup
	use := func(i int) {
		here := in.In(t)
		a := here.UseLink("/admin/password/link", tokens[name(i)], "the password of "+name(i),
			fmt.Sprintf("192.0.2.%d", 1+i%addresses))
		for a.Code == http.StatusServiceUnavailable { // too many at once: the client tries again
			a = here.UseLink("/admin/password/link", tokens[name(i)], "the password of "+name(i),
				fmt.Sprintf("192.0.2.%d", 1+i%addresses))
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
		t.Errorf("%d accepted and %d refused, want %d and %d", accepted.Load(), refused.Load(),
			accepting, expired+revoked+twice)
	}

	in.View(func(tx *store.Tx) error {
		for i := range people {
			u, err := store.UserByName.Get(tx, name(i))
			servertest.Must(t, err)
			_, err = store.HashOf(tx, store.Account{ID: u.ID})
			has := i >= first && i < first+accepting
			if has != (err == nil) || has != bool(u.EmailVerified) {
				t.Errorf("%s: password %v, email verified %v", u.Username, err, u.EmailVerified)
			}
		}
		return nil
	})
	in.OK("GET", "/admin/invite?pageSize=1", "", "owner").Brief(200,
		fmt.Sprintf(`"total":%d`, people-accepting-revoked))
	for _, i := range []int{first, first + accepting - 1} {
		in.OK("POST", "/admin/login",
			fmt.Sprintf(`{"username":%q,"password":"the password of %[1]s"}`, name(i)), "nobody")
	}

	noTokens(in, tokens)
	acceptancesAreLogged(in, accepting)
}

// noTokens checks that no token is in the files of the instance: database, change log, monitoring.
func noTokens(in *servertest.Instance, tokens map[string]string) {
	in.T.Helper()
	in.Flush()
	data := stored(in)
	for name, token := range tokens {
		if strings.Contains(data, token) ||
			strings.Contains(data, token[len("rv_l_"):len(token)-6]) {
			in.T.Fatalf("the token of %s is stored", name)
		}
	}
}

// acceptancesAreLogged checks that the change log has an entry for each use of a link, by the
// person.
func acceptancesAreLogged(in *servertest.Instance, want int) {
	in.T.Helper()
	operation := url.QueryEscape("POST /admin/password/link")
	actors := in.Column("/system/audit?pageSize=1000&operation="+operation, "actor", "owner")
	if len(actors) != want {
		in.T.Fatalf("%d uses are in the change log, want %d", len(actors), want)
	}
	for _, actor := range actors {
		if !strings.Contains(actor, `"kind":"user"`) {
			in.T.Fatalf("the actor of a use is %s", actor)
		}
	}
}

// TestMailLink_EndsWithAddress checks that a reader of the user's previous mailbox can't get the
// account.
func TestMailLink_EndsWithAddress(t *testing.T) {
	t.Parallel()
	in := servertest.Start(t)
	box := in.OpenMailbox()
	id := in.Guest("ann", "old@example.org")
	in.OK("POST", fmt.Sprintf("/admin/list/%d/invite", id), `{"send":1}`, "owner")
	in.SendMails()
	token := box.Last(t, "old@example.org").Token(t)
	in.OK("GET", mails.LinkPath+token, "", "nobody")
	in.OK("PUT", fmt.Sprintf("/admin/list/%d", id), `{"email":"new@example.org"}`, "owner")
	in.Call("GET", mails.LinkPath+token, "", "nobody").Brief(404)
	in.OK("PUT", fmt.Sprintf("/admin/list/%d", id), `{"email":"OLD@example.org"}`, "owner")
	in.UseLink("/admin/password/link", token, "a good password", "192.0.2.1").Brief(200)
	in.OK("GET", fmt.Sprintf("/admin/list/%d", id), "", "owner").Brief(200, `"email_verified":1`)
	in.OK("PUT", fmt.Sprintf("/admin/list/%d", id), `{"email":"third@example.org"}`, "owner").Brief(200, `"email_verified":0`)
}

func TestEmailVerification(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, info, email, verify, as string }{
		{"users", "/admin/info", "/admin/email", "/admin/verify", "member"},
		{"app users", "/api/user", "/api/user/email", "/api/verify", "customer"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			in := servertest.Start(t)
			box := in.OpenMailbox()
			in.Member("member", 0)
			in.AppUser("customer")
			password := ""
			if c.as == "customer" {
				password = `,"password":"` + servertest.OwnerPassword + `"`
			}

			in.Call("POST", c.email, `{}`, c.as).Names(422, "email")
			in.OK("PUT", c.info, `{"email":"first@example.org"`+password+`}`, c.as)
			in.OK("POST", c.email, `{}`, c.as).Brief(200, `"sent_to":"first@example.org"`)
			in.SendMails()
			token := box.Last(t, "first@example.org").Token(t)
			in.UseLink("/admin/password/link", token, "a good password", "192.0.2.1").Brief(404)
			in.OK("POST", c.verify, `{"token":"`+token+`"}`, "nobody")
			if !strings.Contains(in.OK("GET", c.info, "", c.as).Body, `"email_verified":1`) {
				t.Error("the address is not verified")
			}
			if c.as == "customer" {
				in.Call("POST", c.email, `{"email":"second@example.org"}`, c.as).Names(422,
					"password")
			}

			in.OK("POST", c.email, `{"email":"second@example.org"`+password+`}`, c.as)
			in.SendMails()
			if strings.Contains(in.OK("GET", c.info, "", c.as).Body, "second@example.org") {
				t.Error("the address has changed before it was confirmed")
			}

			in.OK("POST", c.verify, `{"token":"`+box.Last(t, "second@example.org").Token(t)+`"}`,
				"nobody")
			body := in.OK("GET", c.info, "", c.as).Body
			if !strings.Contains(body, `"email":"second@example.org","email_verified":1`) {
				t.Errorf("the address has not changed: %s", body)
			}

			in.SendMails()
			if _, text := box.Last(t, "first@example.org").Text(t); !strings.Contains(text,
				"second@example.org") {
				t.Errorf("the old address was not told: %q", text)
			}

			in.OK("POST", c.email, `{"email":"third@example.org"`+password+`}`, c.as)
			in.Call("POST", c.email, `{"email":"fourth@example.org"`+password+`}`, c.as).Brief(429)
		})
	}
}

// TestMailLink_UnknownIsRateLimited checks that unknown links are limited by address, and a valid
// one is not.
func TestMailLink_UnknownIsRateLimited(t *testing.T) {
	t.Parallel()
	in := servertest.Start(t)
	id := in.Guest("ann", "")
	token := in.LinkFor(id, "owner")
	unknown, _ := auth.NewLink()
	codes := map[int]int{}
	for range 60 {
		codes[in.UseLink("/admin/password/link", unknown, "a good password", "192.0.2.7").Code]++
		if in.Call("GET", mails.LinkPath+token, "", "nobody").Code != 200 {
			t.Fatal("a valid link does not work")
		}
	}

	if codes[404] != 50 || codes[429] != 10 {
		t.Errorf("%v", codes)
	}

	in.UseLink("/admin/password/link", token, "a good password", "192.0.2.7").Brief(200)
}

func TestMailLink_EndedByRestore(t *testing.T) {
	t.Parallel()
	in := servertest.Start(t)
	in.TurnMailOn()
	id := in.Guest("ann", "ann@example.org")
	token := in.LinkFor(id, "owner")
	in.OK("POST", fmt.Sprintf("/admin/list/%d/invite", id), `{"send":1}`, "owner")
	in = in.Restored()
	in.Call("GET", mails.LinkPath+token, "", "nobody").Brief(404)
	in.OK("GET", "/admin/invite", "", "owner").Brief(200, `"links":0`, `"expires_at":null`,
		`"total":1`)
	in.OK("GET", "/system/mail", "", "owner").Brief(200, `"state":"failed"`, `"stage":"restored"`)
	in.OK("GET", "/api/home", "", "nobody").Brief(200, `"forgot_password":0`)
	in.Call("POST", "/system/mail/1/retry", "", "owner").Brief(409, `"errorCode":"mail_off"`)
	in.OK("PUT", "/system/setting", `{"values":{"mail.enabled":1}}`, "owner")
	in.OK("POST", "/system/mail/1/retry", "", "owner").Brief(200, `"state":"queued"`)
}

// stored returns the bytes of all files in the data directory.
func stored(in *servertest.Instance) string {
	in.T.Helper()
	var all strings.Builder
	servertest.Must(in.T,
		filepath.WalkDir(in.Dir, func(path string, d fs.DirEntry, err error) error {
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
	in := servertest.Start(t)
	here := in.Dept("Here", 0)
	local := in.Role("local", func(r *store.Role) {
		r.DataScope = store.ScopeDept
	}, "system.audit.query", "admin.invite.query")
	in.Member("local", here, local)
	in.Clerk("all", "system.audit.query", "admin.invite.query")
	in.Clerk("apps", "system.audit.query", "user.invite.query")
	in.Clerk("none", "system.audit.query")
	inside, outside, customer := in.Guest("inside", ""), in.Guest("outside", ""), in.AppGuest("customer", "")
	in.OK("PUT", fmt.Sprintf("/admin/list/%d", inside), fmt.Sprintf(`{"dept_id":%d}`, here),
		"owner")
	for _, url := range []string{fmt.Sprintf("/admin/list/%d/invite", inside),
		fmt.Sprintf("/admin/list/%d/invite", outside),
		fmt.Sprintf("/user/list/%d/invite", customer)} {
		in.OK("POST", url, `{}`, "owner")
	}

	for _, url := range []string{"/admin/invite/1", "/admin/invite/2", "/user/invite/3"} {
		in.OK("DELETE", url, "", "owner")
	}

	for who, want := range map[string]string{
		"owner": "1 2 3",
		"all":   "1 2",
		"local": "1",
		"apps":  "3",
		"none":  "",
	} {
		var seen []string
		for id := 1; id <= 3; id++ {
			if a := in.Call("GET",
				fmt.Sprintf("/system/audit?collection=link&record=%d&pageSize=1", id), "", who); strings.Contains(a.Body, `"collection":"link"`) {
				seen = append(seen, fmt.Sprint(id))
			}
		}
		if got := strings.Join(seen, " "); got != want {
			t.Errorf("%s sees the changes of the links %q, want %q", who, got, want)
		}
	}
}
