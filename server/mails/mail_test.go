package mails_test

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
	"reeve/server/servertest"
	"reeve/server/web"
	"reeve/store"
	"reeve/store/disk/disktest"
)

// firstMail returns the first mail as the API shows it.
func firstMail(in *servertest.Instance) mails.MailOut {
	in.T.Helper()
	var m mails.MailOut
	in.OK("GET", "/system/mail/1", "", "owner").Data(&m)
	return m
}

func inviteByMail(in *servertest.Instance, name, email string) store.ID {
	in.T.Helper()
	id := in.Guest(name, email)
	in.OK("POST", fmt.Sprintf("/admin/list/%d/invite", id), `{"send":1}`, "owner")
	return id
}

func TestMail_Sent(t *testing.T) {
	t.Parallel()
	in := servertest.Start(t)
	box := in.OpenMailbox()
	in.OK("PUT", "/system/setting",
		`{"values":{"site.title":"Shop <b>&</b>","site.contact":"help@example.org"}}`, "owner")
	in.Update(func(tx *store.Tx) error {
		_, err := store.Users.Update(tx, auth.FirstUser, func(u *store.User) error {
			u.Nickname = "The Boss"
			return nil
		})
		return err
	})
	inviteByMail(in, "ann", "ann@example.org")
	if m := firstMail(in); m.State != store.MailQueued || m.Attempts != 0 || m.NextAt == 0 ||
		m.Email != "ann@example.org" || m.Username != "ann" {
		t.Errorf("queued: %+v", m)
	}

	in.SendMails()
	if m := firstMail(in); m.State != store.MailSent || m.Attempts != 1 || m.NextAt != 0 ||
		m.SentAt == 0 || m.Stage != "" ||
		!strings.HasPrefix(m.Response, "250") && !strings.Contains(m.Response, "OK") {
		t.Errorf("sent: %+v", m)
	}

	sent := box.Last(t, "ann@example.org")
	subject, text := sent.Text(t)
	for _, want := range []string{"The Boss", "ann", "Shop <b>&</b>", "help@example.org", "UTC"} {
		if !strings.Contains(text+subject, want) {
			t.Errorf("%q lacks %s", text, want)
		}
	}

	if strings.Contains(sent.Data, "Shop <b>") && strings.Contains(sent.Data, "text/html") &&
		strings.Count(sent.Data, "Shop <b>") > strings.Count(text+subject, "Shop <b>") {
		t.Error("the title is HTML in the mail")
	}

	in.OK("GET", mails.LinkPath+sent.Token(t), "", "nobody").Brief(200, "ann",
		"Shop &lt;b&gt;&amp;&lt;/b&gt;", "help@example.org")
	in.SendMails()
	if n := len(box.All()); n != 1 {
		t.Errorf("%d mails", n)
	}
}

// TestMail_FailureIsRetried checks that each retry has a new link until the mail expires. A
// permanent rejection is not retried.
func TestMail_FailureIsRetried(t *testing.T) {
	t.Parallel()
	in := servertest.Start(t)
	in.Server.Outbox.Backoff = func(int) time.Duration { return 0 }
	box := in.OpenMailbox()
	answers := []error{
		&smtp.SMTPError{Code: 451, EnhancedCode: smtp.EnhancedCode{4, 7, 1}, Message: "greylisted"},
		&smtp.SMTPError{Code: 452, EnhancedCode: smtp.EnhancedCode{4, 2, 2},
			Message: "mailbox full"},
	}
	box.Rejecting(func(string) error {
		if len(answers) == 0 {
			return nil
		}
		err := answers[0]
		answers = answers[1:]
		return err
	})
	inviteByMail(in, "ann", "ann@example.org")
	in.SendMails()
	if m := firstMail(in); m.State != store.MailSent || m.Attempts != 3 {
		t.Errorf("%+v", m)
	}

	in.UseLink("/admin/password/link", box.Last(t, "ann@example.org").Token(t), "a good password",
		"192.0.2.1").Brief(200)

	box.Rejecting(func(string) error {
		return &smtp.SMTPError{
			Code:         550,
			EnhancedCode: smtp.EnhancedCode{5, 1, 1},
			Message:      "no such user",
		}
	})
	inviteByMail(in, "ben", "ben@example.org")
	in.SendMails()
	in.OK("GET", "/system/mail?state=failed", "", "owner").Brief(200, `"total":1`,
		`"stage":"recipient"`, `"response":"550 5.1.1 no such user"`, `"attempts":1`)
	in.OK("GET", "/admin/invite", "", "owner").Brief(200, `"mail_state":"failed"`,
		`"mail_response":"550 5.1.1 no such user"`)
	box.Rejecting(nil)
	in.OK("POST", "/system/mail/2/retry", "", "owner").Brief(200, `"state":"queued"`)
	in.SendMails()
	in.UseLink("/admin/password/link", box.Last(t, "ben@example.org").Token(t), "a good password",
		"192.0.2.1").Brief(200)
}

