package server

import (
	"fmt"
	"math"
	"net"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/emersion/go-smtp"
	"reeve/auth"
	"reeve/server/mails"
	"reeve/server/web"
	"reeve/store"
	"reeve/store/disk/disktest"
)

// firstMail returns the first mail as the API shows it.
func (in *instance) firstMail() mails.MailOut {
	in.t.Helper()
	var m mails.MailOut
	in.ok("GET", "/system/mail/1", "", "owner").data(&m)
	return m
}

func (in *instance) inviteByMail(name, email string) store.ID {
	in.t.Helper()
	id := in.guest(name, email)
	in.ok("POST", fmt.Sprintf("/admin/list/%d/invite", id), `{"send":1}`, "owner")
	return id
}

func TestMail_Sent(t *testing.T) {
	t.Parallel()
	in := start(t)
	box := in.openMailbox()
	in.ok("PUT", "/system/setting", `{"values":{"site.title":"Shop <b>&</b>","site.contact":"help@example.org"}}`, "owner")
	in.update(func(tx *store.Tx) error {
		_, err := store.Users.Update(tx, auth.FirstUser, func(u *store.User) error { u.Nickname = "The Boss"; return nil })
		return err
	})
	in.inviteByMail("ann", "ann@example.org")
	if m := in.firstMail(); m.State != store.MailQueued || m.Attempts != 0 || m.NextAt == 0 || m.Email != "ann@example.org" || m.Username != "ann" {
		t.Errorf("queued: %+v", m)
	}
	in.sendMails()
	if m := in.firstMail(); m.State != store.MailSent || m.Attempts != 1 || m.NextAt != 0 || m.SentAt == 0 || m.Stage != "" || !strings.HasPrefix(m.Response, "250") && !strings.Contains(m.Response, "OK") {
		t.Errorf("sent: %+v", m)
	}
	sent := box.last(t, "ann@example.org")
	subject, text := sent.text(t)
	for _, want := range []string{"The Boss", "ann", "Shop <b>&</b>", "help@example.org", "UTC"} {
		if !strings.Contains(text+subject, want) {
			t.Errorf("%q lacks %s", text, want)
		}
	}
	if strings.Contains(sent.data, "Shop <b>") && strings.Contains(sent.data, "text/html") && strings.Count(sent.data, "Shop <b>") > strings.Count(text+subject, "Shop <b>") {
		t.Error("the title is HTML in the mail")
	}
	in.ok("GET", mails.LinkPath+sent.token(t), "", "nobody").brief(200, "ann", "Shop &lt;b&gt;&amp;&lt;/b&gt;", "help@example.org")
	in.sendMails()
	if n := len(box.all()); n != 1 {
		t.Errorf("%d mails", n)
	}
}

// TestMail_FailureIsRetried checks that each retry has a new link until the mail expires. A
// permanent rejection is not retried.
func TestMail_FailureIsRetried(t *testing.T) {
	t.Parallel()
	in := start(t)
	in.server.outbox.Backoff = func(int) time.Duration { return 0 }
	box := in.openMailbox()
	answers := []error{
		&smtp.SMTPError{Code: 451, EnhancedCode: smtp.EnhancedCode{4, 7, 1}, Message: "greylisted"},
		&smtp.SMTPError{Code: 452, EnhancedCode: smtp.EnhancedCode{4, 2, 2}, Message: "mailbox full"},
	}
	box.rejecting(func(string) error {
		if len(answers) == 0 {
			return nil
		}
		err := answers[0]
		answers = answers[1:]
		return err
	})
	in.inviteByMail("ann", "ann@example.org")
	in.sendMails()
	if m := in.firstMail(); m.State != store.MailSent || m.Attempts != 3 {
		t.Errorf("%+v", m)
	}
	in.useLink("/admin/password/link", box.last(t, "ann@example.org").token(t), "a good password", "192.0.2.1").brief(200)

	box.rejecting(func(string) error {
		return &smtp.SMTPError{Code: 550, EnhancedCode: smtp.EnhancedCode{5, 1, 1}, Message: "no such user"}
	})
	in.inviteByMail("ben", "ben@example.org")
	in.sendMails()
	in.ok("GET", "/system/mail?state=failed", "", "owner").brief(200, `"total":1`, `"stage":"recipient"`, `"response":"550 5.1.1 no such user"`, `"attempts":1`)
	in.ok("GET", "/admin/invite", "", "owner").brief(200, `"mail_state":"failed"`, `"mail_response":"550 5.1.1 no such user"`)
	box.rejecting(nil)
	in.ok("POST", "/system/mail/2/retry", "", "owner").brief(200, `"state":"queued"`)
	in.sendMails()
	in.useLink("/admin/password/link", box.last(t, "ben@example.org").token(t), "a good password", "192.0.2.1").brief(200)
}

