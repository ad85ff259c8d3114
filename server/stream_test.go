package server

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"reeve/server/changes"
	"reeve/server/web"
	"reeve/store"
	"reeve/store/disk/disktest"
)

// listener is a client of an event stream.
type listener struct {
	t     testing.TB
	lines *bufio.Scanner
	reply *http.Response
	last  string // ID of the last event

	opened changes.Opened // data of the first event
}

// live serves the instance over a connection, so that streams work.
func (in *instance) live() (url string) {
	in.t.Helper()
	in.server.streams.Ended, in.server.streams.Once = make(chan struct{}), sync.Once{}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() { defer close(done); in.server.streams.Run(ctx) }()
	web := httptest.NewServer(in.server.Handler())
	in.t.Cleanup(func() {
		in.server.streams.End()
		web.Close()
		cancel()
		<-done
	})
	return web.URL
}

// listen opens a stream, whose first event has arrived.
func (in *instance) listen(url, as string, header ...string) *listener {
	in.t.Helper()
	r, err := http.NewRequest("GET", url, nil)
	must(in.t, err)
	r.Header.Set("Authorization", "Bearer "+in.tokens[as])
	for i := 0; i < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	reply, err := http.DefaultClient.Do(r)
	must(in.t, err)
	in.t.Cleanup(func() { reply.Body.Close() })
	l := &listener{t: in.t, lines: bufio.NewScanner(reply.Body), reply: reply}
	l.lines.Buffer(nil, 1<<20)
	if reply.StatusCode == http.StatusOK {
		kind, data := l.next()
		if kind != "open" {
			in.t.Fatalf("the first event is %q", kind)
		}
		must(in.t, json.Unmarshal(encodeJSON(in.t, data), &l.opened))
	}
	return l
}

// next returns the next event; "" when the stream has ended.
func (l *listener) next() (kind string, data map[string]any) {
	l.t.Helper()
	for l.lines.Scan() {
		name, value, _ := strings.Cut(l.lines.Text(), ": ")
		switch name {
		case "id":
			l.last = value
		case "event":
			kind = value
		case "data":
			must(l.t, json.Unmarshal([]byte(value), &data))
		case "":
			if kind != "" {
				return kind, data
			}
		}
	}
	return "", nil
}

// gets fails unless the next events are of these types.
func (l *listener) gets(kinds ...string) {
	l.t.Helper()
	var got []string
	for range kinds {
		kind, _ := l.next()
		got = append(got, kind)
	}
	disktest.Equal(l.t, "events", got, kinds)
}

func TestStream_EventKinds(t *testing.T) {
	t.Parallel()
	in := start(t)
	url := in.live()
	l := in.listen(url+"/system/event", "owner")
	people := in.listen(url+"/system/event?types=user.*,role.created", "owner")
	in.create("/system/dict", `{"code":"c","name":"C"}`)
	in.create("/system/dict/1/item", `{"label":"A","value":"a"}`)
	in.create("/admin/role", `{"name":"Editor"}`)
	in.ok("PUT", "/admin/role/2", `{"name":"Author"}`, "owner")
	in.create("/admin/list", `{"username":"ann","password":"long enough it is"}`)
	in.ok("PUT", "/system/setting", `{"values":{"site.title":"Mine"}}`, "owner")
	in.keep("owner", "a.txt", "text")
	in.ok("DELETE", "/system/dict/1/item/1", "", "owner")
	in.ok("DELETE", "/admin/role/2", "", "owner")
	l.gets("dict.changed", "dict.changed", "role.created")
	kind, data := l.next()
	if kind != "role.updated" || data["name"] != "Author" || data["own"] != 1.0 || data["record"] != 2.0 || data["actor"].(map[string]any)["name"] != "admin" {
		t.Errorf("%s %v", kind, data)
	}
	l.gets("user.created", "setting.changed", "file.created", "dict.changed", "role.deleted")
	people.gets("role.created", "user.created")
	if h := l.reply.Header; h.Get("Content-Type") != "text/event-stream" || h.Get("X-Accel-Buffering") != "no" || h.Get("Cache-Control") != "no-store" {
		t.Errorf("%v", h)
	}
}