// TestMail_DeadServerDelaysNobody: one that accepts connections and says nothing.
func TestMail_DeadServerDelaysNobody(t *testing.T) {
	t.Parallel()
	in := servertest.Start(t)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	servertest.Must(t, err)
	port := l.Addr().(*net.TCPAddr).Port
	servertest.Must(t, l.Close())
	in.SendMailTo(port) // nobody listens there now
	in.Server.Outbox.Backoff = func(int) time.Duration { return time.Hour }
	for i := range mails.MailBatch + 3 {
		inviteByMail(in, fmt.Sprintf("user%d", i), fmt.Sprintf("user%d@example.org", i))
	}

	before := in.DB.LogHead().Seq
	in.SendMails()
	if in.DB.LogHead().Seq != before {
		t.Error("links were made for mails that could not be sent")
	}

	in.OK("GET", "/system/mail?state=queued", "", "owner").Brief(200,
		fmt.Sprintf(`"total":%d`, mails.MailBatch+3), `"stage":"connect"`, `"attempts":1`,
		"connection refused")
	_, parts := in.HealthParts()
	if p := parts["mail"]; p.State != web.Degraded || p.Figures["queued"] != mails.MailBatch+3 ||
		!strings.Contains(p.Text, "connection refused") {
		t.Errorf("health: %+v", p)
	}

	in.OK("POST", "/system/mail-test", `{"email":"boss@example.org"}`, "owner").Brief(200,
		`"sent":0`, `"stage":"connect"`)
	box := in.OpenMailbox()
	in.OK("POST", "/system/mail-test", `{"email":"boss@example.org"}`, "owner").Brief(200,
		`"sent":1`, `"stage":""`)
	in.SendMails() // the test has made them due
	if n := len(box.All()); n != mails.MailBatch+4 {
		t.Errorf("%d mails arrived", n)
	}
	if _, parts = in.HealthParts(); parts["mail"].State != web.Healthy {
		t.Errorf("health: %+v", parts["mail"])
	}
}

// TestMail_ObsoleteIsNotSent has mails whose reason has gone since they were queued.
func TestMail_ObsoleteIsNotSent(t *testing.T) {
	t.Parallel()
	in := servertest.Start(t)
	box := in.OpenMailbox()
	inviteByMail(in, "revoked", "revoked@example.org")
	in.OK("DELETE", "/admin/invite/1", "", "owner")
	accepted := inviteByMail(in, "accepted", "accepted@example.org")
	in.OK("PUT", fmt.Sprintf("/admin/list/%d/password", accepted), `{}`, "owner")
	without := inviteByMail(in, "without", "without@example.org")
	in.OK("PUT", fmt.Sprintf("/admin/list/%d", without), `{"email":""}`, "owner")
	deleted := inviteByMail(in, "deleted", "deleted@example.org")
	in.OK("DELETE", fmt.Sprintf("/admin/list/%d", deleted), "", "owner")
	disabled := inviteByMail(in, "disabled", "disabled@example.org")
	in.OK("PUT", fmt.Sprintf("/admin/list/%d/status", disabled), `{"status":0}`, "owner")
	late := inviteByMail(in, "late", "late@example.org")
	in.Update(func(tx *store.Tx) error {
		m, err := store.LastMail(tx, store.Invitation, store.Account{ID: late})
		servertest.Must(t, err)
		_, err = store.Mails.Update(tx, m.ID, func(m *store.Mail) error {
			m.Until = tx.Now()
			return nil
		})
		return err
	})
	moved := inviteByMail(in, "moved", "before@example.org")
	in.OK("PUT", fmt.Sprintf("/admin/list/%d", moved), `{"email":"after@example.org"}`, "owner")
	in.SendMails()
	var to []string
	for _, m := range box.All() {
		to = append(to, m.To)
	}

	slices.Sort(to)
	if !slices.Equal(to, []string{"after@example.org", "before@example.org"}) { // that one gets the notice
		t.Errorf("sent to %q", to)
	}

	states := in.Column("/system/mail?sorter=%7B%22id%22:%22ascend%22%7D", "state", "owner")
	if want := []string{"cancelled", "cancelled", "cancelled", "cancelled", "failed", "sent",
		"sent"}; !slices.Equal(states, want) {
		t.Errorf("states %q, want %q", states, want)
	}
}