// TestMail_DeadServerDelaysNobody: one that accepts connections and says nothing.
func TestMail_DeadServerDelaysNobody(t *testing.T) {
	t.Parallel()
	in := start(t)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	port := l.Addr().(*net.TCPAddr).Port
	must(t, l.Close())
	in.sendMailTo(port) // nobody listens there now
	in.server.outbox.Backoff = func(int) time.Duration { return time.Hour }
	for i := range mails.MailBatch + 3 {
		in.inviteByMail(fmt.Sprintf("user%d", i), fmt.Sprintf("user%d@example.org", i))
	}
	before := in.db.LogHead().Seq
	in.sendMails()
	if in.db.LogHead().Seq != before {
		t.Error("links were made for mails that could not be sent")
	}
	in.ok("GET", "/system/mail?state=queued", "", "owner").brief(200, fmt.Sprintf(`"total":%d`, mails.MailBatch+3), `"stage":"connect"`, `"attempts":1`, "connection refused")
	_, parts := in.healthParts()
	if p := parts["mail"]; p.State != web.Degraded || p.Figures["queued"] != mails.MailBatch+3 || !strings.Contains(p.Text, "connection refused") {
		t.Errorf("health: %+v", p)
	}
	in.ok("POST", "/system/mail-test", `{"email":"boss@example.org"}`, "owner").brief(200, `"sent":0`, `"stage":"connect"`)
	box := in.openMailbox()
	in.ok("POST", "/system/mail-test", `{"email":"boss@example.org"}`, "owner").brief(200, `"sent":1`, `"stage":""`)
	in.sendMails() // the test has made them due
	if n := len(box.all()); n != mails.MailBatch+4 {
		t.Errorf("%d mails arrived", n)
	}
	if _, parts = in.healthParts(); parts["mail"].State != web.Healthy {
		t.Errorf("health: %+v", parts["mail"])
	}
}

// TestMail_ObsoleteIsNotSent has mails whose reason has gone since they were queued.
func TestMail_ObsoleteIsNotSent(t *testing.T) {
	t.Parallel()
	in := start(t)
	box := in.openMailbox()
	in.inviteByMail("revoked", "revoked@example.org")
	in.ok("DELETE", "/admin/invite/1", "", "owner")
	accepted := in.inviteByMail("accepted", "accepted@example.org")
	in.ok("PUT", fmt.Sprintf("/admin/list/%d/password", accepted), `{}`, "owner")
	without := in.inviteByMail("without", "without@example.org")
	in.ok("PUT", fmt.Sprintf("/admin/list/%d", without), `{"email":""}`, "owner")
	deleted := in.inviteByMail("deleted", "deleted@example.org")
	in.ok("DELETE", fmt.Sprintf("/admin/list/%d", deleted), "", "owner")
	disabled := in.inviteByMail("disabled", "disabled@example.org")
	in.ok("PUT", fmt.Sprintf("/admin/list/%d/status", disabled), `{"status":0}`, "owner")
	late := in.inviteByMail("late", "late@example.org")
	in.update(func(tx *store.Tx) error {
		m, err := store.LastMail(tx, store.Invitation, store.Account{ID: late})
		must(t, err)
		_, err = store.Mails.Update(tx, m.ID, func(m *store.Mail) error { m.Until = tx.Now(); return nil })
		return err
	})
	moved := in.inviteByMail("moved", "before@example.org")
	in.ok("PUT", fmt.Sprintf("/admin/list/%d", moved), `{"email":"after@example.org"}`, "owner")
	in.sendMails()
	var to []string
	for _, m := range box.all() {
		to = append(to, m.to)
	}
	slices.Sort(to)
	if !slices.Equal(to, []string{"after@example.org", "before@example.org"}) { // that one gets the notice
		t.Errorf("sent to %q", to)
	}
	states := in.column("/system/mail?sorter=%7B%22id%22:%22ascend%22%7D", "state", "owner")
	if want := []string{"cancelled", "cancelled", "cancelled", "cancelled", "failed", "sent", "sent"}; !slices.Equal(states, want) {
		t.Errorf("states %q, want %q", states, want)
	}
}

