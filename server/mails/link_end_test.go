package mails_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/emersion/go-smtp"

	"reeve/server/mails"
	"reeve/server/servertest"
	"reeve/server/web"
	"reeve/store"
)

// TestEmailChange_EndedByNewPassword checks that an attacker who briefly had the session can't get
// the account back by a link to their own address.
func TestEmailChange_EndedByNewPassword(t *testing.T) {
	t.Parallel()
	for name, end := range map[string]func(in *servertest.Instance, id store.ID){
		"the user changes the password": func(in *servertest.Instance, _ store.ID) {
			in.OK("PUT", "/admin/password",
				`{"old_password":"`+servertest.OwnerPassword+`","new_password":"another password"}`, "victim")
		},
		"an administrator resets it": func(in *servertest.Instance, id store.ID) {
			in.OK("PUT", fmt.Sprintf("/admin/list/%d/password", id), `{}`, "owner")
		},
		"an administrator changes the address": func(in *servertest.Instance, id store.ID) {
			in.OK("PUT", fmt.Sprintf("/admin/list/%d", id), `{"email":"right@example.org"}`,
				"owner")
		},
		"the user changes the address": func(in *servertest.Instance, _ store.ID) {
			in.OK("PUT", "/admin/info", `{"email":"right@example.org"}`, "victim")
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			in := servertest.Start(t)
			box := in.OpenMailbox()
			id := in.Member("victim", 0)
			in.OK("PUT", "/admin/info", `{"email":"victim@example.org"}`, "victim")
			in.OK("POST", "/admin/email", `{}`, "victim")
			in.OK("POST", "/admin/email", `{"email":"evil@example.net"}`, "victim")
			in.SendMails()
			own, evil := box.Last(t, "victim@example.org").Token(t), box.Last(t,
				"evil@example.net").Token(t)
			end(in, id)
			for _, token := range []string{own, evil} {
				in.Call("POST", "/admin/verify", `{"token":"`+token+`"}`, "nobody").Brief(404)
			}

			if body := in.OK("GET", fmt.Sprintf("/admin/list/%d", id), "", "owner").Body; strings.Contains(body, "evil") || strings.Contains(body, `"email_verified":1`) {
				t.Error(body)
			}
		})
	}
}

// TestEmailChange_NeedsPasswordPermission checks the permission for passwords while new passwords
// are mailed to the address.
func TestEmailChange_NeedsPasswordPermission(t *testing.T) {
	t.Parallel()
	in := servertest.Start(t)
	in.Clerk("editor", "admin.list.query", "admin.list.update", "user.list.query",
		"user.list.update")
	in.Clerk("inviter", "admin.list.query", "admin.list.update", "admin.invite.create")
	in.Clerk("resetter", "admin.list.query", "admin.list.update", "admin.list.password",
		"user.list.update", "user.list.password")
	in.Tokens["key"] = in.KeyOf(in.Person("editor"), servertest.ServiceKey)
	user := fmt.Sprintf("/admin/list/%d", in.Member("ann", 0))
	invited := fmt.Sprintf("/admin/list/%d", in.Guest("ben", "ben@example.org"))
	in.AppUser("customer")
	in.OK("PUT", user, `{"email":"ann@example.org"}`, "editor")
	box := in.OpenMailbox()
	for _, who := range []string{"editor", "key", "inviter"} {
		in.Call("PUT", user, `{"email":"mine@example.org"}`, who).Brief(403, "admin.list.password")
		in.OK("PUT", user, `{"email":"Ann@example.org","nickname":"A"}`, who)
	}

	in.Call("PUT", invited, `{"email":"mine@example.org"}`, "editor").Brief(403)
	in.OK("PUT", invited, `{"email":"mine@example.org"}`, "inviter")
	in.Call("PUT", "/user/list/1", `{"email":"mine@example.net"}`, "editor").Brief(403,
		"user.list.password")
	in.OK("PUT", "/user/list/1", `{"email":"customer@example.net"}`, "resetter")
	in.OK("PUT", user, `{"email":"new@example.org"}`, "resetter")
	in.SendMails()
	if _, text := box.Last(t, "Ann@example.org").Text(t); !strings.Contains(text,
		"new@example.org") {
		t.Errorf("the former address is not told: %q", text)
	}
}

