package webhooks_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"

	"reeve/server"
	"reeve/server/changes"
	"reeve/server/outgoing"
	"reeve/server/person"
	"reeve/server/servertest"
	"reeve/server/web"
	"reeve/server/webhook"
	"reeve/server/webhooks"
	"reeve/store"
	"reeve/store/audit"
	"reeve/store/disk/disktest"
	"reeve/store/kv"
)

// local allows webhooks to receivers of this test.
func local(su *servertest.Setup) {
	allow, err := outgoing.ParseAllow("webhooks.allow", []string{"127.0.0.1"})
	if err != nil {
		panic(err)
	}
	su.Config.WebhookAllow = allow
}

// sends runs what sends webhooks until stop is called or the test ends.
func sends(in *servertest.Instance) (stop func()) {
	in.T.Helper()
	in.Server.Sender.Backoff = func(int) time.Duration { return time.Millisecond }
	servertest.Must(in.T, in.Server.Sender.ConfirmAfterRestore())
	ctx, cancel := context.WithCancel(context.Background())
	var running sync.WaitGroup
	running.Go(func() { in.Server.Streams.Run(ctx) })
	running.Go(func() { in.Server.Sender.Run(ctx) })
	stop = sync.OnceFunc(func() { cancel(); running.Wait() })
	in.T.Cleanup(stop)
	return stop
}

// receiver is a receiver of webhooks.
type receiver struct {
	t   testing.TB
	URL string

	mu      sync.Mutex
	answer  func(r hookMessage) int // nil for 200
	arrived chan hookMessage
}

// hookMessage is a message.
type hookMessage struct {
	ID, Type string
	Header   http.Header
	Body     []byte
	Data     map[string]any
}

func receive(t testing.TB) *receiver {
	t.Helper()
	r := &receiver{t: t, arrived: make(chan hookMessage, 10_000)}
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		body, err := io.ReadAll(q.Body)
		var m struct {
			Type string
			Data map[string]any
		}
		if err != nil || json.Unmarshal(body, &m) != nil {
			t.Errorf("%v: %s", err, body)
		}

		got := hookMessage{q.Header.Get("webhook-id"), m.Type, q.Header, body, m.Data}
		r.mu.Lock()
		answer := r.answer
		r.mu.Unlock()
		status := http.StatusOK
		if answer != nil {
			status = answer(got)
		}

		w.WriteHeader(status)
		fmt.Fprintf(w, "answer %d", status)
		r.arrived <- got
	}))
	t.Cleanup(web.Close)
	r.URL = web.URL + "/hook?key=of-the-receiver"
	return r
}

func (r *receiver) answers(answer func(hookMessage) int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.answer = answer
}

func always(status int) func(hookMessage) int { return func(hookMessage) int { return status } }

// next returns the next message that arrives.
func (r *receiver) next() hookMessage {
	r.t.Helper()
	select {
	case m := <-r.arrived:
		return m
	case <-time.After(2 * time.Minute):
		r.t.Fatal("no message arrived")
		return hookMessage{}
	}
}

// gets fails unless the next messages are of these types, and returns them.
func (r *receiver) gets(types ...string) (all []hookMessage) {
	r.t.Helper()
	var got []string
	for range types {
		m := r.next()
		all, got = append(all, m), append(got, m.Type)
	}
	disktest.Equal(r.t, "messages", got, types)
	return all
}

// hookTo creates a webhook and returns its URL in the API and its secret.
func hookTo(in *servertest.Instance, r *receiver, as string, types ...string) (url, secret string) {
	in.T.Helper()
	var out struct {
		ID     int
		Secret string
	}
	in.OK("POST", "/system/webhook",
		string(servertest.EncodeJSON(in.T, map[string]any{"url": r.URL, "types": types})), as).Data(&out)
	return fmt.Sprint("/system/webhook/", out.ID), out.Secret
}

// state waits until a webhook has a state.
func waitFor(in *servertest.Instance, url, what string,
	until func(w *webhooks.WebhookOut) bool) *webhooks.WebhookOut {
	in.T.Helper()
	for late := time.Now().Add(20 * time.Second); ; time.Sleep(time.Millisecond) {
		out := &webhooks.WebhookOut{}
		in.OK("GET", url, "", "owner").Data(out)
		if until(out) {
			return out
		}
		if time.Now().After(late) {
			in.T.Fatalf("waiting until the webhook is %s: %+v", what, out)
		}
	}
}

func waitForState(in *servertest.Instance, url, state string) *webhooks.WebhookOut {
	in.T.Helper()
	return waitFor(in, url, state, func(w *webhooks.WebhookOut) bool { return w.State == state })
}

func TestWebhookMessages(t *testing.T) {
	t.Parallel()
	in, r := servertest.Start(t, local), receive(t)
	sends(in)
	in.Create("/admin/role", `{"name":"Before"}`)
	_, secret := hookTo(in, r, "owner", "role.*", "user.created", "audit.export_person")
	role := in.Create("/admin/role", `{"name":"Editor"}`)
	in.Create("/system/dict", `{"code":"c","name":"not asked for"}`)
	in.OK("PUT", fmt.Sprint("/admin/role/", role), `{"name":"Author"}`, "owner")
	user := in.Create("/admin/list", `{"username":"ann","password":"long enough it is"}`)
	in.OK("GET", fmt.Sprintf("/admin/list/%d/data", user), "", "owner")
	verifier, err := standardwebhooks.NewWebhook(secret)
	servertest.Must(t, err)
	ids := map[string]bool{}
	for i, m := range r.gets("role.created", "role.updated", "user.created", "audit.export_person") {
		if err := verifier.Verify(m.Body, m.Header); err != nil {
			t.Errorf("%s: %v", m.Type, err)
		}
		if ids[m.ID] || m.Data["id"] != m.ID || m.Header.Get("Content-Type") != "application/json" {
			t.Errorf("%s: ID %s, body %s", m.Type, m.ID, m.Body)
		}
		ids[m.ID] = true
		if m.Data["actor"].(map[string]any)["name"] != "admin" {
			t.Errorf("%s: %s", m.Type, m.Body)
		}
		if want := []any{"Editor", "Author", "ann", nil}[i]; m.Data["name"] != want {
			t.Errorf("%s: name %v, want %v", m.Type, m.Data["name"], want)
		}
	}

	if len(r.arrived) > 0 {
		t.Errorf("also %s", (<-r.arrived).Body)
	}
}