func TestMail_NeedsSettings(t *testing.T) {
	t.Parallel()
	in := start(t, func(s *setup) { s.config.PublicURL = "" })
	id := in.guest("ann", "ann@example.org")
	invite := func() *reply { return in.call("POST", fmt.Sprintf("/admin/list/%d/invite", id), `{"send":1}`, "owner") }
	home := func(want string) { in.ok("GET", "/api/home", "", "nobody").brief(200, `"forgot_password":`+want) }
	invite().brief(409, `"errorCode":"mail_off"`, "mail.enabled")
	in.ok("PUT", "/system/setting", `{"values":{"mail.enabled":1}}`, "owner")
	invite().brief(409, "mail.host")
	in.ok("PUT", "/system/setting", `{"values":{"mail.host":"127.0.0.1"}}`, "owner")
	invite().brief(409, "mail.from")
	in.ok("POST", "/system/mail-test", `{"email":"boss@example.org"}`, "owner").brief(200, `"sent":0`, `"stage":"settings"`, "mail.from")
	in.call("PUT", "/system/setting", `{"values":{"mail.from":"no address"}}`, "owner").names(422, "values.mail.from")
	in.ok("PUT", "/system/setting", `{"values":{"mail.from":"reeve@example.org"}}`, "owner")
	invite().brief(409, "server.public_url")
	home("0")
	in.call("POST", "/admin/password/forgot", `{"username":"ann"}`, "nobody").brief(403, `"errorCode":"mail_off"`)
	_, parts := in.healthParts()
	if p := parts["mail"]; p.State != web.Degraded || !strings.Contains(p.Text, "server.public_url") {
		t.Errorf("health: %+v", p)
	}
	in.server.Config.PublicURL = "https://reeve.example.org"
	home("1")
	if a := invite(); a.Code != 200 {
		t.Errorf("%d %s", a.Code, a.Body)
	}
	// A copy has the address at which the caller has reached the server.
	in.server.Config.PublicURL = ""
	r := in.request("POST", fmt.Sprintf("/admin/list/%d/invite", id), `{}`, "owner")
	r.Host = "10.0.0.7:8080"
	in.send(r).brief(200, `"url":"http://10.0.0.7:8080/link/rv_l_`)
}

// TestMail_ServerChosenByOwnersOnly: it gets the links of every user, those of owners included.
func TestMail_ServerChosenByOwnersOnly(t *testing.T) {
	t.Parallel()
	in := start(t)
	in.clerk("guard", "system.setting.save", "system.setting.update", "system.setting.query", store.SecurityPermission, "system.audit.query", "system.audit.undo")
	for name, value := range map[string]string{"host": `"mail.example.net"`, "port": `25`, "security": `"none"`, "username": `"me"`, "password": `"secret"`} {
		in.call("PUT", "/system/setting", `{"values":{"mail.`+name+`":`+value+`}}`, "guard").brief(403, `"errorCode":"owner_required"`)
		text := value
		if name == "port" {
			text = `"25"`
		}
		in.call("PUT", fmt.Sprintf("/system/setting/%d", in.setting("mail."+name)), `{"values":`+text+`}`, "guard").brief(403, `"errorCode":"owner_required"`)
	}
	in.ok("PUT", "/system/setting", `{"values":{"mail.enabled":1,"mail.from":"a@example.org","mail.from_name":"A"}}`, "guard")
	in.ok("PUT", "/system/setting", `{"values":{"mail.host":"one.example.org","mail.password":"secret"}}`, "owner")
	in.ok("PUT", "/system/setting", `{"values":{"mail.host":"two.example.org"}}`, "owner")
	in.ok("PUT", "/system/setting", `{"values":{"mail.password":"******","mail.host":"two.example.org","mail.from_name":"B"}}`, "guard")
	in.call("POST", fmt.Sprintf("/system/audit/%d/undo", in.db.LogHead().Seq-1), "", "guard").brief(403, `"errorCode":"owner_required"`)
	in.ok("GET", "/system/setting-value", "", "owner").brief(200, `"host":"two.example.org"`, `"password":"******"`)
}