// TestPasswordReset_QueuedEndsWithPassword: it is not sent later with a link that works.
func TestPasswordReset_QueuedEndsWithPassword(t *testing.T) {
	t.Parallel()
	in := servertest.Start(t)
	in.Server.Outbox.Backoff = func(int) time.Duration { return time.Minute }
	box := in.OpenMailbox()
	box.Rejecting(func(string) error { return &smtp.SMTPError{Code: 451, Message: "later"} })
	id := in.Member("ann", 0)
	user := fmt.Sprintf("/admin/list/%d", id)
	in.OK("PUT", user, `{"email":"ann@example.org"}`, "owner")
	in.OK("POST", user+"/reset-link", `{"send":1}`, "owner")
	in.SendMails()
	in.OK("GET", "/system/mail/1", "", "owner").Brief(200, `"state":"queued"`, `"attempts":1`)
	box.Rejecting(nil)
	in.OK("PUT", user+"/password", `{}`, "owner")
	in.Call("POST", "/system/mail/1/retry", "", "owner").Brief(409, `"errorCode":"link_gone"`)
	in.Update(func(tx *store.Tx) error {
		_, err := store.Mails.Update(tx, 1, func(m *store.Mail) error {
			m.NextAt = tx.Now()
			return nil
		})
		return err
	})
	in.SendMails()
	if n := len(box.All()); n != 0 {
		t.Errorf("%d mails were sent", n)
	}

	in.OK("GET", "/system/mail/1", "", "owner").Brief(200, `"state":"cancelled"`)
}

// TestMail_RefusedKeepsLinkCopies also checks that copies are sent with Message-IDs of their own.
func TestMail_RefusedKeepsLinkCopies(t *testing.T) {
	t.Parallel()
	in := servertest.Start(t)
	in.Server.Outbox.Backoff = func(int) time.Duration { return 0 }
	box := in.OpenMailbox()
	id := inviteByMail(in, "ann", "ann@example.org")
	copied := in.LinkFor(id, "owner")
	refusals := 5
	box.Rejecting(func(string) error {
		if refusals--; refusals < 0 {
			return nil
		}
		return &smtp.SMTPError{Code: 451, Message: "later"}
	})
	in.SendMails()
	in.OK("GET", "/admin/invite", "", "owner").Brief(200, `"links":2`)
	for range 4 {
		in.OK("POST", "/system/mail/1/retry", "", "owner")
		in.SendMails()
	}

	in.OK("GET", "/admin/invite", "", "owner").Brief(200, `"links":3`)
	in.OK("GET", mails.LinkPath+copied, "", "nobody")
	ids := map[string]bool{}
	for _, m := range box.All() {
		_, rest, _ := strings.Cut(m.Data, "Message-ID: ")
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
	in := servertest.Start(t)
	in.Server.Outbox.Backoff = func(int) time.Duration { return time.Hour }
	box := in.OpenMailbox()
	box.RefusingSender(&smtp.SMTPError{
		Code:         553,
		EnhancedCode: smtp.EnhancedCode{5, 7, 1},
		Message:      "sender not owned",
	})
	for i := range 3 {
		inviteByMail(in, fmt.Sprintf("user%d", i), fmt.Sprintf("user%d@example.org", i))
	}

	in.SendMails()
	in.OK("GET", "/system/mail?state=queued", "", "owner").Brief(200, `"total":3`,
		`"stage":"sender"`)
	_, parts := in.HealthParts()
	if p := parts["mail"]; p.State != web.Degraded ||
		!strings.Contains(p.Text, "sender not owned") {
		t.Errorf("health: %+v", p)
	}

	in.OK("GET", "/admin/invite", "", "owner").Brief(200, `"links":0`)
	box.RefusingSender(nil)
	in.OK("POST", "/system/mail-test", `{"email":"boss@example.org"}`, "owner").Brief(200,
		`"sent":1`)
	in.SendMails() // the test has made them due
	if n := len(box.All()); n != 4 {
		t.Errorf("%d mails arrived", n)
	}
	if _, parts = in.HealthParts(); parts["mail"].State != web.Healthy {
		t.Errorf("health: %+v", parts["mail"])
	}

	in.OK("PUT", "/system/setting", `{"values":{"mail.enabled":0}}`, "owner")
	if _, parts = in.HealthParts(); parts["mail"].State != web.Healthy {
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
