package changes_test

import (
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"reeve/server/changes"
	"reeve/server/servertest"
	"reeve/server/web"
	"reeve/store"
	"reeve/store/disk/disktest"
)

func TestStream_EventKinds(t *testing.T) {
	t.Parallel()
	in := servertest.Start(t)
	url := in.Live()
	l := in.Listen(url+"/system/event", "owner")
	people := in.Listen(url+"/system/event?types=user.*,role.created", "owner")
	in.Create("/system/dict", `{"code":"c","name":"C"}`)
	in.Create("/system/dict/1/item", `{"label":"A","value":"a"}`)
	in.Create("/admin/role", `{"name":"Editor"}`)
	in.OK("PUT", "/admin/role/2", `{"name":"Author"}`, "owner")
	in.Create("/admin/list", `{"username":"ann","password":"long enough it is"}`)
	in.OK("PUT", "/system/setting", `{"values":{"site.title":"Mine"}}`, "owner")
	in.Keep("owner", "a.txt", "text")
	in.OK("DELETE", "/system/dict/1/item/1", "", "owner")
	in.OK("DELETE", "/admin/role/2", "", "owner")
	l.Gets("dict.changed", "dict.changed", "role.created")
	kind, data := l.Next()
	if kind != "role.updated" || data["name"] != "Author" || data["own"] != 1.0 ||
		data["record"] != 2.0 || data["actor"].(map[string]any)["name"] != "admin" {
		t.Errorf("%s %v", kind, data)
	}

	l.Gets("user.created", "setting.changed", "file.created", "dict.changed", "role.deleted")
	people.Gets("role.created", "user.created")
	if h := l.Reply.Header; h.Get("Content-Type") != "text/event-stream" ||
		h.Get("X-Accel-Buffering") != "no" || h.Get("Cache-Control") != "no-store" {
		t.Errorf("%v", h)
	}
}

func TestStream_ResumesWithoutGaps(t *testing.T) {
	t.Parallel()
	in := servertest.Start(t)
	url := in.Live() + "/system/event?types=dict.*"
	l := in.Listen(url, "owner")
	n := disktest.Size(700, 1500, 20_000) // more than streams keep in memory
	var want []string
	for i := range n {
		in.Update(func(tx *store.Tx) error {
			return store.Dicts.Create(tx, &store.Dict{
				Code: fmt.Sprintf("c%d", i),
				Name: fmt.Sprint(i),
				Type: "default",
			})
		})
		want = append(want, fmt.Sprint(i))
	}

	var got []string
	for len(got) < n {
		for range min(n/7+1, n-len(got)) {
			_, data := l.Next()
			got = append(got, fmt.Sprint(data["name"]))
		}
		l.Reply.Body.Close()
		l = in.Listen(url, "owner", "Last-Event-ID", l.Last)
	}

	disktest.Equal(t, "names", got, want)
	number := l.Last[strings.Index(l.Last, "-")+1:]
	in.Create("/system/dict", `{"code":"z","name":"Last"}`)
	if _, data := in.Listen(url+"&since="+number, "owner").Next(); data["name"] != "Last" {
		t.Errorf("since a number: %v", data)
	}
}

func TestStream_InvalidPositions(t *testing.T) {
	t.Parallel()
	in := servertest.Start(t)
	in.Create("/system/dict", `{"code":"c","name":"C"}`)
	head := in.DB.LogHead()
	for _, c := range []struct {
		position string
		code     int
		says     string
	}{
		{web.EventID("othergener", 1), 410, "restore"},
		{fmt.Sprint(head.Seq + 100), 410, "restore"},
		{"x", 400, "Last-Event-ID"}, {"-5", 400, "Last-Event-ID"},
		{strings.Repeat("9", 60), 400, "Last-Event-ID"},
	} {
		a := in.Call("GET", "/system/event?since="+c.position, "", "owner")
		if a.Code != c.code || !strings.Contains(a.Body, c.says) {
			t.Errorf("%s: %d %s", c.position, a.Code, a.Body)
		}
	}

	for _, types := range []string{"user", "user.", ".x", "USER.*", "user.*,,", "a.b.c",
		"user.*,%20", strings.Repeat("user.x,", 60) + "user.x"} {
		if a := in.Call("GET", "/system/event?types="+types, "", "owner"); a.Code != http.StatusBadRequest {
			t.Errorf("types %q: %d", types, a.Code)
		}
	}

	for _, types := range []string{"nope.*", "user.upated", "none.none", "user.*,usr.*",
		"access.x"} {
		in.Call("GET", "/system/event?types="+types, "", "owner").Names(422, "types")
	}
}