// TestPasswordReset also checks that responses do not reveal which accounts exist.
func TestPasswordReset(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, forgot, link, login string }{
		{"users", "/admin/password/forgot", "/admin/password/link", "/admin/login"},
		{"app users", "/api/password/forgot", "/api/password/link", "/api/login"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			in := start(t)
			box := in.openMailbox()
			app := c.name == "app users"
			add := func(name, email string, enabled bool) {
				in.update(func(tx *store.Tx) error {
					who := store.Account{App: app}
					if app {
						u := &store.AppUser{Username: name, Email: email, Status: store.Flag(enabled)}
						must(t, store.AppUsers.Create(tx, u))
						who.ID = u.ID
					} else {
						u := &store.User{Username: name, Email: email, Status: store.Flag(enabled)}
						must(t, store.Users.Create(tx, u))
						who.ID = u.ID
					}
					hash, err := auth.HashPassword(tx, ownerPassword, testCost)
					must(t, err)
					return store.SetHash(tx, who, hash, false, 0)
				})
			}
			add("ann", "ann@example.org", true)
			add("ben", "", true)
			add("out", "out@example.org", false)
			add("ann@example.net", "other@example.org", true)
			ask := func(login string) *reply {
				return in.ok("POST", c.forgot, fmt.Sprintf(`{"username":%q}`, login), "nobody")
			}
			first := ask("Ann").Body
			for _, login := range []string{"nobody", "ben", "out", "out@example.org", "ANN", "ann@example.org", "x@example.org", "ann@example.net"} {
				if body := ask(login).Body; body != first {
					t.Errorf("%s: %s, want %s", login, body, first)
				}
			}
			in.sendMails()
			var to []string
			for _, m := range box.all() {
				to = append(to, m.to)
			}
			slices.Sort(to)
			if want := []string{"ann@example.org", "other@example.org"}; !slices.Equal(to, want) {
				t.Errorf("sent to %q, want %q", to, want)
			}
			for range 5 { // at most three an hour
				ask("ann")
				in.sendMails()
			}
			if n := len(box.all()); n != 4 {
				t.Errorf("%d mails were sent, want 4", n)
			}
			in.view(func(tx *store.Tx) error {
				n, err := store.Mails.Count(tx)
				if n != 4 {
					t.Errorf("%d mails are stored", n)
				}
				return err
			})
			token := box.last(t, "ann@example.org").token(t)
			in.ok("POST", c.login, `{"username":"ann","password":"`+ownerPassword+`"}`, "nobody")
			in.useLink(c.link, token, "a new password", "192.0.2.1").brief(200, `"username":"ann"`)
			in.call("POST", c.login, `{"username":"ann","password":"`+ownerPassword+`"}`, "nobody").brief(401)
			in.ok("POST", c.login, `{"username":"ann","password":"a new password"}`, "nobody")
			in.useLink(c.link, token, "another password", "192.0.2.1").brief(404)
		})
	}
}

func TestPasswordReset_RateLimit(t *testing.T) {
	t.Parallel()
	in := start(t)
	in.turnMailOn()
	codes := map[int]int{}
	for range 55 {
		r := in.request("POST", "/admin/password/forgot", `{"username":"admin"}`, "nobody")
		r.RemoteAddr = "192.0.2.9:1"
		codes[in.send(r).Code]++
	}
	if codes[200] != 50 || codes[429] != 5 {
		t.Errorf("%v", codes)
	}
}

