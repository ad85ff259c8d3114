package e2e

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"
)

// mirror is a receiver of webhooks whose responses a test chooses.
type mirror struct {
	*httptest.Server
	mu     sync.Mutex
	status int // of its responses
	got    []message
}

type message struct {
	id, kind, name string // of the message, of the event, and of the changed record
	header         http.Header
	body           []byte
}

func newMirror(t *testing.T) *mirror {
	r := &mirror{status: 200}
	r.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		var event struct {
			Type string
			Data struct{ Name string }
		}
		body, err := io.ReadAll(req.Body)
		if err == nil {
			err = json.Unmarshal(body, &event)
		}
		if err != nil {
			t.Errorf("receive: %v", err)
		}

		r.mu.Lock()
		defer r.mu.Unlock()
		r.got = append(r.got,
			message{req.Header.Get("webhook-id"), event.Type, event.Data.Name, req.Header, body})
		w.WriteHeader(r.status)
		fmt.Fprintf(w, `{"answer":%d}`, r.status)
	}))

	t.Cleanup(r.Close)
	return r
}

// host is its host and port, by which the console names the webhook.
func (r *mirror) host() string { return strings.TrimPrefix(r.URL, "http://") }

// answers sets the status of its responses from now on.
func (r *mirror) answers(status int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.status = status
}

// messages returns what it has received about a record.
func (r *mirror) messages(name string) (found []message) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, m := range r.got {
		if m.name == name {
			found = append(found, m)
		}
	}
	return found
}

// receives waits until it has received a number of messages about a record, and returns the last
// one.
func (r *mirror) receives(t *testing.T, n int, name string) message {
	t.Helper()
	eventually(t, fmt.Sprintf("receive %d messages about %s", n, name), func() bool {
		return len(r.messages(name)) >= n
	})
	all := r.messages(name)
	return all[len(all)-1]
}

// signed reports whether a secret verifies a message.
func (m *message) signed(t *testing.T, secret string) bool {
	t.Helper()
	hook, err := standardwebhooks.NewWebhook(secret)
	if err != nil {
		t.Fatalf("the secret %q: %v", secret, err)
	}
	return hook.Verify(m.body, m.header) == nil
}

// withMirror is a server that may send to a receiver on this machine.
func withMirror(t *testing.T) (*process, *client, *mirror) {
	t.Helper()
	server := start(t, t.TempDir(), allowLocal)
	return server, signedIn(t, server), newMirror(t)
}

// hook creates a webhook that sends changes of roles, and returns its path.
func (c *client) hook(r *mirror) (path string) {
	c.t.Helper()
	return fmt.Sprintf("/system/webhook/%d",
		c.create("/system/webhook", "url", r.URL+"/hook?key=1", "description",
			"Mirror of the roles", "types", []string{"role.*"}))
}

// secret returns the secret that is shown once, and closes the dialog.
func (p *page) secret() (secret string) {
	p.t.Helper()
	p.dialog().see("You won’t be able to see it again.")
	secret = p.dialog().value("Signing secret")
	p.dialog().click("button", "Done")
	p.gone(secret)
	return secret
}

// TestConsoleWebhookCreate checks that a webhook is created in the browser, that changes arrive,
// and that the list follows.
func TestConsoleWebhookCreate(t *testing.T) {
	t.Parallel()
	server, owner, mirror := withMirror(t)
	p := signedInAt(t, server, owner, "/")
	p.click("menuitem", "Webhooks")
	p.at("/system/webhook")
	p.see("No webhooks yet.")
	owner.streams(1)
	p.click("button", "New webhook")
	d := p.dialog()
	d.click("button", "Create")
	d.see("Required")
	d.fill("URL", "ftp://"+mirror.host())
	d.fill("Description", "Mirror of the roles")
	for _, kind := range []string{"role.created", "user.*"} {
		p.choose("Events")
		p.write(kind[:6])
		p.choose("Events", kind)
	}

	p.press("Escape")
	p.expect(422, "/system/webhook")
	d.click("button", "Create")
	d.see("must be a URL that starts with https:// or http://")
	p.looksGood("webhook-form")
	d.fill("URL", mirror.URL+"/hook?key=1")
	d.click("button", "Create")
	d.see("Signing secret of " + mirror.host())
	p.looksGood("webhook-secret")
	secret := p.secret()
	p.row(mirror.host()).see("Active")
	p.row(mirror.host()).see("None yet")

	owner.create("/admin/role", "name", "Porter")
	m := mirror.receives(t, 1, "Porter")
	if m.kind != "role.created" || !m.signed(t, secret) {
		t.Errorf("received %s, %s", m.kind, m.body)
	}

	p.row(mirror.host()).see("200")
	owner.create("/system/webhook", "url",
		"http://127.0.0.1:9/a/long/path/of/an/endpoint/that/nobody/serves", "types", []string{"*"},
		"status", 0)
	owner.create("/system/webhook", "url", "http://127.0.0.1:9/", "types",
		[]string{"dict.changed", "role.*", "user.created", "user.updated", "user.deleted",
			"file.*"})
	p.row("/a/long/path").see("Disabled")
	owner.create("/admin/list", "username", "ann", "password", password)
	p.see("Retrying since")
	p.looksGood("webhooks")
	p.before(`try { localStorage.setItem('reeve.language', 'zh') } catch {}`)
	p.open("/system/webhook")
	p.row(mirror.host()).see("正常")
	p.looksGood("webhooks-zh")
}