// An entry with many changes has a message for each, and each its own ID.
func TestWebhook_EntryWithManyChanges(t *testing.T) {
	t.Parallel()
	in, r := servertest.Start(t, local), receive(t)
	sends(in)
	hookTo(in, r, "owner", "user.*")
	csv := "username,nickname\n"
	for i := range 150 {
		csv += fmt.Sprintf("user%d,U\n", i)
	}

	in.Upload("/admin/list-import", csv, "owner").Brief(200)
	ids := map[string]bool{}
	for i := range 150 {
		m := r.next()
		if m.Type != "user.created" || m.Data["name"] != fmt.Sprint("user", i) {
			t.Fatalf("message %d is %s", i, m.Body)
		}
		ids[m.ID] = true
	}

	if len(ids) != 150 {
		t.Errorf("%d IDs", len(ids))
	}
}

// A webhook sends what its owner may read at that time.
func TestWebhook_FollowsOwnerRights(t *testing.T) {
	t.Parallel()
	in, r := servertest.Start(t, local), receive(t)
	near, far := in.Dept("Near", 0), in.Dept("Far", 0)
	keys := []string{"system.webhook.query", "system.webhook.create", "system.webhook.send",
		"admin.list.query"}
	role := in.Role("chief", func(r *store.Role) { r.DataScope = store.ScopeDept }, keys...)
	chief := in.Member("chief", near, role)
	nearby, away := in.Member("nearby", near), in.Member("away", far)
	sends(in)
	url, _ := hookTo(in, r, "chief", "*")
	rename := func(id store.ID, name string) {
		in.OK("PUT", fmt.Sprint("/admin/list/", id), `{"nickname":"`+name+`"}`, "owner")
	}
	rename(away, "A")
	in.Create("/admin/role", `{"name":"Not readable"}`)
	rename(nearby, "B")
	m := r.next() // the webhook itself is a change that its owner may read
	if m.Type != "webhook.created" {
		t.Fatalf("%s", m.Body)
	}
	if m = r.next(); m.Type != "user.updated" || m.Data["name"] != "nearby" ||
		m.Data["actor"] != nil {
		t.Fatalf("%s", m.Body)
	}
	// The owner moves: what is sent follows at once.
	in.OK("PUT", fmt.Sprint("/admin/list/", chief), fmt.Sprintf(`{"dept_id":%d}`, far), "owner")
	rename(nearby, "C")
	rename(away, "D")
	if m = r.next(); m.Data["name"] != "chief" {
		t.Fatalf("%s", m.Body)
	}
	if m = r.next(); m.Data["name"] != "away" {
		t.Fatalf("%s", m.Body)
	}
	// A disabled owner stops it. Once another user is the owner, the events that waited are sent,
	// with that user's rights.
	in.OK("PUT", fmt.Sprintf("/admin/list/%d/status", chief), `{"status":0}`, "owner")
	waitForState(in, url, webhooks.WebhookNoOwner)
	rename(away, "E")
	rename(nearby, "F")
	in.Create("/admin/role", `{"name":"Readable now"}`)
	time.Sleep(50 * time.Millisecond) // nothing may arrive
	if len(r.arrived) > 0 {
		t.Fatalf("sent without an owner: %s", (<-r.arrived).Body)
	}

	in.OK("GET", "/system/health", "", "owner").Brief(200, "0 are paused, 1 wait for another owner")
	in.OK("PUT", url, `{"owner_id":1}`, "owner")
	var names []any
	for range 5 {
		m = r.next()
		names = append(names, m.Type, m.Data["name"])
	}

	disktest.Equal(t, "events", names, []any{
		"user.updated", "chief", "session.ended", nil, "user.updated", "away", "user.updated",
		"nearby", "role.created", "Readable now",
	})
}