func TestStream_ResumesWithoutGaps(t *testing.T) {
	t.Parallel()
	in := start(t)
	url := in.live() + "/system/event?types=dict.*"
	l := in.listen(url, "owner")
	n := disktest.Size(700, 1500, 20_000) // more than streams keep in memory
	var want []string
	for i := range n {
		in.update(func(tx *store.Tx) error {
			return store.Dicts.Create(tx, &store.Dict{Code: fmt.Sprintf("c%d", i), Name: fmt.Sprint(i), Type: "default"})
		})
		want = append(want, fmt.Sprint(i))
	}
	var got []string
	for len(got) < n {
		for range min(n/7+1, n-len(got)) {
			_, data := l.next()
			got = append(got, fmt.Sprint(data["name"]))
		}
		l.reply.Body.Close()
		l = in.listen(url, "owner", "Last-Event-ID", l.last)
	}
	disktest.Equal(t, "names", got, want)
	number := l.last[strings.Index(l.last, "-")+1:]
	in.create("/system/dict", `{"code":"z","name":"Last"}`)
	if _, data := in.listen(url+"&since="+number, "owner").next(); data["name"] != "Last" {
		t.Errorf("since a number: %v", data)
	}
}

func TestStream_InvalidPositions(t *testing.T) {
	t.Parallel()
	in := start(t)
	in.create("/system/dict", `{"code":"c","name":"C"}`)
	head := in.db.LogHead()
	for _, c := range []struct {
		position string
		code     int
		says     string
	}{
		{web.EventID("othergener", 1), 410, "restore"}, {fmt.Sprint(head.Seq + 100), 410, "restore"},
		{"x", 400, "Last-Event-ID"}, {"-5", 400, "Last-Event-ID"}, {strings.Repeat("9", 60), 400, "Last-Event-ID"},
	} {
		a := in.call("GET", "/system/event?since="+c.position, "", "owner")
		if a.Code != c.code || !strings.Contains(a.Body, c.says) {
			t.Errorf("%s: %d %s", c.position, a.Code, a.Body)
		}
	}
	for _, types := range []string{"user", "user.", ".x", "USER.*", "user.*,,", "a.b.c", "user.*,%20", strings.Repeat("user.x,", 60) + "user.x"} {
		if a := in.call("GET", "/system/event?types="+types, "", "owner"); a.Code != http.StatusBadRequest {
			t.Errorf("types %q: %d", types, a.Code)
		}
	}
	for _, types := range []string{"nope.*", "user.upated", "none.none", "user.*,usr.*", "access.x"} {
		in.call("GET", "/system/event?types="+types, "", "owner").names(422, "types")
	}
}