// TestConsoleWebhookDeliveries checks the deliveries: what was sent, failures, and sending again.
func TestConsoleWebhookDeliveries(t *testing.T) {
	t.Parallel()
	server, owner, mirror := withMirror(t)
	path := owner.hook(mirror)
	p := signedInAt(t, server, owner, path)
	owner.streams(1)
	p.see("Nothing has been sent yet.")
	owner.create("/admin/role", "name", "Porter")
	p.row("role.created").see("200")
	p.looksGood("webhook")

	p.row("role.created").click("button", "role.created")
	d := p.dialog()
	d.see(`"name": "Porter"`)
	d.see(`"answer": 200`)
	p.looksGood("webhook-delivery")
	d.click("button", "Replay this event")
	p.see("Replaying.")
	again := mirror.receives(t, 2, "Porter")
	if first := mirror.messages("Porter")[0]; again.id != first.id {
		t.Errorf("the IDs are %s and %s", first.id, again.id)
	}

	p.row("Replay").see("200")

	p.in("section").click("button", "Send test event")
	d.see("webhook.test")
	d.see("This is a test event.")
	p.audit()
	p.shoot("webhook-test")
	d.in(".ant-drawer-footer").click("button", "Close")
	p.row("webhook.test").see("200")

	mirror.answers(503)
	owner.create("/admin/role", "name", "Guard")
	p.see("Retrying since")
	p.see("the receiver answered 503")
	p.looksGood("webhook-retrying")
	p.in(".ant-alert").click("button", "Retry now")
	p.toggle("Skip all waiting events", true)
	p.dialog().click("button", "Retry now")
	p.in("h1").see("Active")

	mirror.answers(200)
	p.choose("Result", "Failed")
	p.gone("webhook.test")
	n := len(mirror.messages("Guard"))
	p.first("[...root.querySelectorAll('td button')].find(shown)")
	d.click("button", "Replay this event")
	mirror.receives(t, n+1, "Guard")
	p.choose("Event", "webhook.test")
	p.see("No results")
	p.click("button", "Clear filters")
	p.row("webhook.test").see("200")
}

// TestConsoleWebhookSecrets checks that another secret is shown once, after rotating it and with
// another URL, and the history.
func TestConsoleWebhookSecrets(t *testing.T) {
	t.Parallel()
	server, owner, mirror := withMirror(t)
	path := owner.hook(mirror)
	p := signedInAt(t, server, owner, path)
	p.menu(mirror.host(), "Rotate secret")
	p.dialog().see("The previous one stays valid for 24 hours")
	p.confirm("Rotate secret")
	p.dialog().see("The previous secret stays valid until")
	first := p.secret()
	p.see("Previous secret valid until")
	owner.create("/admin/role", "name", "Porter")
	m := mirror.receives(t, 1, "Porter")
	if signatures := strings.Fields(m.header.Get("webhook-signature")); !m.signed(t, first) ||
		len(signatures) != 2 {
		t.Errorf("signed with %q", signatures)
	}

	p.click("button", "Edit")
	d := p.dialog()
	d.see("Events are sent to this address with POST.")
	d.fill("URL", mirror.URL+"/other")
	d.see("Another URL gets a new signing secret")
	p.audit()
	p.shoot("webhook-edit")
	d.click("button", "Save")
	d.see("Signing secret of")
	second := p.secret()
	p.see("/other")
	owner.create("/admin/role", "name", "Guard")
	if m = mirror.receives(t, 1, "Guard"); !m.signed(t, second) || m.signed(t, first) {
		t.Error("it is signed with the secret of the previous URL")
	}

	p.click("button", "Edit")
	d.click("tab", "History")
	d.see("admin changed the webhook")
	p.audit()
	d.in(".ant-drawer-footer").click("button", "Close")

	p.open("/system/audit?collection=webhook")
	p.see("admin created the webhook")
	p.open("/system/audit?action=webhook_secret")
	p.see("admin rotated the secret of webhook 1")
	p.audit()
}