// TestPasswordReset_ConstantTime compares the times of 500 known and 500 unknown addresses
// by the Mann-Whitney test.
func TestPasswordReset_ConstantTime(t *testing.T) {
	in := start(t) // not parallel: it measures
	in.turnMailOn()
	const each = 500
	for low := 0; low < each; low += 100 {
		in.update(func(tx *store.Tx) error {
			for i := low; i < low+100; i++ {
				must(t, store.Users.Create(tx, &store.User{Username: fmt.Sprintf("known%03d", i), Email: fmt.Sprintf("known%03d@example.org", i), Status: true}))
			}
			return nil
		})
	}
	var known, unknown []float64
	ask := func(i int, name string) float64 {
		r := in.request("POST", "/admin/password/forgot", fmt.Sprintf(`{"username":"%s%03d@example.org"}`, name, i), "nobody")
		r.RemoteAddr = fmt.Sprintf("10.%d.%d.7:1", i/200, i%200)
		begun := time.Now()
		w := httptest.NewRecorder()
		in.server.Handler().ServeHTTP(w, r)
		took := time.Since(begun).Seconds()
		if w.Code != 200 {
			t.Fatalf("%d %s", w.Code, w.Body)
		}
		return took
	}
	random := disktest.Random(t)
	for i := range each {
		if random.IntN(2) == 0 {
			known = append(known, ask(i, "known"))
			unknown = append(unknown, ask(i, "other"))
		} else {
			unknown = append(unknown, ask(i, "other"))
			known = append(known, ask(i, "known"))
		}
	}
	if z := mannWhitney(known, unknown); math.Abs(z) > 4 {
		t.Errorf("the times differ: z = %.2f", z)
	}
}

// mannWhitney returns the z score of the Mann-Whitney U test of two samples, without correction for
// ties. For samples of the same distribution it is a standard normal variable.
func mannWhitney(a, b []float64) float64 {
	type value struct {
		of float64
		a  bool
	}
	all := make([]value, 0, len(a)+len(b))
	for _, v := range a {
		all = append(all, value{v, true})
	}
	for _, v := range b {
		all = append(all, value{v, false})
	}
	slices.SortFunc(all, func(x, y value) int {
		switch {
		case x.of < y.of:
			return -1
		case x.of > y.of:
			return 1
		}
		return 0
	})
	ranks := 0.0
	for i, v := range all {
		if v.a {
			ranks += float64(i + 1)
		}
	}
	n, m := float64(len(a)), float64(len(b))
	u := ranks - n*(n+1)/2
	return (u - n*m/2) / math.Sqrt(n*m*(n+m+1)/12)
}

func TestMannWhitney(t *testing.T) {
	t.Parallel()
	a, b := []float64{}, []float64{}
	for i := range 100 {
		a, b = append(a, float64(2*i)), append(b, float64(2*i+1))
	}
	if z := mannWhitney(a, b); math.Abs(z) > 0.5 {
		t.Errorf("the same distribution: %.2f", z)
	}
	for i := range b {
		b[i] += 100
	}
	if z := mannWhitney(a, b); z > -4 {
		t.Errorf("different distributions: %.2f", z)
	}
}

// TestMail_HostileNames: line breaks and HTML in names do nothing.
func TestMail_HostileNames(t *testing.T) {
	t.Parallel()
	in := start(t)
	box := in.openMailbox()
	for i, name := range []string{"<img src=x onerror=alert(1)>", "Ann\r\nBcc: victim@example.org", "https://evil.example.org/", strings.Repeat("x", 5000), `"Ann" <victim@example.org>, x`} {
		id := in.guest(fmt.Sprintf("user%d", i), fmt.Sprintf("user%d@example.org", i))
		in.update(func(tx *store.Tx) error { // past the rules of the API
			_, err := store.Users.Update(tx, id, func(u *store.User) error { u.Nickname = name; return nil })
			return err
		})
		in.ok("POST", fmt.Sprintf("/admin/list/%d/invite", id), `{"send":1}`, "owner")
	}
	in.sendMails()
	if n := len(box.all()); n != 5 {
		t.Fatalf("%d mails", n)
	}
	for _, m := range box.all() {
		head, _, _ := strings.Cut(m.data, "\r\n\r\n")
		if strings.Contains(head, "\nBcc:") || strings.Contains(m.html(t), "<img") || strings.Contains(m.data, "\u202e") || len(head) > 3000 {
			t.Errorf("%s", m.data)
		}
		m.token(t)
	}
}

