package settings_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"reeve/server/servertest"
	"reeve/store"
)

// waiting is a request that waits for a change of the configuration.
type waiting struct {
	in     *servertest.Instance
	what   string
	cancel func()
	done   chan struct{}
	code   int
	body   string
	err    error
}

// waitOn sends a request that waits, as a client that has the present response, and returns once
// the server holds it.
func waitOn(in *servertest.Instance, url, query, as string, seconds int) *waiting {
	in.T.Helper()
	return waitWith(in, tagOf(in, "/config"+query, as), url, query, as, seconds)
}

func waitWith(in *servertest.Instance, tag, url, query, as string, seconds int) *waiting {
	in.T.Helper()
	before := in.Server.Limits.Streams.Now()
	ctx, cancel := context.WithCancel(context.Background())
	sep := map[bool]string{true: "?", false: "&"}[query == ""]
	r, err := http.NewRequestWithContext(ctx, "GET",
		fmt.Sprintf("%s/config%s%swait=%d", url, query, sep, seconds), nil)
	servertest.Must(in.T, err)
	if token := in.Tokens[as]; token != "" {
		r.Header.Set("Authorization", "Bearer "+token)
	}

	r.Header.Set("If-None-Match", tag)
	w := &waiting{in: in, what: query + " as " + as, cancel: cancel, done: make(chan struct{})}
	go func() {
		defer close(w.done)
		reply, err := http.DefaultClient.Do(r)
		if err != nil {
			w.err = err
			return
		}
		defer reply.Body.Close()
		body, err := io.ReadAll(reply.Body)
		w.code, w.body, w.err = reply.StatusCode, string(body), err
	}()

	servertest.Until(in.T, "the request waits or is answered", func() bool {
		select {
		case <-w.done:
			return true
		default:
			return in.Server.Limits.Streams.Now() > before
		}
	})
	return w
}

// gets fails unless the request is answered like this.
func (w *waiting) gets(code int, has string) {
	w.in.T.Helper()
	<-w.done
	w.cancel()
	if w.err != nil || w.code != code || !strings.Contains(w.body, has) {
		w.in.T.Errorf("%s: %d %v, want %d with %s: %s", w.what, w.code, w.err, code, has, w.body)
	}
}

func (w *waiting) waits() {
	w.in.T.Helper()
	select {
	case <-w.done:
		w.in.T.Errorf("%s: does not wait any more: %d %s", w.what, w.code, w.body)
	default:
	}
}

func TestConfigWait_EndsWithChange(t *testing.T) {
	t.Parallel()
	in := readable(t)
	withSecrets(in)
	url := in.Live()
	all := map[string]*waiting{
		"key":     waitOn(in, url, "?groups=a", "key", 60),
		"watcher": waitOn(in, url, "?groups=a", "watcher", 60),
		"public":  waitOn(in, url, "?groups=open", "nobody", 60),
		"dict":    waitOn(in, url, "?groups=open&dicts=shown", "nobody", 60),
	}

	in.OK("PUT", "/system/setting", `{"values":{"b.plain":9}}`, "owner")
	in.OK("PUT", "/system/setting", `{"values":{"a.token":"changed"}}`, "owner")
	all["key"].gets(200, `"token":"changed"`)
	for _, as := range []string{"watcher", "public", "dict"} {
		all[as].waits()
	}

	in.OK("PUT", "/system/setting", `{"values":{"a.plain":10}}`, "owner")
	all["watcher"].gets(200, `"plain":10`)
	in.OK("PUT", fmt.Sprintf("/system/dict/%d", dictID(in, "shown")), `{"name":"New name"}`,
		"owner")
	all["dict"].gets(200, `New name`)
	all["public"].waits()
	in.OK("PUT", "/system/setting", `{"values":{"open.plain":11}}`, "owner")
	all["public"].gets(200, `"plain":11`)
	if n := in.Server.Limits.Streams.Now(); n != 0 {
		t.Errorf("%d places are still held", n)
	}
	// Without a tag, or with another one, it does not wait.
	waitWith(in, "", url, "?groups=open", "nobody", 60).gets(200, `"plain":11`)
	waitWith(in, `"other"`, url, "?groups=open", "nobody", 60).gets(200, `"plain":11`)
	waitWith(in, tagOf(in, "/config?groups=open", "nobody"), url, "?groups=open", "nobody", 0).gets(304, "")
	waitOn(in, url, "?groups=open", "nobody", 1).gets(304, "")
}

func dictID(in *servertest.Instance, code string) (id store.ID) {
	in.T.Helper()
	in.View(func(tx *store.Tx) error {
		d, err := store.DictByCode.Get(tx, code)
		if err == nil {
			id = d.ID
		}
		return err
	})
	return id
}

