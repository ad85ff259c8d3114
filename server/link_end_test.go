package server

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/emersion/go-smtp"
	"reeve/server/mails"
	"reeve/server/web"
	"reeve/store"
)

// TestEmailChange_EndedByNewPassword checks that an attacker who briefly had the session can't get
// the account back by a link to their own address.
func TestEmailChange_EndedByNewPassword(t *testing.T) {
	t.Parallel()
	for name, end := range map[string]func(in *instance, id store.ID){
		"the user changes the password": func(in *instance, _ store.ID) {
			in.ok("PUT", "/admin/password", `{"old_password":"`+ownerPassword+`","new_password":"another password"}`, "victim")
		},
		"an administrator resets it": func(in *instance, id store.ID) {
			in.ok("PUT", fmt.Sprintf("/admin/list/%d/password", id), `{}`, "owner")
		},
		"an administrator changes the address": func(in *instance, id store.ID) {
			in.ok("PUT", fmt.Sprintf("/admin/list/%d", id), `{"email":"right@example.org"}`, "owner")
		},
		"the user changes the address": func(in *instance, _ store.ID) {
			in.ok("PUT", "/admin/info", `{"email":"right@example.org"}`, "victim")
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			in := start(t)
			box := in.openMailbox()
			id := in.member("victim", 0)
			in.ok("PUT", "/admin/info", `{"email":"victim@example.org"}`, "victim")
			in.ok("POST", "/admin/email", `{}`, "victim")
			in.ok("POST", "/admin/email", `{"email":"evil@example.net"}`, "victim")
			in.sendMails()
			own, evil := box.last(t, "victim@example.org").token(t), box.last(t, "evil@example.net").token(t)
			end(in, id)
			for _, token := range []string{own, evil} {
				in.call("POST", "/admin/verify", `{"token":"`+token+`"}`, "nobody").brief(404)
			}
			if body := in.ok("GET", fmt.Sprintf("/admin/list/%d", id), "", "owner").Body; strings.Contains(body, "evil") || strings.Contains(body, `"email_verified":1`) {
				t.Error(body)
			}
		})
	}
}

// TestEmailChange_NeedsPasswordPermission checks the permission for passwords while new passwords
// are mailed to the address.
func TestEmailChange_NeedsPasswordPermission(t *testing.T) {
	t.Parallel()
	in := start(t)
	in.clerk("editor", "admin.list.query", "admin.list.update", "user.list.query", "user.list.update")
	in.clerk("inviter", "admin.list.query", "admin.list.update", "admin.invite.create")
	in.clerk("resetter", "admin.list.query", "admin.list.update", "admin.list.password", "user.list.update", "user.list.password")
	in.tokens["key"] = in.keyOf(in.person("editor"), serviceKey)
	user := fmt.Sprintf("/admin/list/%d", in.member("ann", 0))
	invited := fmt.Sprintf("/admin/list/%d", in.guest("ben", "ben@example.org"))
	in.appUser("customer")
	in.ok("PUT", user, `{"email":"ann@example.org"}`, "editor")
	box := in.openMailbox()
	for _, who := range []string{"editor", "key", "inviter"} {
		in.call("PUT", user, `{"email":"mine@example.org"}`, who).brief(403, "admin.list.password")
		in.ok("PUT", user, `{"email":"Ann@example.org","nickname":"A"}`, who)
	}
	in.call("PUT", invited, `{"email":"mine@example.org"}`, "editor").brief(403)
	in.ok("PUT", invited, `{"email":"mine@example.org"}`, "inviter")
	in.call("PUT", "/user/list/1", `{"email":"mine@example.net"}`, "editor").brief(403, "user.list.password")
	in.ok("PUT", "/user/list/1", `{"email":"customer@example.net"}`, "resetter")
	in.ok("PUT", user, `{"email":"new@example.org"}`, "resetter")
	in.sendMails()
	if _, text := box.last(t, "Ann@example.org").text(t); !strings.Contains(text, "new@example.org") {
		t.Errorf("the former address is not told: %q", text)
	}
}