// The first event says which of the types can come to the caller, and why the others can't.
func TestStream_OpenSaysWhatCanCome(t *testing.T) {
	t.Parallel()
	in := servertest.Start(t)
	url := in.Live()
	in.Clerk("clerk", "admin.role.query")
	in.Member("near", 0, in.Role("Near", func(r *store.Role) {
		r.DataScope = store.ScopeSelf
	}, "admin.list.query", "system.audit.query"))
	in.AppUser("customer")
	known := map[string]bool{changes.AccessChanged: true}
	for _, kind := range changes.EventTypes() {
		known[kind.Type] = true
	}

	for as, path := range map[string]string{
		"owner":    "/system/event",
		"clerk":    "/system/event",
		"near":     "/system/event",
		"customer": "/api/event",
	} {
		l := in.Listen(url+path, as)
		seen := map[string]bool{}
		for _, kind := range l.Opened.Types {
			seen[kind] = true
		}

		for _, m := range l.Opened.Missing {
			if seen[m.Type] || m.Reason == "" ||
				path == "/system/event" && m.Type != changes.HeadType &&
					!strings.Contains(m.Reason, "permission "+m.Permission) {
				t.Errorf("%s: %+v", as, m)
			}
			seen[m.Type] = true
		}

		if !maps.Equal(seen, known) || l.Opened.ID != l.Last {
			t.Errorf("%s: %v", as, seen)
		}
	}

	l := in.Listen(url+"/system/event?types=user.*,audit.head,access.*", "near")
	disktest.Equal(t, "types", l.Opened.Types,
		[]string{"user.created", "user.deleted", "user.updated", changes.AccessChanged})
	disktest.Equal(t, "limited", l.Opened.Limited,
		[]string{"user.created", "user.deleted", "user.updated"})
	if l.Opened.Scope || len(l.Opened.Missing) != 1 ||
		l.Opened.Missing[0].Type != changes.HeadType {
		t.Errorf("%+v", l.Opened)
	}

	l = in.Listen(url+"/system/event?types=role.*,user.*,dict.changed,key.created", "clerk")
	if len(l.Opened.Missing) != 1 ||
		l.Opened.Missing[0] != (changes.Unsent{
			Type:       "key.created",
			Permission: "admin.key.query",
			Reason:     "permission admin.key.query is required",
		}) {
		t.Errorf("%+v", l.Opened.Missing)
	}
}

// A stream shows what its caller may read at the moment of the event, and nothing else.
func TestStream_PermissionsAndScope(t *testing.T) {
	t.Parallel()
	in := servertest.Start(t)
	near, far := in.Dept("Near", 0), in.Dept("Far", 0)
	reader := in.Role("reader", func(r *store.Role) {
		r.DataScope = store.ScopeDept
	}, "admin.list.query")
	ann := in.Member("ann", near, reader)
	other, distant := in.Member("other", near), in.Member("distant", far)
	url := in.Live()
	l := in.Listen(url+"/system/event", "ann")
	change := func(id store.ID, name string) {
		in.OK("PUT", fmt.Sprintf("/admin/list/%d", id), `{"nickname":"`+name+`"}`, "owner")
	}

	in.Create("/system/dict", `{"code":"c","name":"Unseen","status":0}`) // no permission
	change(distant, "Unseen")                                            // out of scope
	change(other, "Seen")
	kind, data := l.Next()
	if kind != "user.updated" || data["record"] != float64(other) || data["actor"] != nil {
		t.Errorf("%s %v", kind, data)
	}

	in.OK("PUT", fmt.Sprintf("/admin/role/%d", reader), `{"data_scope":"self"}`, "owner")
	l.Gets("access.changed")
	change(other, "Unseen now")
	change(ann, "Me")
	if kind, data := l.Next(); kind != "user.updated" || data["record"] != float64(ann) {
		t.Errorf("%s %v", kind, data)
	}

	in.OK("PUT", "/system/setting", `{"values":{"site.title":"Public title"}}`, "owner")
	kind, data = l.Next()
	if kind != "setting.changed" || len(data["fields"].([]any)) != 0 {
		t.Errorf("a public setting: %s %v", kind, data)
	}

	in.OK("PUT", fmt.Sprintf("/admin/role/%d/rule", reader),
		fmt.Sprintf(`{"rule_ids":[%d]}`, in.Permission("system.dict.query")), "owner")
	l.Gets("access.changed")
	in.OK("PUT", "/system/dict/1", `{"name":"Now seen"}`, "owner")
	l.Gets("dict.changed")
}