func TestMail_NeedsSettings(t *testing.T) {
	t.Parallel()
	in := servertest.Start(t, func(s *servertest.Setup) { s.Config.PublicURL = "" })
	id := in.Guest("ann", "ann@example.org")
	invite := func() *servertest.Reply {
		return in.Call("POST", fmt.Sprintf("/admin/list/%d/invite", id), `{"send":1}`, "owner")
	}

	home := func(want string) {
		in.OK("GET", "/api/home", "", "nobody").Brief(200, `"forgot_password":`+want)
	}

	invite().Brief(409, `"errorCode":"mail_off"`, "mail.enabled")
	in.OK("PUT", "/system/setting", `{"values":{"mail.enabled":1}}`, "owner")
	invite().Brief(409, "mail.host")
	in.OK("PUT", "/system/setting", `{"values":{"mail.host":"127.0.0.1"}}`, "owner")
	invite().Brief(409, "mail.from")
	in.OK("POST", "/system/mail-test", `{"email":"boss@example.org"}`, "owner").Brief(200,
		`"sent":0`, `"stage":"settings"`, "mail.from")
	in.Call("PUT", "/system/setting", `{"values":{"mail.from":"no address"}}`, "owner").Names(422,
		"values.mail.from")
	in.OK("PUT", "/system/setting", `{"values":{"mail.from":"reeve@example.org"}}`, "owner")
	invite().Brief(409, "server.public_url")
	home("0")
	in.Call("POST", "/admin/password/forgot", `{"username":"ann"}`, "nobody").Brief(403,
		`"errorCode":"mail_off"`)
	_, parts := in.HealthParts()
	if p := parts["mail"]; p.State != web.Degraded ||
		!strings.Contains(p.Text, "server.public_url") {
		t.Errorf("health: %+v", p)
	}

	in.Server.Config.PublicURL = "https://reeve.example.org"
	home("1")
	if a := invite(); a.Code != 200 {
		t.Errorf("%d %s", a.Code, a.Body)
	}
	// A copy has the address at which the caller has reached the server.
	in.Server.Config.PublicURL = ""
	r := in.Request("POST", fmt.Sprintf("/admin/list/%d/invite", id), `{}`, "owner")
	r.Host = "10.0.0.7:8080"
	in.Send(r).Brief(200, `"url":"http://10.0.0.7:8080/link/rv_l_`)
}