// The first event says which of the types can come to the caller, and why the others can't.
func TestStream_OpenSaysWhatCanCome(t *testing.T) {
	t.Parallel()
	in := start(t)
	url := in.live()
	in.clerk("clerk", "admin.role.query")
	in.member("near", 0, in.role("Near", func(r *store.Role) { r.DataScope = store.ScopeSelf }, "admin.list.query", "system.audit.query"))
	in.appUser("customer")
	known := map[string]bool{changes.AccessChanged: true}
	for _, kind := range changes.EventTypes() {
		known[kind.Type] = true
	}
	for as, path := range map[string]string{"owner": "/system/event", "clerk": "/system/event", "near": "/system/event", "customer": "/api/event"} {
		l := in.listen(url+path, as)
		seen := map[string]bool{}
		for _, kind := range l.opened.Types {
			seen[kind] = true
		}
		for _, m := range l.opened.Missing {
			if seen[m.Type] || m.Reason == "" || path == "/system/event" && m.Type != changes.HeadType && !strings.Contains(m.Reason, "permission "+m.Permission) {
				t.Errorf("%s: %+v", as, m)
			}
			seen[m.Type] = true
		}
		if !maps.Equal(seen, known) || l.opened.ID != l.last {
			t.Errorf("%s: %v", as, seen)
		}
	}
	l := in.listen(url+"/system/event?types=user.*,audit.head,access.*", "near")
	disktest.Equal(t, "types", l.opened.Types, []string{"user.created", "user.deleted", "user.updated", changes.AccessChanged})
	disktest.Equal(t, "limited", l.opened.Limited, []string{"user.created", "user.deleted", "user.updated"})
	if l.opened.Scope || len(l.opened.Missing) != 1 || l.opened.Missing[0].Type != changes.HeadType {
		t.Errorf("%+v", l.opened)
	}
	l = in.listen(url+"/system/event?types=role.*,user.*,dict.changed,key.created", "clerk")
	if len(l.opened.Missing) != 1 || l.opened.Missing[0] != (changes.Unsent{Type: "key.created", Permission: "admin.key.query", Reason: "permission admin.key.query is required"}) {
		t.Errorf("%+v", l.opened.Missing)
	}
}

// A stream shows what its caller may read at the moment of the event, and nothing else.
func TestStream_PermissionsAndScope(t *testing.T) {
	t.Parallel()
	in := start(t)
	near, far := in.dept("Near", 0), in.dept("Far", 0)
	reader := in.role("reader", func(r *store.Role) { r.DataScope = store.ScopeDept }, "admin.list.query")
	ann := in.member("ann", near, reader)
	other, distant := in.member("other", near), in.member("distant", far)
	url := in.live()
	l := in.listen(url+"/system/event", "ann")
	change := func(id store.ID, name string) {
		in.ok("PUT", fmt.Sprintf("/admin/list/%d", id), `{"nickname":"`+name+`"}`, "owner")
	}
	in.create("/system/dict", `{"code":"c","name":"Unseen","status":0}`) // no permission
	change(distant, "Unseen")                                            // out of scope
	change(other, "Seen")
	kind, data := l.next()
	if kind != "user.updated" || data["record"] != float64(other) || data["actor"] != nil {
		t.Errorf("%s %v", kind, data)
	}
	in.ok("PUT", fmt.Sprintf("/admin/role/%d", reader), `{"data_scope":"self"}`, "owner")
	l.gets("access.changed")
	change(other, "Unseen now")
	change(ann, "Me")
	if kind, data := l.next(); kind != "user.updated" || data["record"] != float64(ann) {
		t.Errorf("%s %v", kind, data)
	}
	in.ok("PUT", "/system/setting", `{"values":{"site.title":"Public title"}}`, "owner")
	kind, data = l.next()
	if kind != "setting.changed" || len(data["fields"].([]any)) != 0 {
		t.Errorf("a public setting: %s %v", kind, data)
	}
	in.ok("PUT", fmt.Sprintf("/admin/role/%d/rule", reader), fmt.Sprintf(`{"rule_ids":[%d]}`, in.permission("system.dict.query")), "owner")
	l.gets("access.changed")
	in.ok("PUT", "/system/dict/1", `{"name":"Now seen"}`, "owner")
	l.gets("dict.changed")
}