// When the session ends, in whatever way, so does the stream.
func TestStream_EndsWithSession(t *testing.T) {
	t.Parallel()
	in := servertest.Start(t)
	in.Server.Streams.Beat = time.Hour // only the revocation can end a stream
	role := in.Role("reader", nil, "admin.list.query")
	url := in.Live()
	for name, revoke := range map[string]func(id store.ID){
		"disabled": func(id store.ID) {
			in.OK("PUT", fmt.Sprintf("/admin/list/%d/status", id), `{"status":0}`, "owner")
		},
		"deleted": func(id store.ID) {
			in.OK("DELETE", fmt.Sprintf("/admin/list/%d", id), "", "owner")
		},
		"password": func(id store.ID) {
			in.OK("PUT", fmt.Sprintf("/admin/list/%d/password", id),
				`{"password":"long enough it is"}`, "owner")
		},
		"logout": func(store.ID) { in.OK("POST", "/admin/logout", "", "logout") },
	} {
		id := in.Member(name, 0, role)
		l := in.Listen(url+"/system/event?types=file_group.*", name)
		revoke(id)
		if kind, _ := l.Next(); kind != "" {
			t.Errorf("%s: event %s", name, kind)
		}
		if l := in.Listen(url+"/system/event", name); l.Reply.StatusCode != http.StatusUnauthorized {
			t.Errorf("%s: the stream opens again: %d", name, l.Reply.StatusCode)
		}
	}
}

func TestStream_AppUserOwnEvents(t *testing.T) {
	t.Parallel()
	in := servertest.Start(t)
	for _, name := range []string{"one", "two"} {
		in.Create("/user/list", `{"username":"`+name+`","password":"long enough it is"}`)
	}

	in.Tokens["one"] = in.AppSignIn(1)
	url := in.Live()
	l := in.Listen(url+"/api/event", "one")
	in.OK("PUT", "/user/list/2", `{"nickname":"Canary"}`, "owner")
	in.Create("/system/dict", `{"code":"c","name":"Canary"}`)
	in.Create("/system/setting-group", `{"key":"own","title":"Own"}`)
	in.Create("/system/setting",
		`{"key":"x","title":"Canary","type":"input","values":"Canary","group_id":8}`)
	in.OK("PUT", "/user/list/1", `{"nickname":"Me"}`, "owner")
	kind, data := l.Next()
	if kind != "app_user.updated" || data["record"] != 1.0 || data["actor"] != nil {
		t.Errorf("%s %v", kind, data)
	}

	in.OK("PUT", "/system/setting", `{"values":{"site.title":"Title"}}`, "owner")
	l.Gets("setting.changed")
	for path, as := range map[string]string{"/system/event": "one", "/api/event": "owner"} {
		if l := in.Listen(url+path, as); l.Reply.StatusCode != http.StatusUnauthorized {
			t.Errorf("%s as %s: %d", path, as, l.Reply.StatusCode)
		}
	}
}

func TestStream_Limit(t *testing.T) {
	t.Parallel()
	in := servertest.Start(t)
	url := in.Live() + "/system/event"
	in.Server.Limits.Streams.Total = 8
	var open []*servertest.Listener
	for range 2 {
		open = append(open, in.Listen(url, "owner"))
	}

	l := in.Listen(url, "owner")
	if l.Reply.StatusCode != http.StatusTooManyRequests || l.Reply.Header.Get("Retry-After") == "" {
		t.Errorf("%d", l.Reply.StatusCode)
	}

	open[0].Reply.Body.Close()
	for i := 0; ; i++ { // until the server has noticed
		if l := in.Listen(url, "owner"); l.Reply.StatusCode == http.StatusOK {
			break
		}
		if i == 1000 {
			t.Fatal("a closed stream still counts")
		}
		time.Sleep(10 * time.Millisecond)
	}

	in.Server.Streams.End()
	if kind, _ := open[1].Next(); kind != "" {
		t.Errorf("a stream goes on when the server ends: %s", kind)
	}
}

// Changes of concurrent writers arrive once each, in the order of their numbers.
func TestStream_ConcurrentWriters(t *testing.T) {
	t.Parallel()
	in := servertest.Start(t)
	l := in.Listen(in.Live()+"/system/event?types=dict.*", "owner")
	const writers, each = 8, 40
	for w := range writers {
		go func() {
			for i := range each {
				in.Call("POST", "/system/dict", fmt.Sprintf(`{"code":"c%d_%d","name":"N"}`, w, i),
					"owner")
			}
		}()
	}

	var seqs []float64
	for range writers * each {
		_, data := l.Next()
		seqs = append(seqs, data["seq"].(float64))
	}

	if !slices.IsSorted(seqs) || len(slices.Compact(seqs)) != writers*each {
		t.Errorf("%v", seqs)
	}
}