// Deliveries are in order, also while one fails, and a receiver that is slow or fails delays no
// other.
func TestWebhook_RetriesInOrder(t *testing.T) {
	t.Parallel()
	in, bad, slow, good := servertest.Start(t, local), receive(t), receive(t), receive(t)
	sends(in)
	url, _ := hookTo(in, bad, "owner", "role.*")
	hookTo(in, slow, "owner", "role.*")
	hookTo(in, good, "owner", "role.*")
	release := make(chan struct{})
	slow.answers(func(hookMessage) int { <-release; return 200 })
	defer close(release)
	bad.answers(always(500))
	first := in.Create("/admin/role", `{"name":"One"}`)
	in.OK("PUT", fmt.Sprint("/admin/role/", first), `{"name":"Two"}`, "owner")
	good.gets("role.created", "role.updated")
	for range 3 {
		bad.gets("role.created")
	}

	w := waitForState(in, url, webhooks.WebhookRetrying)
	if w.Attempts < 1 || w.FailingSince == 0 || w.LastStatus != 500 || w.Blocked == "" ||
		w.Behind < 2 {
		t.Errorf("%+v", w)
	}

	bad.answers(nil)
	for m := bad.next(); m.Type != "role.updated"; m = bad.next() {
		if m.Type != "role.created" {
			t.Fatalf("%s", m.Body)
		}
	}

	w = waitFor(in, url, "up to date", func(w *webhooks.WebhookOut) bool { return w.Behind == 0 })
	if w.State != webhooks.WebhookActive || w.Blocked != "" || w.FailingSince != 0 ||
		w.NextAt != 0 {
		t.Errorf("%+v", w)
	}

	var page webhooks.DeliveryPage
	in.OK("GET", url+"/delivery?success=0&pageSize=100", "", "owner").Data(&page)
	for i, d := range page.Data {
		if d.Status != 500 || d.Type != "role.created" || d.Attempt != len(page.Data)-i ||
			!strings.Contains(d.Error, "500") {
			t.Errorf("%+v", d)
		}
	}

	if len(page.Data) < 3 {
		t.Errorf("%d failed deliveries", len(page.Data))
	}

	in.OK("GET", url+"/delivery?success=1&pageSize=1", "", "owner").Data(&page)
	if len(page.Data) != 1 || page.Data[0].Type != "role.updated" || page.Next == 0 {
		t.Fatalf("%+v", page)
	}

	var detail webhooks.DeliveryDetail
	in.OK("GET", fmt.Sprint(url, "/delivery/", page.Data[0].ID), "", "owner").Data(&detail)
	if !strings.Contains(detail.Request, `"Two"`) || detail.Response != "answer 200" {
		t.Errorf("%+v", detail)
	}

	in.OK("GET", fmt.Sprint(url, "/delivery?pageSize=1&success=1&before=", page.Next), "", "owner").Data(&page)
	if len(page.Data) != 1 || page.Data[0].Type != "role.created" || page.Data[0].Attempt < 4 {
		t.Errorf("%+v", page)
	}
}

func TestWebhook_PauseResume(t *testing.T) {
	t.Parallel()
	var log servertest.Log
	in, r := servertest.Start(t, local, func(su *servertest.Setup) { su.Log = &log }), receive(t)
	sends(in)
	url, _ := hookTo(in, r, "owner", "role.*", "dict.*")
	r.answers(always(410))
	in.Create("/admin/role", `{"name":"One"}`)
	r.gets("role.created")
	if w := waitForState(in, url, webhooks.WebhookPaused); w.Paused != store.WebhookGone {
		t.Errorf("%+v", w)
	}
	if a := in.Call("POST", url+"/replay", `{"from":1}`, "owner"); a.Code != 409 {
		t.Errorf("%d %s", a.Code, a.Body)
	}

	_, parts := in.HealthParts()
	if p := parts["webhooks"]; p.State != web.Degraded || p.Figures["paused"] != 1 {
		t.Errorf("%+v", p)
	}

	r.answers(nil)
	in.OK("POST", url+"/resume", "", "owner")
	again := r.gets("role.created")[0]
	// A message that has failed for three days pauses the webhook.
	r.answers(always(503))
	in.Create("/admin/role", `{"name":"Two"}`)
	r.gets("role.created")
	waitForState(in, url, webhooks.WebhookRetrying)
	h, err := in.Server.Sender.Hook(1)
	servertest.Must(t, err)
	h.Set(func(s *store.WebhookState) {
		s.FailingSince = kv.TimeOf(time.Now().Add(-73 * time.Hour))
	})
	if w := waitForState(in, url, webhooks.WebhookPaused); w.Paused != store.WebhookFailing {
		t.Errorf("%+v", w)
	}

	r.answers(nil)
	for len(r.arrived) > 0 {
		<-r.arrived
	}

	in.Create("/system/dict", `{"code":"a","name":"waits"}`)
	in.OK("POST", url+"/resume", `{"latest":1}`, "owner")
	in.Create("/system/dict", `{"code":"b","name":"new"}`)
	if m := r.next(); m.Data["name"] != "new" {
		t.Errorf("not skipped: %s", m.Body)
	}
	// What was skipped can be sent again, with the same ID.
	seq, err := strconv.Atoi(strings.Split(again.ID, "-")[1])
	servertest.Must(t, err)
	in.OK("POST", url+"/replay", fmt.Sprintf(`{"from":%d}`, seq), "owner")
	if m := r.next(); m.ID != again.ID || m.Type != "role.created" {
		t.Errorf("%s %s", m.ID, m.Body)
	}

	waitFor(in, url, "done with the replay", func(w *webhooks.WebhookOut) bool {
		return w.Replaying == 0
	})
	in.OK("POST", url+"/replay", fmt.Sprintf(`{"from":%d,"until":%d}`, seq, in.NewestEntry()),
		"owner")
	r.gets("role.created", "role.created", "dict.changed", "dict.changed")
	if strings.Contains(log.String(), "of-the-receiver") {
		t.Error("the log has the URL")
	}
}

// A message that the receiver never accepts holds up the others, until the webhook continues with
// new events and replays the ones behind it.
func TestWebhook_PassesBlockingEvent(t *testing.T) {
	t.Parallel()
	in, r := servertest.Start(t, local), receive(t)
	sends(in)
	url, _ := hookTo(in, r, "owner", "role.*")
	r.answers(func(m hookMessage) int {
		if m.Data["name"] == "Bad" {
			return 422
		}
		return 200
	})
	in.Create("/admin/role", `{"name":"Bad"}`)
	in.Create("/admin/role", `{"name":"Good"}`)
	r.next()
	w := waitForState(in, url, webhooks.WebhookRetrying)
	blocking, err := strconv.Atoi(strings.Split(w.Blocked, "-")[1])
	servertest.Must(t, err)
	in.OK("POST", url+"/resume", `{"latest":1}`, "owner")
	in.OK("POST", url+"/replay",
		fmt.Sprintf(`{"from":%d,"until":%d}`, blocking+1, in.NewestEntry()), "owner")
	in.Create("/admin/role", `{"name":"New"}`)
	var names []any
	for len(names) < 2 {
		if m := r.next(); m.Data["name"] != "Bad" {
			names = append(names, m.Data["name"])
		}
	}

	disktest.Equal(t, "names", names, []any{"Good", "New"})
	waitForState(in, url, webhooks.WebhookActive)
}