// TestMail_QueuedOnce sends the same request several times at once.
func TestMail_QueuedOnce(t *testing.T) {
	t.Parallel()
	in := start(t)
	in.turnMailOn()
	id := in.guest("ann", "ann@example.org")
	var wg sync.WaitGroup
	for range 16 {
		wg.Go(func() {
			here := in.in(t)
			here.ok("POST", fmt.Sprintf("/admin/list/%d/invite", id), `{"send":1}`, "owner")
			r := here.request("POST", "/admin/password/forgot", `{"username":"ann"}`, "nobody")
			here.send(r)
		})
	}
	wg.Wait()
	in.resolveRequests()
	in.ok("GET", "/system/mail?purpose=invitation", "", "owner").brief(200, `"total":1`)
	in.ok("GET", "/system/mail?purpose=password_reset", "", "owner").brief(200, `"total":1`)
}

// TestMail_ResetsBeforeInvitations checks that mails that a user waits for are sent first.
func TestMail_ResetsBeforeInvitations(t *testing.T) {
	t.Parallel()
	in := start(t)
	in.server.outbox.Turn = time.Hour // a slow machine sends fewer mails in a turn
	box := in.openMailbox()
	for i := range 2 * mails.MailBatch {
		in.inviteByMail(fmt.Sprintf("user%d", i), fmt.Sprintf("user%d@example.org", i))
	}
	in.ok("PUT", fmt.Sprintf("/admin/list/%d", in.member("ann", 0)), `{"email":"ann@example.org"}`, "owner")
	in.ok("POST", "/admin/password/forgot", `{"username":"ann"}`, "nobody")
	in.resolveRequests()
	_, err := in.server.outbox.Round(t.Context())
	must(t, err)
	all := box.all()
	if len(all) != mails.MailBatch || all[0].to != "ann@example.org" {
		t.Errorf("%d mails, the first one to %s", len(all), all[0].to)
	}

	in.server.outbox.Turn = 0 // each turn sends at least one mail
	_, err = in.server.outbox.Round(t.Context())
	must(t, err)
	if n := len(box.all()); n != mails.MailBatch+1 {
		t.Errorf("%d mails after a turn without time", n)
	}
}

// TestEmailVerification_NotUndoable checks that undoing changes never verifies an address.
func TestEmailVerification_NotUndoable(t *testing.T) {
	t.Parallel()
	in := start(t)
	id := in.member("ann", 0)
	user := fmt.Sprintf("/admin/list/%d", id)
	in.ok("PUT", user, `{"email":"a@example.org"}`, "owner")
	link := newTestLink(store.EmailVerification, false, id)
	in.plant(link, "a@example.org")
	in.ok("POST", "/admin/verify", `{"token":"`+link.token+`"}`, "nobody")
	used := in.db.LogHead().Seq
	in.ok("PUT", user, `{"email_verified":1}`, "owner").brief(200, `"email_verified":1`)
	in.ok("POST", fmt.Sprintf("/system/audit/%d/undo", used), "", "owner")
	undone := in.db.LogHead().Seq
	in.ok("GET", user, "", "owner").brief(200, `"email_verified":0`)
	in.ok("PUT", user, `{"email":"b@example.org","email_verified":1}`, "owner").brief(200, `"email_verified":0`)
	in.call("POST", fmt.Sprintf("/system/audit/%d/undo", undone), "", "owner")
	in.ok("GET", user, "", "owner").brief(200, `"email":"b@example.org","email_verified":0`)
}