// TestMail_ServerChosenByOwnersOnly: it gets the links of every user, those of owners included.
func TestMail_ServerChosenByOwnersOnly(t *testing.T) {
	t.Parallel()
	in := servertest.Start(t)
	in.Clerk("guard", "system.setting.save", "system.setting.update", "system.setting.query",
		store.SecurityPermission, "system.audit.query", "system.audit.undo")
	for name, value := range map[string]string{
		"host":     `"mail.example.net"`,
		"port":     `25`,
		"security": `"none"`,
		"username": `"me"`,
		"password": `"secret"`,
	} {
		in.Call("PUT", "/system/setting", `{"values":{"mail.`+name+`":`+value+`}}`, "guard").Brief(403, `"errorCode":"owner_required"`)
		text := value
		if name == "port" {
			text = `"25"`
		}
		in.Call("PUT", fmt.Sprintf("/system/setting/%d", in.Setting("mail."+name)),
			`{"values":`+text+`}`, "guard").Brief(403, `"errorCode":"owner_required"`)
	}

	in.OK("PUT", "/system/setting",
		`{"values":{"mail.enabled":1,"mail.from":"a@example.org","mail.from_name":"A"}}`, "guard")
	in.OK("PUT", "/system/setting",
		`{"values":{"mail.host":"one.example.org","mail.password":"secret"}}`, "owner")
	in.OK("PUT", "/system/setting", `{"values":{"mail.host":"two.example.org"}}`, "owner")
	in.OK("PUT", "/system/setting",
		`{"values":{"mail.password":"******","mail.host":"two.example.org","mail.from_name":"B"}}`,
		"guard")
	in.Call("POST", fmt.Sprintf("/system/audit/%d/undo", in.DB.LogHead().Seq-1), "", "guard").Brief(403, `"errorCode":"owner_required"`)
	in.OK("GET", "/system/setting-value", "", "owner").Brief(200, `"host":"two.example.org"`,
		`"password":"******"`)
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
			in := servertest.Start(t)
			box := in.OpenMailbox()
			app := c.name == "app users"
			add := func(name, email string, enabled bool) {
				in.Update(func(tx *store.Tx) error {
					who := store.Account{App: app}
					if app {
						u := &store.AppUser{
							Username: name,
							Email:    email,
							Status:   store.Flag(enabled),
						}
						servertest.Must(t, store.AppUsers.Create(tx, u))
						who.ID = u.ID
					} else {
						u := &store.User{Username: name, Email: email, Status: store.Flag(enabled)}
						servertest.Must(t, store.Users.Create(tx, u))
						who.ID = u.ID
					}

					hash, err := auth.HashPassword(tx, servertest.OwnerPassword,
						servertest.HashCost)
					servertest.Must(t, err)
					return store.SetHash(tx, who, hash, false, 0)
				})
			}
			add("ann", "ann@example.org", true)
			add("ben", "", true)
			add("out", "out@example.org", false)
			add("ann@example.net", "other@example.org", true)
			ask := func(login string) *servertest.Reply {
				return in.OK("POST", c.forgot, fmt.Sprintf(`{"username":%q}`, login), "nobody")
			}
			first := ask("Ann").Body
			for _, login := range []string{"nobody", "ben", "out", "out@example.org", "ANN",
				"ann@example.org", "x@example.org", "ann@example.net"} {
				if body := ask(login).Body; body != first {
					t.Errorf("%s: %s, want %s", login, body, first)
				}
			}

			in.SendMails()
			var to []string
			for _, m := range box.All() {
				to = append(to, m.To)
			}

			slices.Sort(to)
			if want := []string{"ann@example.org", "other@example.org"}; !slices.Equal(to, want) {
				t.Errorf("sent to %q, want %q", to, want)
			}

			for range 5 { // at most three an hour
				ask("ann")
				in.SendMails()
			}

			if n := len(box.All()); n != 4 {
				t.Errorf("%d mails were sent, want 4", n)
			}

			in.View(func(tx *store.Tx) error {
				n, err := store.Mails.Count(tx)
				if n != 4 {
					t.Errorf("%d mails are stored", n)
				}
				return err
			})
			token := box.Last(t, "ann@example.org").Token(t)
			in.OK("POST", c.login, `{"username":"ann","password":"`+servertest.OwnerPassword+`"}`,
				"nobody")
			in.UseLink(c.link, token, "a new password", "192.0.2.1").Brief(200, `"username":"ann"`)
			in.Call("POST", c.login,
				`{"username":"ann","password":"`+servertest.OwnerPassword+`"}`, "nobody").Brief(401)
			in.OK("POST", c.login, `{"username":"ann","password":"a new password"}`, "nobody")
			in.UseLink(c.link, token, "another password", "192.0.2.1").Brief(404)
		})
	}
}

func TestPasswordReset_RateLimit(t *testing.T) {
	t.Parallel()
	in := servertest.Start(t)
	in.TurnMailOn()
	codes := map[int]int{}
	for range 55 {
		r := in.Request("POST", "/admin/password/forgot", `{"username":"admin"}`, "nobody")
		r.RemoteAddr = "192.0.2.9:1"
		codes[in.Send(r).Code]++
	}
	if codes[200] != 50 || codes[429] != 5 {
		t.Errorf("%v", codes)
	}
}