// The head of the change log can be what a receiver never accepts.
func TestWebhook_PassesBlockingHead(t *testing.T) {
	t.Parallel()
	in, r := servertest.Start(t, local), receive(t)
	sends(in)
	r.answers(func(m hookMessage) int {
		if m.Type == changes.HeadType {
			return 422
		}
		return 200
	})
	url, _ := hookTo(in, r, "owner", "role.*", changes.HeadType)
	h, err := in.Server.Sender.Hook(1)
	servertest.Must(t, err)
	h.Set(func(s *store.WebhookState) {
		s.HeadAt = kv.TimeOf(time.Now().Add(-2 * changes.HeadEvery))
	})
	h.Poke()
	waitForState(in, url, webhooks.WebhookRetrying)
	in.OK("POST", url+"/resume", `{"latest":1}`, "owner")
	in.Create("/admin/role", `{"name":"New"}`)
	for m := r.next(); m.Data["name"] != "New"; m = r.next() {
		if m.Type != changes.HeadType {
			t.Fatalf("%s", m.Body)
		}
	}

	waitForState(in, url, webhooks.WebhookActive)
}

// A user becomes the owner of a webhook by changing it, with the permission to create one and the
// rights of the previous owner; nobody else can be made the owner.
func TestWebhook_TakingOver(t *testing.T) {
	t.Parallel()
	in, r := servertest.Start(t, local), receive(t)
	clerk := in.Clerk("clerk", "system.webhook.query", "system.webhook.update") // without system.webhook.create
	other := in.Clerk("other", "system.webhook.query", "system.webhook.update",
		"system.webhook.create")
	sends(in)
	url, _ := hookTo(in, r, "other", "role.*")
	before := in.Dump()
	in.OK("PUT", url, fmt.Sprintf(`{"owner_id":%d}`, other.ID), "owner") // as it is
	in.Call("PUT", url, fmt.Sprintf(`{"owner_id":%d}`, clerk.ID), "owner").Names(422, "owner_id")
	in.Call("PUT", url, `{"owner_id":999}`, "owner").Names(422, "owner_id")
	in.Call("PUT", url, `{"owner_id":1}`, "other").Names(422, "owner_id")
	in.Unchanged(before)
	in.OK("DELETE", fmt.Sprint("/admin/list/", other.ID), "", "owner")
	in.Call("PUT", url, fmt.Sprintf(`{"owner_id":%d}`, clerk.ID), "clerk").Brief(403,
		"permission system.webhook.create is required")
	var w webhooks.WebhookOut
	in.OK("PUT", url, `{"owner_id":1,"description":"taken over"}`, "owner").Data(&w)
	if w.OwnerID != 1 || w.Description != "taken over" || w.State != webhooks.WebhookActive {
		t.Errorf("%+v", w)
	}
}

func TestWebhookSecrets(t *testing.T) {
	t.Parallel()
	var log servertest.Log
	in, r := servertest.Start(t, local, func(su *servertest.Setup) { su.Log = &log }), receive(t)
	sends(in)
	url, first := hookTo(in, r, "owner", "role.*")
	var out webhooks.WebhookWithSecret
	in.OK("POST", url+"/secret", "", "owner").Data(&out)
	second := out.Secret
	if second == "" || second == first || out.PreviousUntil == 0 {
		t.Fatalf("%+v", out)
	}

	verify := func(m hookMessage, secret string) bool {
		v, err := standardwebhooks.NewWebhook(secret)
		servertest.Must(t, err)
		return v.Verify(m.Body, m.Header) == nil
	}

	in.Create("/admin/role", `{"name":"One"}`)
	if m := r.next(); !verify(m, first) || !verify(m, second) {
		t.Error("both secrets should be valid")
	}

	in.Update(func(tx *store.Tx) error { // a day later
		_, err := store.WebhookSecrets.Update(tx, 1, func(s *store.WebhookSecret) error {
			s.PreviousUntil = tx.Now() - 1
			return nil
		})
		return err
	})
	in.Create("/admin/role", `{"name":"Two"}`)
	if m := r.next(); verify(m, first) || !verify(m, second) {
		t.Error("only the second secret should be valid")
	}
	// Another URL has another secret, at once.
	in.OK("PUT", url, `{"url":"`+r.URL+`&more=1"}`, "owner").Data(&out)
	third := out.Secret
	in.Create("/admin/role", `{"name":"Three"}`)
	if m := r.next(); third == "" || verify(m, first) || verify(m, second) || !verify(m, third) {
		t.Error("only the third secret should be valid")
	}
	// A given secret.
	given := "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
	in.OK("POST", url+"/secret", `{"secret":"`+given+`"}`, "owner")
	in.Create("/admin/role", `{"name":"Four"}`)
	if m := r.next(); !verify(m, given) || !verify(m, third) {
		t.Error("the given secret should be valid")
	}
	if a := in.Call("POST", url+"/secret",
		`{"secret":"whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw=======!!"}`, "owner"); a.Code != 422 {
		t.Errorf("%d %s", a.Code, a.Body)
	}

	in.Flush()
	in.Server.Sender.Save()
	texts := []string{log.String()}
	for _, path := range []string{url + "/delivery", "/system/audit?pageSize=1000",
		"/system/audit-export", "/system/monitor/request?pageSize=1000", "/system/info",
		"/system/health"} {
		texts = append(texts, in.OK("GET", path, "", "owner").Body)
	}

	var page struct {
		Data []struct {
			RequestID string `json:"request_id"`
		}
	}
	in.OK("GET", "/system/monitor/request?pageSize=1000", "", "owner").Data(&page)
	for _, row := range page.Data {
		texts = append(texts,
			in.OK("GET", "/system/monitor/request/"+row.RequestID, "", "owner").Body)
	}

	for _, text := range texts {
		for _, secret := range []string{first, second, third, given, "of-the-receiver"} {
			if i := strings.Index(text, strings.TrimPrefix(secret, "whsec_")); i >= 0 {
				t.Errorf("a secret is in %s", text[max(0, i-200):i+20])
			}
		}
	}
}

