package e2e

import (
	"bufio"
	"fmt"
	"net"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
)

// postOffice is a mail server that accepts every mail, or refuses each.
type postOffice struct {
	net.Listener
	refuses  atomic.Bool
	mu       sync.Mutex
	messages []string
}

// refusal is what a mail server says that refuses a mail.
const refusal = "5.7.1 Rejected: <script>alert(1)</script> this sender is not welcome"

func newPostOffice(t *testing.T) *postOffice {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}

	o := &postOffice{Listener: l}
	var all sync.WaitGroup
	all.Go(func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return // the test is over
			}
			all.Go(func() { o.serve(conn) })
		}
	})
	t.Cleanup(func() {
		l.Close()
		all.Wait()
	})
	return o
}

// serve talks to a client until it leaves.
func (o *postOffice) serve(conn net.Conn) {
	defer conn.Close()
	say := func(text string) { fmt.Fprintf(conn, "%s\r\n", text) }
	say("220 post office")
	in := bufio.NewReader(conn)
	for {
		line, err := in.ReadString('\n')
		if err != nil {
			return
		}
		switch verb := strings.ToUpper(strings.TrimSpace(line)); {
		case strings.HasPrefix(verb, "RCPT") && o.refuses.Load():
			say("554 " + refusal)
		case verb == "DATA":
			say("354 go on")
			if !o.receive(in) {
				return
			}
			say("250 2.0.0 Accepted as 4711")
		case verb == "QUIT":
			say("221 bye")
			return
		default:
			say("250 ok")
		}
	}
}

// receive reads a message up to its end.
func (o *postOffice) receive(in *bufio.Reader) bool {
	var text strings.Builder
	for {
		line, err := in.ReadString('\n')
		if err != nil {
			return false
		}
		if line == ".\r\n" {
			break
		}
		text.WriteString(line)
	}

	o.mu.Lock()
	defer o.mu.Unlock()
	o.messages = append(o.messages, text.String())
	return true
}

// count returns the number of accepted mails.
func (o *postOffice) count() int {
	o.mu.Lock()
	defer o.mu.Unlock()
	return len(o.messages)
}

// withMail is a server that sends mail to a post office.
func withMail(t *testing.T) (*process, *client, *postOffice) {
	t.Helper()
	server := start(t, t.TempDir(), "REEVE_SERVER__PUBLIC_URL=https://reeve.example.org")
	c, o := signedIn(t, server), newPostOffice(t)
	c.want(200, "PUT", "/system/setting",
		values("mail.enabled", true, "mail.host", "127.0.0.1", "mail.port",
			o.Addr().(*net.TCPAddr).Port,
			"mail.security", "none", "mail.from", "reeve@example.org"))
	return server, c, o
}

// TestConsoleMail sends invitations to a mail server that refuses them and then accepts them.
func TestConsoleMail(t *testing.T) {
	t.Parallel()
	server, c, o := withMail(t)
	o.refuses.Store(true)
	p := signedInAt(t, server, c, "/admin/list")
	p.click("button", "New user")
	p.dialog().fill("Username", "nora")
	p.dialog().see("Enter an email address first.")
	p.dialog().fill("Email", "nora@example.org")
	p.dialog().click("radio", "Invite by mail")
	p.dialog().click("button", "Create")
	p.see("An invitation is on its way to nora@example.org.")

	p.open("/admin/invite")
	p.row("nora").see("Failed")
	p.row("nora").see(refusal)
	p.looksGood("invite-failed")

	p.open("/system/mail")
	row := p.row("nora")
	for _, text := range []string{"nora@example.org", "Invitation", "Failed", "1 attempt",
		"The mail server refused the recipient", refusal} {
		row.see(text)
	}

	p.looksGood("mail-outbox")
	p.choose("State", "Sent")
	p.see("No results")
	p.choose("State", "Failed")
	p.row("nora").see("Failed")

	o.refuses.Store(false)
	p.click("button", "Send again to nora")
	p.see("Queued. It is sent in a moment.")
	p.open("/system/mail")
	p.row("nora").see("Sent") // without a reload
	if n := o.count(); n != 1 {
		t.Errorf("%d mails", n)
	}

	p.menu("nora", "Delete")
	p.dialog().see("Delete the mail to nora?")
	p.audit()
	p.confirm("Delete")
	p.see("1 mail deleted.")
	p.see("No mails within the last 30 days.")

	c.create("/admin/list", "username", "otto", "email", "otto@example.org", "invite", "link")
	p.open("/admin/invite")
	p.menu("otto", "Send by mail")
	p.see("A mail with a link is on its way to otto@example.org.")
	p.row("otto").see("Sent")
	p.click("checkbox", "Select all")
	p.click("button", "Send again")
	p.dialog().see("again?")
	p.audit()
	p.dialog().click("button", "Send")
	p.see("2 invited, 0 skipped")
	p.dialog().click("button", "Done")
	eventually(t, "send to both", func() bool { return o.count() == 4 })
	p.open("/system/mail")
	p.see("otto")
	p.click("checkbox", "Select all")
	p.in(".list-batch").click("button", "Delete")
	p.dialog().see("Delete 3 mails?")
	p.confirm("Delete")
	p.see("3 mails deleted.")
}