// TestPasswordReset_ConstantTime compares the times of 500 known and 500 unknown addresses
// by the Mann-Whitney test.
func TestPasswordReset_ConstantTime(t *testing.T) {
	in := servertest.Start(t) // not parallel: it measures
	in.TurnMailOn()
	const each = 500
	for low := 0; low < each; low += 100 {
		in.Update(func(tx *store.Tx) error {
			for i := low; i < low+100; i++ {
				servertest.Must(t,
					store.Users.Create(tx, &store.User{
						Username: fmt.Sprintf("known%03d", i),
						Email:    fmt.Sprintf("known%03d@example.org", i),
						Status:   true,
					}))
			}
			return nil
		})
	}

	var known, unknown []float64
	ask := func(i int, name string) float64 {
		r := in.Request("POST", "/admin/password/forgot",
			fmt.Sprintf(`{"username":"%s%03d@example.org"}`, name, i), "nobody")
		r.RemoteAddr = fmt.Sprintf("10.%d.%d.7:1", i/200, i%200)
		begun := time.Now()
		w := httptest.NewRecorder()
		in.Server.Handler().ServeHTTP(w, r)
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
	in := servertest.Start(t)
	box := in.OpenMailbox()
	for i, name := range []string{"<img src=x onerror=alert(1)>", "Ann\r\nBcc: victim@example.org",
		"https://evil.example.org/", strings.Repeat("x", 5000), `"Ann" <victim@example.org>, x`} {
		id := in.Guest(fmt.Sprintf("user%d", i), fmt.Sprintf("user%d@example.org", i))
		in.Update(func(tx *store.Tx) error { // past the rules of the API
			_, err := store.Users.Update(tx, id, func(u *store.User) error {
				u.Nickname = name
				return nil
			})
			return err
		})
		in.OK("POST", fmt.Sprintf("/admin/list/%d/invite", id), `{"send":1}`, "owner")
	}

	in.SendMails()
	if n := len(box.All()); n != 5 {
		t.Fatalf("%d mails", n)
	}

	for _, m := range box.All() {
		head, _, _ := strings.Cut(m.Data, "\r\n\r\n")
		if strings.Contains(head, "\nBcc:") || strings.Contains(m.HTML(t), "<img") ||
			strings.Contains(m.Data, "\u202e") || len(head) > 3000 {
			t.Errorf("%s", m.Data)
		}
		m.Token(t)
	}
}

// TestMail_QueuedOnce sends the same request several times at once.
func TestMail_QueuedOnce(t *testing.T) {
	t.Parallel()
	in := servertest.Start(t)
	in.TurnMailOn()
	id := in.Guest("ann", "ann@example.org")
	var wg sync.WaitGroup
	for range 16 {
		wg.Go(func() {
			here := in.In(t)
			here.OK("POST", fmt.Sprintf("/admin/list/%d/invite", id), `{"send":1}`, "owner")
			r := here.Request("POST", "/admin/password/forgot", `{"username":"ann"}`, "nobody")
			here.Send(r)
		})
	}

	wg.Wait()
	in.ResolveRequests()
	in.OK("GET", "/system/mail?purpose=invitation", "", "owner").Brief(200, `"total":1`)
	in.OK("GET", "/system/mail?purpose=password_reset", "", "owner").Brief(200, `"total":1`)
}

// TestMail_ResetsBeforeInvitations checks that mails that a user waits for are sent first.
func TestMail_ResetsBeforeInvitations(t *testing.T) {
	t.Parallel()
	in := servertest.Start(t)
	in.Server.Outbox.Turn = time.Hour // a slow machine sends fewer mails in a turn
	box := in.OpenMailbox()
	for i := range 2 * mails.MailBatch {
		inviteByMail(in, fmt.Sprintf("user%d", i), fmt.Sprintf("user%d@example.org", i))
	}

	in.OK("PUT", fmt.Sprintf("/admin/list/%d", in.Member("ann", 0)), `{"email":"ann@example.org"}`,
		"owner")
	in.OK("POST", "/admin/password/forgot", `{"username":"ann"}`, "nobody")
	in.ResolveRequests()
	_, err := in.Server.Outbox.Round(t.Context())
	servertest.Must(t, err)
	all := box.All()
	if len(all) != mails.MailBatch || all[0].To != "ann@example.org" {
		t.Errorf("%d mails, the first one to %s", len(all), all[0].To)
	}

	in.Server.Outbox.Turn = 0 // each turn sends at least one mail
	_, err = in.Server.Outbox.Round(t.Context())
	servertest.Must(t, err)
	if n := len(box.All()); n != mails.MailBatch+1 {
		t.Errorf("%d mails after a turn without time", n)
	}
}

// TestEmailVerification_NotUndoable checks that undoing changes never verifies an address.
func TestEmailVerification_NotUndoable(t *testing.T) {
	t.Parallel()
	in := servertest.Start(t)
	id := in.Member("ann", 0)
	user := fmt.Sprintf("/admin/list/%d", id)
	in.OK("PUT", user, `{"email":"a@example.org"}`, "owner")
	link := servertest.NewTestLink(store.EmailVerification, false, id)
	in.Plant(link, "a@example.org")
	in.OK("POST", "/admin/verify", `{"token":"`+link.Token+`"}`, "nobody")
	used := in.DB.LogHead().Seq
	in.OK("PUT", user, `{"email_verified":1}`, "owner").Brief(200, `"email_verified":1`)
	in.OK("POST", fmt.Sprintf("/system/audit/%d/undo", used), "", "owner")
	undone := in.DB.LogHead().Seq
	in.OK("GET", user, "", "owner").Brief(200, `"email_verified":0`)
	in.OK("PUT", user, `{"email":"b@example.org","email_verified":1}`, "owner").Brief(200,
		`"email_verified":0`)
	in.Call("POST", fmt.Sprintf("/system/audit/%d/undo", undone), "", "owner")
	in.OK("GET", user, "", "owner").Brief(200, `"email":"b@example.org","email_verified":0`)
}