// TestConsoleWebhookSteering checks pausing, resuming, skipping what waits, replaying a range, and
// that deleting asks.
func TestConsoleWebhookSteering(t *testing.T) {
	t.Parallel()
	server, owner, mirror := withMirror(t)
	path := owner.hook(mirror)
	p := signedInAt(t, server, owner, path)
	owner.streams(1)
	mirror.answers(410)
	owner.create("/admin/role", "name", "Porter")
	p.in("h1").see("Paused: receiver answered 410")
	owner.create("/admin/role", "name", "Guard")
	p.looksGood("webhook-paused")
	mirror.answers(200)
	p.in(".ant-alert").click("button", "Resume")
	p.toggle("Skip all waiting events", true)
	p.audit()
	p.shoot("webhook-resume")
	p.dialog().click("button", "Resume")
	p.in("h1").see("Active")
	owner.create("/admin/role", "name", "Cook")
	mirror.receives(t, 1, "Cook")
	if n := len(mirror.messages("Guard")); n != 0 {
		t.Errorf("%d messages about a change that was skipped", n)
	}

	p.menu(mirror.host(), "Replay events")
	p.fill("From entry", "999")
	p.expect(422, path+"/replay")
	p.confirm("Replay")
	p.dialog().see("the change log has the entries 1 to")
	p.audit()
	p.shoot("webhook-replay")
	p.fill("To entry", "1")
	p.dialog().see("Must not be before the first entry")
	p.fill("From entry", "1")
	p.fill("To entry", fmt.Sprint(into[struct{ Seq int }](t, owner.want(200, "GET", path, "")).Seq))
	p.confirm("Replay")
	mirror.receives(t, 1, "Guard")
	mirror.receives(t, 2, "Cook")

	p.menu(mirror.host(), "Delete")
	p.dialog().see("the secret is lost")
	p.audit()
	p.confirm("Delete")
	p.at("/system/webhook")
	p.see("No webhooks yet.")
	p.open("/system/audit")
	p.see("admin replayed the events of entries 1 to")
	p.see("and skipped the waiting events")
	p.see("admin deleted the webhook Mirror of the roles")
	p.gone(mirror.URL) // it may be a secret
}

// TestConsoleWebhookPermissions checks that users see only the actions that they may use, and that
// another user takes over a webhook whose owner is gone.
func TestConsoleWebhookPermissions(t *testing.T) {
	t.Parallel()
	server, owner, mirror := withMirror(t)
	all := []string{"system", "system.webhook", "system.webhook.query", "system.webhook.create",
		"system.webhook.update", "admin.role.query"}
	bea := owner.holder(server, "bea", all...)
	path := bea.hook(mirror)
	viewer := owner.holder(server, "vera", all[:3]...)
	p := signedInAt(t, server, viewer, "/system/webhook")
	p.row(mirror.host()).see("bea")
	p.missing("button", "New webhook")
	p.missing("button", "More actions for "+mirror.host())
	p.expect(403, path+"/delivery") // what the owner may read is not for everybody
	p.click("button", "Deliveries of "+mirror.host())
	p.at(path)
	p.see("Only the owner and users with at least the same permissions can see them.")
	for _, name := range []string{"Edit", "Send test event", "More actions for " + mirror.host()} {
		p.missing("button", name)
	}

	p.audit()
	p.shoot("webhook-viewer")
	p.click("button", "Back to list")
	p.at("/system/webhook")

	p = signedInAt(t, server, owner, path)
	owner.want(200, "PUT",
		fmt.Sprintf("/admin/list/%d",
			list[struct{ ID int64 }](owner, "/admin/list?keywordSearch=bea")[0].ID),
		object("status", 0))
	p.in("h1").see("No owner")
	p.audit()
	p.in(".ant-alert").click("button", "Edit")
	p.toggle("Become the owner", true)
	p.audit()
	p.shoot("webhook-take")
	p.dialog().click("button", "Save")
	p.in("h1").see("Active")
}