// TestConsoleTestMail sends test mails from the page and from the settings.
func TestConsoleTestMail(t *testing.T) {
	t.Parallel()
	server, c, o := withMail(t)
	o.refuses.Store(true)
	p := signedInAt(t, server, c, "/system/mail")
	p.click("button", "Send test mail")
	d := p.dialog()
	d.click("button", "Send")
	d.see("Required")
	d.fill("Email address", "me@example.org")
	d.click("button", "Send")
	d.see("The mail server refused the recipient")
	d.see(refusal)
	p.looksGood("mail-test")
	o.refuses.Store(false)
	d.click("button", "Send")
	d.see("The mail server accepted the mail")
	d.see("Accepted as 4711")
	p.audit()
	d.click("button", "Close")
	p.gone("Accepted as 4711")

	p.click("button", "Mail settings")
	p.at("/system/setting/mail")
	p.see("Mail server")
	p.looksGood("mail-settings")
	p.click("button", "Send test mail")
	p.dialog().fill("Email address", "me@example.org")
	p.dialog().press("Enter")
	p.dialog().see("The mail server accepted the mail")
	if n := o.count(); n != 2 {
		t.Errorf("%d mails", n)
	}
}

// TestConsoleMailTemplates shows the templates with their styles and without scripts.
func TestConsoleMailTemplates(t *testing.T) {
	t.Parallel()
	server := start(t, t.TempDir())
	c := signedIn(t, server)
	p := signedInAt(t, server, c, "/system/mail")
	p.see("This server does not send mail: turn it on in the mail settings")
	p.find("button", "Mail settings")
	p.click("tab", "Templates")
	p.at("/system/mail/templates")
	p.looksGood("mail-templates")
	p.choose("Template", "Password reset")
	p.see("Reset your password")
	p.click("radio", "Plain text")
	p.see("/link/…")
	p.click("radio", "简体中文")
	p.see("密码")
	p.audit()

	p = console(t, server)
	p.as(c.token)
	p.before(`try { localStorage.setItem('reeve.language', 'zh') } catch {}`)
	for path, text := range map[string]string{
		"/system/mail":           "此服务器不发送邮件",
		"/system/mail/templates": "以您的名字为例",
		"/admin/invite":          "暂无待接受的邀请",
		"/user/invite":           "暂无待接受的邀请",
	} {
		p.open(path)
		p.see(text)
		p.looksGood("zh" + strings.ReplaceAll(path, "/", "-"))
	}
}

// TestConsoleForgottenPassword shows on the sign-in page what users can do who have forgotten their
// password: ask for a mail, or ask somebody.
func TestConsoleForgottenPassword(t *testing.T) {
	t.Parallel()
	server, c, o := withMail(t)
	c.create("/admin/list", "username", "nora", "email", "nora@example.org", "password", password)
	p := console(t, server)
	p.open("/")
	p.looksGood("forgot-link")
	p.click("button", "Forgot password?")
	p.looksGood("forgot-form")
	const text = "If there is such a user, a mail with a link is on its way. The link works for one hour."
	for _, name := range []string{"nobody", "nora@example.org"} {
		p.fill("Username or email address", name)
		p.press("Enter")
		p.see(text)
		p.audit()
		p.press("Enter") // the way back has the focus
		p.click("button", "Forgot password?")
	}

	eventually(t, "get one mail", func() bool { return o.count() == 1 })

	c.want(200, "PUT", "/system/setting",
		values("mail.enabled", false, "site.contact", "help@example.org"))
	p.expect(403, "/admin/password/forgot")
	p.fill("Username or email address", "nora")
	p.press("Enter")
	p.see("this server does not send mail; ask your administrator for a new password")
	p.audit()
	p.open("/")
	p.see("Forgot your password? Contact: help@example.org")
	p.missing("button", "Forgot password?")
	p.looksGood("forgot-contact")
	c.want(200, "PUT", "/system/setting", values("site.contact", ""))
	p.open("/")
	p.see("Forgot your password? Ask your administrator.")
	p.looksGood("forgot-ask")
}

// TestConsoleEmailVerification verifies the own address on the account page.
func TestConsoleEmailVerification(t *testing.T) {
	t.Parallel()
	server, c, o := withMail(t)
	c.create("/admin/list", "username", "nora", "email", "nora@example.org", "password", password)
	nora := signedInAs(t, server, "nora")
	p := signedInAt(t, server, nora, "/account")
	p.see("Not verified.")
	p.looksGood("verify")
	p.click("button", "Verify")
	p.see("A mail with a link is on its way to nora@example.org.")
	p.audit()
	eventually(t, "get the mail", func() bool { return o.count() == 1 })
}