// When the session ends, in whatever way, so does the stream.
func TestStream_EndsWithSession(t *testing.T) {
	t.Parallel()
	in := start(t)
	in.server.streams.Beat = time.Hour // only the revocation can end a stream
	role := in.role("reader", nil, "admin.list.query")
	url := in.live()
	for name, revoke := range map[string]func(id store.ID){
		"disabled": func(id store.ID) { in.ok("PUT", fmt.Sprintf("/admin/list/%d/status", id), `{"status":0}`, "owner") },
		"deleted":  func(id store.ID) { in.ok("DELETE", fmt.Sprintf("/admin/list/%d", id), "", "owner") },
		"password": func(id store.ID) {
			in.ok("PUT", fmt.Sprintf("/admin/list/%d/password", id), `{"password":"long enough it is"}`, "owner")
		},
		"logout": func(store.ID) { in.ok("POST", "/admin/logout", "", "logout") },
	} {
		id := in.member(name, 0, role)
		l := in.listen(url+"/system/event?types=file_group.*", name)
		revoke(id)
		if kind, _ := l.next(); kind != "" {
			t.Errorf("%s: event %s", name, kind)
		}
		if l := in.listen(url+"/system/event", name); l.reply.StatusCode != http.StatusUnauthorized {
			t.Errorf("%s: the stream opens again: %d", name, l.reply.StatusCode)
		}
	}
}

func TestStream_AppUserOwnEvents(t *testing.T) {
	t.Parallel()
	in := start(t)
	for _, name := range []string{"one", "two"} {
		in.create("/user/list", `{"username":"`+name+`","password":"long enough it is"}`)
	}
	in.tokens["one"] = in.appSignIn(1)
	url := in.live()
	l := in.listen(url+"/api/event", "one")
	in.ok("PUT", "/user/list/2", `{"nickname":"Canary"}`, "owner")
	in.create("/system/dict", `{"code":"c","name":"Canary"}`)
	in.create("/system/setting-group", `{"key":"own","title":"Own"}`)
	in.create("/system/setting", `{"key":"x","title":"Canary","type":"input","values":"Canary","group_id":7}`)
	in.ok("PUT", "/user/list/1", `{"nickname":"Me"}`, "owner")
	kind, data := l.next()
	if kind != "app_user.updated" || data["record"] != 1.0 || data["actor"] != nil {
		t.Errorf("%s %v", kind, data)
	}
	in.ok("PUT", "/system/setting", `{"values":{"site.title":"Title"}}`, "owner")
	l.gets("setting.changed")
	for path, as := range map[string]string{"/system/event": "one", "/api/event": "owner"} {
		if l := in.listen(url+path, as); l.reply.StatusCode != http.StatusUnauthorized {
			t.Errorf("%s as %s: %d", path, as, l.reply.StatusCode)
		}
	}
}

func TestStream_Limit(t *testing.T) {
	t.Parallel()
	in := start(t)
	url := in.live() + "/system/event"
	in.server.Limits.Streams.Total = 8
	var open []*listener
	for range 2 {
		open = append(open, in.listen(url, "owner"))
	}
	l := in.listen(url, "owner")
	if l.reply.StatusCode != http.StatusTooManyRequests || l.reply.Header.Get("Retry-After") == "" {
		t.Errorf("%d", l.reply.StatusCode)
	}
	open[0].reply.Body.Close()
	for i := 0; ; i++ { // until the server has noticed
		if l := in.listen(url, "owner"); l.reply.StatusCode == http.StatusOK {
			break
		}
		if i == 1000 {
			t.Fatal("a closed stream still counts")
		}
		time.Sleep(10 * time.Millisecond)
	}
	in.server.streams.End()
	if kind, _ := open[1].next(); kind != "" {
		t.Errorf("a stream goes on when the server ends: %s", kind)
	}
}

// Changes of concurrent writers arrive once each, in the order of their numbers.
func TestStream_ConcurrentWriters(t *testing.T) {
	t.Parallel()
	in := start(t)
	l := in.listen(in.live()+"/system/event?types=dict.*", "owner")
	const writers, each = 8, 40
	for w := range writers {
		go func() {
			for i := range each {
				in.call("POST", "/system/dict", fmt.Sprintf(`{"code":"c%d_%d","name":"N"}`, w, i), "owner")
			}
		}()
	}
	var seqs []float64
	for range writers * each {
		_, data := l.next()
		seqs = append(seqs, data["seq"].(float64))
	}
	if !slices.IsSorted(seqs) || len(slices.Compact(seqs)) != writers*each {
		t.Errorf("%v", seqs)
	}
}