// TestWebhook_OfOtherOwner checks that a user who changes a webhook, or reads its deliveries, must
// be able to change its owner.
func TestWebhook_OfOtherOwner(t *testing.T) {
	t.Parallel()
	in, r := servertest.Start(t, local), receive(t)
	keys := []string{"system.webhook.query", "system.webhook.create", "system.webhook.update",
		"system.webhook.delete", "system.webhook.send", "system.webhook.secret"}
	in.Clerk("clerk", keys...)
	sends(in)
	url, _ := hookTo(in, r, "owner", "role.*")
	in.Create("/admin/role", `{"name":"One"}`)
	r.gets("role.created")
	before := in.Dump()
	for _, c := range [][3]string{
		{"PUT", "", `{"url":"http://127.0.0.1:1/"}`}, {"DELETE", "", ""},
		{"PUT", "", `{"owner_id":2}`}, {"POST", "/secret", ""}, {"POST", "/test", ""},
		{"POST", "/resume", ""}, {"POST", "/replay", `{"from":1}`}, {"GET", "/delivery", ""},
		{"GET", "/delivery/1", ""},
	} {
		if a := in.Call(c[0], url+c[1], c[2], "clerk"); a.Code != 403 {
			t.Errorf("%s %s: %d %s", c[0], c[1], a.Code, a.Body)
		}
	}

	in.Unchanged(before)
	for _, path := range []string{"/system/webhook", url} {
		if a := in.OK("GET", path, "", "clerk"); strings.Contains(a.Body, "of-the-receiver") ||
			!strings.Contains(a.Body, "/******") {
			t.Errorf("%s: %s", path, a.Body)
		}
		if a := in.OK("GET", path, "", "owner"); !strings.Contains(a.Body, "of-the-receiver") {
			t.Errorf("%s: %s", path, a.Body)
		}
	}

	own, _ := hookTo(in, r, "clerk", "role.*") // of a clerk who may not read roles
	in.Create("/admin/role", `{"name":"Two"}`)
	r.gets("role.created")
	waitFor(in, own, "up to date", func(w *webhooks.WebhookOut) bool { return w.Behind == 0 })
	if len(r.arrived) > 0 {
		t.Errorf("the clerk's webhook sent %s", (<-r.arrived).Body)
	}

	in.OK("PUT", own, `{"owner_id":1}`, "owner")
	in.OK("DELETE", own, "", "owner")
	if a := in.Call("GET", own+"/delivery", "", "owner"); a.Code != 404 {
		t.Errorf("%d %s", a.Code, a.Body)
	}
}

// What a webhook has sent for a deleted owner stays hidden from users who could read less, also
// once one of them becomes the owner.
func TestWebhook_OfDeletedOwner(t *testing.T) {
	t.Parallel()
	in, r := servertest.Start(t, local), receive(t)
	clerk := in.Clerk("clerk", "system.webhook.query", "system.webhook.create",
		"system.webhook.update")
	u := in.Clerk("other", "system.webhook.query", "system.webhook.create", "admin.role.query")
	sends(in)
	url, _ := hookTo(in, r, "other", "role.created")
	in.Create("/admin/role", `{"name":"One"}`)
	r.gets("role.created")
	waitFor(in, url, "up to date", func(w *webhooks.WebhookOut) bool { return w.Behind == 0 })
	in.OK("DELETE", fmt.Sprint("/admin/list/", u.ID), "", "owner")
	if a := in.OK("GET", url+"/delivery", "", "owner"); !strings.Contains(a.Body, "role.created") {
		t.Errorf("%s", a.Body)
	}
	if a := in.Call("GET", url+"/delivery", "", "clerk"); a.Code != 403 {
		t.Errorf("%d %s", a.Code, a.Body)
	}

	in.OK("PUT", url, fmt.Sprintf(`{"owner_id":%d}`, clerk.ID), "clerk")
	if a := in.OK("GET", url+"/delivery", "", "clerk"); strings.Contains(a.Body, "role.created") {
		t.Errorf("%s", a.Body)
	}
}