// TestConfigWait_EndsWithRights checks that a caller who loses access is told at once, and that one
// whose access changes gets the changed response.
func TestConfigWait_EndsWithRights(t *testing.T) {
	t.Parallel()
	in := readable(t)
	in.Server.Streams.Second = time.Hour // only the change can end a wait
	url := in.Live()
	permission := func(as string, keys ...string) {
		ids := []string{}
		for _, key := range keys {
			ids = append(ids, fmt.Sprint(in.Permission(key)))
		}
		in.OK("PUT", fmt.Sprintf("/admin/role/%d/rule", in.RoleIDs(as)[0]),
			`{"rule_ids":[`+strings.Join(ids, ",")+`]}`, "owner")
	}
	for _, c := range []struct {
		name   string
		change func(as string, user, key store.ID)
		code   int
		has    string
	}{
		{"disabled", func(_ string, _, key store.ID) {
			in.OK("PUT", fmt.Sprintf("/admin/key/%d", key), `{"status":0}`, "owner")
		}, 401, "unknown_key"},
		{"deleted", func(_ string, _, key store.ID) {
			in.OK("DELETE", fmt.Sprintf("/admin/key/%d", key), "", "owner")
		}, 401, "unknown_key"},
		{"rotated", func(_ string, _, key store.ID) {
			in.OK("POST", fmt.Sprintf("/admin/key/%d/rotate", key), `{"overlap_hours":0}`, "owner")
		}, 401, "unknown_key"},
		{"elsewhere", func(_ string, _, key store.ID) {
			in.OK("PUT", fmt.Sprintf("/admin/key/%d", key), `{"networks":["203.0.113.0/24"]}`,
				"owner")
		}, 403, "key_network"},
		{"without an owner", func(_ string, user, _ store.ID) {
			in.OK("PUT", fmt.Sprintf("/admin/list/%d/status", user), `{"status":0}`, "owner")
		}, 401, "unknown_key"},
		{"without the group", func(as string, _, _ store.ID) {
			permission(as)
		}, 403, "system.setting.read.a"},
		{"without the secrets", func(as string, _, _ store.ID) {
			permission(as, "system.setting.read.a")
		}, 200, `"withheld":["a.token"]`},
		{"no such group", func(string, store.ID, store.ID) { // last, since the others need it
			in.OK("PUT", fmt.Sprintf("/system/setting-group/%d", groupID(in, "a")), `{"key":"c"}`,
				"owner")
		}, 403, "system.setting.read.a"},
	} {
		as := "for " + c.name
		u := in.Clerk(strings.ReplaceAll(as, " ", "-"), "system.setting.read.a",
			"system.setting.secret.a")
		var id store.ID
		id, in.Tokens[as] = in.Key(u.ID, servertest.ServiceKey)
		w := waitOn(in, url, "?groups=a", as, 60)
		c.change(u.Username, u.ID, id)
		w.gets(c.code, c.has)
	}
}

func TestConfigWait_Limit(t *testing.T) {
	t.Parallel()
	in := readable(t)
	url := in.Live()
	in.Server.Limits.Streams.Total = 8
	in.Clerk("clerk")
	tag := tagOf(in, "/config", "nobody")
	var open []*waiting
	for range 2 {
		open = append(open, waitWith(in, tag, url, "", "nobody", 60))
	}

	waitWith(in, tag, url, "", "nobody", 60).gets(429, "event streams")
	other := waitOn(in, url, "", "clerk", 60) // has a share of its own
	other.waits()
	open[0].cancel()
	<-open[0].done
	servertest.Until(t, "the place is free", func() bool {
		return in.Server.Limits.Streams.Now() == 2
	})
	again := waitWith(in, tag, url, "", "nobody", 60)
	in.Server.Limits.Streams.Total = 3
	in.Clerk("third")
	waitOn(in, url, "", "third", 60).gets(503, "event streams")
	in.Server.Streams.End() // shutdown
	for _, w := range []*waiting{open[1], other, again} {
		w.gets(304, "")
	}

	if n := in.Server.Limits.Streams.Now(); n != 0 {
		t.Errorf("%d places are still held", n)
	}
}

// TestConfigWait_AllReceiveChange checks that each waiting client receives a change once, with the
// last value, while other clients write other settings.
func TestConfigWait_AllReceiveChange(t *testing.T) {
	t.Parallel()
	in := readable(t)
	url := in.Live()
	in.Server.Limits.Streams.Total = 1000
	var wg sync.WaitGroup
	stop := make(chan struct{})
	wg.Go(func() {
		for i := 0; ; i++ {
			select {
			case <-stop:
				return
			default:
				in.Call("POST", "/system/dict", fmt.Sprintf(`{"code":"x%d","name":"N"}`, i),
					"owner")
			}
		}
	})
	tag := tagOf(in, "/config?groups=open", "nobody")
	var all []*waiting
	for range 30 {
		all = append(all, waitWith(in, tag, url, "?groups=open", "nobody", 60))
	}

	in.OK("PUT", "/system/setting", `{"values":{"open.plain":12}}`, "owner")
	for _, w := range all {
		w.gets(200, `"plain":12`)
	}

	close(stop)
	wg.Wait()
}

// TestConfigWait_NotCountedAsSlow: monitoring and metrics have the time until the request waits.
func TestConfigWait_NotCountedAsSlow(t *testing.T) {
	t.Parallel()
	in := readable(t)
	in.Flush()
	url := in.Live()
	waitOn(in, url, "?groups=open", "nobody", 1).gets(304, "")
	in.Flush()
	var page struct {
		Data []struct {
			Duration float64 `json:"duration_ms"`
		}
	}
	in.OK("GET", "/system/monitor/request?pageSize=1000&keywordSearch=wait", "", "owner").Data(&page)
	if len(page.Data) != 1 || page.Data[0].Duration >= 1000 { // which is how long it waited
		t.Errorf("%+v", page.Data)
	}
}