// TestPasswordReset_QueuedEndsWithPassword: it is not sent later with a link that works.
func TestPasswordReset_QueuedEndsWithPassword(t *testing.T) {
	t.Parallel()
	in := start(t)
	in.server.outbox.Backoff = func(int) time.Duration { return time.Minute }
	box := in.openMailbox()
	box.rejecting(func(string) error { return &smtp.SMTPError{Code: 451, Message: "later"} })
	id := in.member("ann", 0)
	user := fmt.Sprintf("/admin/list/%d", id)
	in.ok("PUT", user, `{"email":"ann@example.org"}`, "owner")
	in.ok("POST", user+"/reset-link", `{"send":1}`, "owner")
	in.sendMails()
	in.ok("GET", "/system/mail/1", "", "owner").brief(200, `"state":"queued"`, `"attempts":1`)
	box.rejecting(nil)
	in.ok("PUT", user+"/password", `{}`, "owner")
	in.call("POST", "/system/mail/1/retry", "", "owner").brief(409, `"errorCode":"link_gone"`)
	in.update(func(tx *store.Tx) error {
		_, err := store.Mails.Update(tx, 1, func(m *store.Mail) error { m.NextAt = tx.Now(); return nil })
		return err
	})
	in.sendMails()
	if n := len(box.all()); n != 0 {
		t.Errorf("%d mails were sent", n)
	}
	in.ok("GET", "/system/mail/1", "", "owner").brief(200, `"state":"cancelled"`)
}

// TestMail_RefusedKeepsLinkCopies also checks that copies are sent with Message-IDs of their own.
func TestMail_RefusedKeepsLinkCopies(t *testing.T) {
	t.Parallel()
	in := start(t)
	in.server.outbox.Backoff = func(int) time.Duration { return 0 }
	box := in.openMailbox()
	id := in.inviteByMail("ann", "ann@example.org")
	copied := in.linkFor(id, "owner")
	refusals := 5
	box.rejecting(func(string) error {
		if refusals--; refusals < 0 {
			return nil
		}
		return &smtp.SMTPError{Code: 451, Message: "later"}
	})
	in.sendMails()
	in.ok("GET", "/admin/invite", "", "owner").brief(200, `"links":2`)
	for range 4 {
		in.ok("POST", "/system/mail/1/retry", "", "owner")
		in.sendMails()
	}
	in.ok("GET", "/admin/invite", "", "owner").brief(200, `"links":3`)
	in.ok("GET", mails.LinkPath+copied, "", "nobody")
	ids := map[string]bool{}
	for _, m := range box.all() {
		_, rest, _ := strings.Cut(m.data, "Message-ID: ")
		line, _, _ := strings.Cut(rest, "\r\n")
		ids[line] = true
	}
	if len(ids) != 5 {
		t.Errorf("Message-IDs %v", ids)
	}
}

// TestMail_RefusedSenderHoldsQueue checks that the queue waits, since every other mail has the same
// sender.
func TestMail_RefusedSenderHoldsQueue(t *testing.T) {
	t.Parallel()
	in := start(t)
	in.server.outbox.Backoff = func(int) time.Duration { return time.Hour }
	box := in.openMailbox()
	box.refusingSender(&smtp.SMTPError{Code: 553, EnhancedCode: smtp.EnhancedCode{5, 7, 1}, Message: "sender not owned"})
	for i := range 3 {
		in.inviteByMail(fmt.Sprintf("user%d", i), fmt.Sprintf("user%d@example.org", i))
	}
	in.sendMails()
	in.ok("GET", "/system/mail?state=queued", "", "owner").brief(200, `"total":3`, `"stage":"sender"`)
	_, parts := in.healthParts()
	if p := parts["mail"]; p.State != web.Degraded || !strings.Contains(p.Text, "sender not owned") {
		t.Errorf("health: %+v", p)
	}
	in.ok("GET", "/admin/invite", "", "owner").brief(200, `"links":0`)
	box.refusingSender(nil)
	in.ok("POST", "/system/mail-test", `{"email":"boss@example.org"}`, "owner").brief(200, `"sent":1`)
	in.sendMails() // the test has made them due
	if n := len(box.all()); n != 4 {
		t.Errorf("%d mails arrived", n)
	}
	if _, parts = in.healthParts(); parts["mail"].State != web.Healthy {
		t.Errorf("health: %+v", parts["mail"])
	}
	in.ok("PUT", "/system/setting", `{"values":{"mail.enabled":0}}`, "owner")
	if _, parts = in.healthParts(); parts["mail"].State != web.Healthy {
		t.Errorf("health when it is off: %+v", parts["mail"])
	}
}

// TestMail_QuotedMessageHidesLink does not bring its link into the list of mails.
func TestMail_QuotedMessageHidesLink(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"refused: https://reeve.example.org/link/rv_l_abc= def_gh": "refused: https://reeve.example.org******",
		"see rv_l_abc":   "see ******",
		"550 user/links": "550 user/links",
		"OK: queued":     "OK: queued",
	} {
		if got := mails.Conceal(text); got != want {
			t.Errorf("%q becomes %q, want %q", text, got, want)
		}
	}
}