func TestWebhook_DeliveriesOfErasedPerson(t *testing.T) {
	t.Parallel()
	in, r := servertest.Start(t, local), receive(t)
	sends(in)
	url, _ := hookTo(in, r, "owner", "user.*", "role.*")
	ann := in.Create("/admin/list", `{"username":"ann-canary","password":"long enough it is"}`)
	in.Create("/admin/role", `{"name":"Remains"}`)
	r.gets("user.created", "role.created")
	waitFor(in, url, "up to date", func(w *webhooks.WebhookOut) bool { return w.Behind == 0 })
	types := func() (all []string) {
		var page webhooks.DeliveryPage
		in.OK("GET", url+"/delivery", "", "owner").Data(&page)
		for _, d := range page.Data {
			all = append(all, d.Type)
		}
		return all
	}
	disktest.Equal(t, "before", types(), []string{"role.created", "user.created"})
	var out person.Erasure
	in.OK("POST", fmt.Sprintf("/admin/list/%d/erase", ann), `{"username":"ann-canary"}`, "owner").Data(&out)
	if n := out.Removed.Deliveries; n < 1 || n > 2 { // the deletion may be delivered before the deliveries are removed
		t.Errorf("%+v", out.Removed)
	}

	m := r.gets("user.deleted")[0]
	if bytes.Contains(m.Body, []byte("canary")) {
		t.Errorf("%s", m.Body)
	}

	entries, err := os.ReadDir(filepath.Join(in.Dir, webhooks.DeliveryDir))
	servertest.Must(t, err)
	for _, e := range entries {
		if bytes.Contains(disktest.ReadFile(t,
			filepath.Join(in.Dir, webhooks.DeliveryDir, e.Name())), []byte("canary")) {
			t.Errorf("%s has the name", e.Name())
		}
	}

	if got := types(); slices.Contains(got, "user.created") ||
		!slices.Contains(got, "role.created") {
		t.Errorf("after: %v", got)
	}
	// A replay of the entry cannot bring the name back.
	in.OK("POST", url+"/replay", fmt.Sprintf(`{"from":1,"until":%d}`, in.NewestEntry()), "owner")
	for _, m := range r.gets("user.created", "role.created", "user.deleted") {
		if bytes.Contains(m.Body, []byte("canary")) {
			t.Errorf("%s", m.Body)
		}
	}
}

// TestWebhook_AfterRestart checks that positions are kept over restarts. After a restore, a user
// has to confirm.
func TestWebhook_AfterRestart(t *testing.T) {
	t.Parallel()
	dir, r := t.TempDir(), receive(t)
	in := servertest.Open(t, dir, local)
	in.Tokens["owner"] = in.SignIn(1)
	stop := sends(in)
	url, _ := hookTo(in, r, "owner", "role.*")
	in.Create("/admin/role", `{"name":"One"}`)
	r.gets("role.created")
	waitFor(in, url, "up to date", func(w *webhooks.WebhookOut) bool { return w.Behind == 0 })
	stop()
	in.Create("/admin/role", `{"name":"Two"}`)
	in.Close()
	in = servertest.Open(t, dir, local)
	in.Tokens["owner"] = in.SignIn(1)
	stop = sends(in)
	if m := r.gets("role.created")[0]; m.Data["name"] != "Two" {
		t.Errorf("%s", m.Body)
	}

	waitFor(in, url, "up to date", func(w *webhooks.WebhookOut) bool { return w.Behind == 0 })
	stop()
	in.Update(func(tx *store.Tx) error { // as of another generation
		_, err := store.WebhookStates.Update(tx, 1, func(s *store.WebhookState) error {
			s.Generation = "replaced"
			return nil
		})
		return err
	})
	in.Close()
	in = servertest.Open(t, dir, local)
	in.Tokens["owner"] = in.SignIn(1)
	sends(in)
	in.Create("/admin/role", `{"name":"Three"}`)
	if w := waitForState(in, url, webhooks.WebhookPaused); w.Paused != store.WebhookRestored {
		t.Errorf("%+v", w)
	}

	in.OK("POST", url+"/resume", "", "owner")
	if m := r.gets("role.created")[0]; m.Data["name"] != "Three" {
		t.Errorf("%s", m.Body)
	}
}

// The head of the change log is sent every hour to owners who may read all of the log.
func TestWebhook_SendsLogHead(t *testing.T) {
	t.Parallel()
	in, r := servertest.Start(t, local), receive(t)
	in.Clerk("clerk", "system.webhook.query", "system.webhook.create")
	sends(in)
	hookTo(in, r, "clerk", changes.HeadType)
	hookTo(in, r, "owner", changes.HeadType)
	for id := range store.ID(2) {
		h, err := in.Server.Sender.Hook(id + 1)
		servertest.Must(t, err)
		h.Set(func(s *store.WebhookState) { s.HeadAt -= 3600 * 1e6 })
		h.Poke()
	}

	m := r.gets(changes.HeadType)[0]
	head := in.DB.LogHead()
	var got struct{ Data audit.Head }
	servertest.Must(t, json.Unmarshal(m.Body, &got))
	if got.Data != head {
		t.Errorf("%+v, want %+v", got.Data, head)
	}

	in.Create("/admin/role", `{"name":"One"}`)
	waitFor(in, "/system/webhook/2", "up to date", func(w *webhooks.WebhookOut) bool {
		return w.Behind == 0
	})
	if len(r.arrived) > 0 {
		t.Errorf("also %s", (<-r.arrived).Body)
	}
}

func TestWebhookTest(t *testing.T) {
	t.Parallel()
	in, r := servertest.Start(t, local), receive(t)
	url, secret := hookTo(in, r, "owner", "role.*")
	var out webhooks.DeliveryDetail
	in.OK("POST", url+"/test", "", "owner").Data(&out)
	m := r.gets(webhooks.TestType)[0]
	v, err := standardwebhooks.NewWebhook(secret)
	servertest.Must(t, err)
	if v.Verify(m.Body, m.Header) != nil || out.Status != 200 || !bool(out.Success) ||
		out.Response != "answer 200" || out.Request != string(m.Body) {
		t.Errorf("%+v", out)
	}

	clerk := in.Clerk("clerk", "system.webhook.query", "system.webhook.create",
		"system.webhook.send")
	own, _ := hookTo(in, r, "clerk", "role.*")
	r.answers(func(hookMessage) int { // the caller is disabled while the receiver takes its time
		in.OK("PUT", fmt.Sprintf("/admin/list/%d/status", clerk.ID), `{"status":0}`, "owner")
		return 200
	})
	if a := in.Call("POST", own+"/test", "", "clerk"); a.Code != 401 {
		t.Errorf("%d %s", a.Code, a.Body)
	}

	r.gets(webhooks.TestType)
	r.answers(always(302))
	in.OK("POST", url+"/test", "", "owner").Data(&out)
	if bool(out.Success) || out.Status != 302 || out.Error == "" {
		t.Errorf("%+v", out)
	}

	var page webhooks.DeliveryPage
	in.OK("GET", url+"/delivery", "", "owner").Data(&page)
	if len(page.Data) != 2 || page.Data[0].Kind != webhooks.TestDelivery ||
		page.Data[0].Status != 302 {
		t.Errorf("%+v", page.Data)
	}
}

// Users may steer and change a webhook at the same time: neither waits for the other with what that
// one needs.
func TestWebhook_SteeredAndChangedAtOnce(t *testing.T) {
	t.Parallel()
	in := servertest.Start(t, local)
	r := receive(t)
	r.answers(always(500))
	url, _ := hookTo(in, r, "owner", "*")
	sends(in)
	var callers sync.WaitGroup
	for i := range 4 {
		callers.Go(func() {
			for n := range 25 {
				in.OK("POST", url+"/resume", `{}`, "owner")
				in.OK("PUT", url, fmt.Sprintf(`{"description":"%d of %d"}`, n, i), "owner")
			}
		})
	}
	// It ends the program, since the cleanup of a test would wait, too.
	late := time.AfterFunc(30*time.Second, func() {
		panic("a write waits for a webhook that waits for the writer")
	})

	callers.Wait()
	late.Stop()
}

// What was found decides where a webhook continues.
func TestWebhookPosition(t *testing.T) {
	t.Parallel()
	entries := func(numbers ...uint64) (list []*changes.StreamEntry) {
		for _, n := range numbers {
			e := &changes.StreamEntry{}
			e.Seq = n
			list = append(list, e)
		}
		return list
	}

	event := func(seq uint64, part int) store.WebhookState {
		return store.WebhookState{Seq: seq, Part: part}
	}

	replay := func(next, until uint64) store.WebhookState {
		return store.WebhookState{ReplayNext: next, ReplayUntil: until}
	}
	for _, test := range []struct {
		name    string
		state   store.WebhookState
		entries []*changes.StreamEntry
		want    store.WebhookState
		lost    webhooks.LostEntries
	}{
		{"parts that were sent are not sent again if the entry cannot be read yet", event(15, 1),
			nil, event(15, 1), webhooks.LostEntries{}},
		{"entries without a message are behind it", event(15, 1), entries(16, 17), event(17, 0),
			webhooks.LostEntries{}},
		{"lost entries are those that are missing", event(15, 1), entries(20, 21), event(21, 0),
			webhooks.LostEntries{
				First: 16,
				Last:  19,
			}},
		{"a replay continues", replay(3, 5), entries(3, 4), replay(5, 5), webhooks.LostEntries{}},
		{"a replay ends with its last entry", replay(3, 5), entries(3, 4, 5, 6),
			store.WebhookState{}, webhooks.LostEntries{}},
		{"a replay of entries that were all lost ends", replay(3, 5), entries(20, 21),
			store.WebhookState{}, webhooks.LostEntries{
				First: 3,
				Last:  5,
			}},
		{"a replay without entries ends", replay(3, 5), nil, store.WebhookState{},
			webhooks.LostEntries{}},
	} {
		p := &webhooks.Plan{State: test.state, Kind: webhooks.EventDelivery, Entries: test.entries}
		if test.state.ReplayNext != 0 {
			p.Kind = webhooks.ReplayDelivery
		}
		servertest.Must(t, p.Find(&changes.View{}, nil))
		got := test.state
		p.Advance(&got)
		disktest.Equal(t, test.name, got, test.want)
		disktest.Equal(t, test.name, p.Lost, test.lost)
	}
}

// The head of a log that grows is one message, whose attempts are counted.
func TestWebhook_LogHeadRetried(t *testing.T) {
	t.Parallel()
	h := &webhooks.Hook{Sender: servertest.Start(t).Server.Sender}
	var s store.WebhookState
	begun := time.Now()
	for n, id := range []string{"head-1", "head-2", "head-3"} {
		p := &webhooks.Plan{
			Hook:    h,
			Kind:    webhooks.EventDelivery,
			State:   s,
			Message: &webhooks.Outgoing{Message: webhook.Message{ID: id}},
			IsHead:  true,
		}
		if got := p.Attempt(); got != n+1 {
			t.Errorf("%s: attempt %d", id, got)
		}
		h.Failed(&s, p, begun.Add(time.Duration(n)*time.Hour), &webhook.Result{Status: 500})
		if s.Attempts != n+1 || s.Blocked != id || s.FailingSince != kv.TimeOf(begun) {
			t.Errorf("%s: %+v", id, s)
		}
	}
}

// A webhook that is far behind many writes leaves processor time to them.
func TestWebhookPace(t *testing.T) {
	t.Parallel()
	in := servertest.Start(t)
	h, streams := &webhooks.Hook{Sender: in.Server.Sender}, in.Server.Streams // the hook does not run
	busyUntil := func(at time.Time) {
		streams.Mu.Lock()
		defer streams.Mu.Unlock()
		streams.BusyUntil = at
	}

	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			for n := range webhooks.WebhookFar/8 + 1 {
				err := in.DB.Update(store.System, func(tx *store.Tx) error {
					return store.Depts.Create(tx, &store.Dept{Name: fmt.Sprintf("%d-%d", i, n)})
				})
				if err != nil {
					t.Error(err)
				}
			}
		})
	}

	wg.Wait()
	busyUntil(time.Now())
	begun := time.Now()
	streams.Pause(changes.ManyEntries - 1)
	disktest.Equal(t, "far behind few writes", h.Pace(), webhooks.WebhookPace)
	streams.Pause(changes.ManyEntries)
	if until := streams.BusyUntil; until.Before(begun.Add(changes.BusyAfter)) {
		t.Errorf("many writes: busy until %s after the beginning", until.Sub(begun))
	}

	busyUntil(begun.Add(time.Hour))
	streams.Pause(1)
	disktest.Equal(t, "far behind many writes", h.Pace(), webhooks.WebhookBusy)
	h.State.Seq = in.DB.LogHead().Seq - webhooks.WebhookFar
	disktest.Equal(t, "not far behind", h.Pace(), webhooks.WebhookPace)
}

// A clock that was wrong does not stop a webhook.
func TestWebhook_ClockSetBack(t *testing.T) {
	t.Parallel()
	in, r := servertest.Start(t, local), receive(t)
	hookTo(in, r, "owner", "role.*")
	sends(in)
	h, err := in.Server.Sender.Hook(1)
	servertest.Must(t, err)
	h.Set(func(s *store.WebhookState) { s.NextAt = kv.TimeOf(time.Now().AddDate(1, 0, 0)) })
	in.Create("/admin/role", `{"name":"One"}`)
	h.Poke()
	r.gets("role.created")
}

// Rotating a secret repairs a webhook whose secrets were lost with secret.key.
func TestWebhook_LostSecrets(t *testing.T) {
	t.Parallel()
	in, r := servertest.Start(t, local), receive(t)
	url, _ := hookTo(in, r, "owner", "role.*")
	servertest.Must(t, in.DB.Update(store.System, func(tx *store.Tx) error {
		_, err := store.WebhookSecrets.Update(tx, 1, func(s *store.WebhookSecret) (err error) {
			s.Current, err = tx.Seal("elsewhere", "secret")
			s.Deliveries = s.Current
			return err
		})
		return err
	}))
	sends(in)
	in.Create("/admin/role", `{"name":"One"}`)
	in.OK("POST", url+"/secret", "", "owner")
	in.OK("POST", url+"/resume", `{}`, "owner")
	r.gets("role.created")
	in.OK("POST", url+"/test", "", "owner")
	in.OK("GET", url+"/delivery", "", "owner")
}

// Bad URLs and types are named, and the number of webhooks is bounded.
func TestWebhookInput(t *testing.T) {
	t.Parallel()
	in := servertest.Start(t)
	for body, field := range map[string]string{
		`{"url":"https://user:password@example.org/","types":["*"]}`: "url",
		`{"url":"ftp://example.org/","types":["*"]}`:                 "url",
		`{"url":"https://169.254.169.254/","types":["*"]}`:           "url",
		`{"url":"http://127.0.0.1/","types":["*"]}`:                  "url",
		`{"url":"https://example.org/","types":["usr.created"]}`:     "types",
		`{"url":"https://example.org/","types":["user.made"]}`:       "types",
		`{"url":"https://example.org/","types":["role.*","role.*"]}`: "types",
		`{"url":"https://example.org/","types":[]}`:                  "types",
		`{"url":"https://example.org/"}`:                             "types",
	} {
		in.Call("POST", "/system/webhook", body, "owner").Names(422, field)
	}

	for i := range store.MaxWebhooks {
		in.Create("/system/webhook",
			fmt.Sprintf(`{"url":"https://example.org/%d","types":["*"]}`, i))
	}

	if a := in.Call("POST", "/system/webhook", `{"url":"https://example.org/","types":["*"]}`,
		"owner"); a.Code != 409 || a.Envelope().ErrorCode != "too_many_webhooks" {
		t.Errorf("%d %s", a.Code, a.Body)
	}
}

// EventTypes has the types of all collections and of all actions that are logged.
func TestEventTypes(t *testing.T) {
	t.Parallel()
	var types []string
	for _, kind := range changes.EventTypes() {
		types = append(types, kind.Type)
	}

	for _, want := range []string{"user.created", "setting.changed", "session.ended",
		"dict.changed", "webhook.updated", "audit.export", changes.HeadType} {
		if !slices.Contains(types, want) {
			t.Errorf("%s is missing in %v", want, types)
		}
	}

	for _, rt := range server.Routes() {
		if rt.LoggedAs != "" && !slices.Contains(types, changes.ActionTypes+"."+rt.LoggedAs) {
			t.Errorf("add the action %s to loggedActions", rt.LoggedAs)
		}
	}
}

func TestBackoff(t *testing.T) {
	t.Parallel()
	for n, middle := range map[int]time.Duration{
		1:    webhooks.WebhookFirst,
		2:    2 * webhooks.WebhookFirst,
		5:    16 * webhooks.WebhookFirst,
		14:   webhooks.WebhookLongest,
		1000: webhooks.WebhookLongest,
	} {
		seen := map[time.Duration]bool{}
		for range 50 {
			d := webhooks.Backoff(n)
			if seen[d] = true; d < middle*3/4 || d > middle*5/4 {
				t.Errorf("%d attempts: %s", n, d)
			}
		}
		if len(seen) < 10 {
			t.Errorf("%d attempts: no jitter", n)
		}
	}
}
