package settings_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"reeve/server/changes"
	"reeve/server/servertest"
	"reeve/store"
)

const flagEvents = "/ofrep/v1/events"

// flagStream returns the URL of the stream that a response gives.
func flagStream(in *servertest.Instance, as string) string {
	in.T.Helper()
	var all struct {
		EventStreams []struct {
			Type     string
			Endpoint map[string]string
			Seconds  int `json:"inactivityDelaySec"`
		}
	}
	servertest.Must(in.T,
		json.Unmarshal([]byte(in.OK("POST", servertest.AllFlags, `{}`, as).Body), &all))
	if len(all.EventStreams) != 1 || all.EventStreams[0].Type != "sse" ||
		all.EventStreams[0].Seconds != 120 || len(all.EventStreams[0].Endpoint) != 1 {
		in.T.Fatalf("%+v", all)
	}
	return all.EventStreams[0].Endpoint["requestUri"]
}

// refetches fails unless the next event of a stream tells to evaluate again, and nothing else.
func refetches(t testing.TB, l *servertest.Listener) {
	t.Helper()
	before := l.Last
	kind, data := l.Next()
	if kind != "message" || !maps.Equal(data, map[string]any{"type": "refetchEvaluation"}) ||
		l.Last == before {
		t.Fatalf("%q %v, ID %s after %s", kind, data, l.Last, before)
	}
}

// state returns what a stream without a position begins with.
func state(in *servertest.Instance, at, as string) string {
	in.T.Helper()
	l := in.Follow(at, as)
	refetches(in.T, l)
	l.Reply.Body.Close()
	return l.Last
}

func saveFlag(in *servertest.Instance, id store.ID, name, as string) {
	in.T.Helper()
	in.OK("PUT", fmt.Sprintf("/system/setting/%d", id),
		fmt.Sprintf(`{"values":%q}`, servertest.OnFor(`"name":"`+name+`"`)), as)
}

// TestFlagStream_FlagsOfTheCaller: a stream tells of flags that its caller may evaluate, and of no
// other setting. Only a change of the state is an event, so that the states prove it.
func TestFlagStream_FlagsOfTheCaller(t *testing.T) {
	t.Parallel()
	in := servertest.Start(t)
	banner := in.Flag(in.FlagGroup("open", true), "banner", servertest.OnFor(`"name":"all"`))
	checkout := in.Flag(in.FlagGroup("shop", false), "checkout", servertest.OnFor(`"name":"all"`))
	in.Clerk("reader", store.ReadPermission("shop"))
	in.Clerk("editor", "system.setting.update", "system.setting.query")
	in.AppUser("customer")
	in.NewKey("reader's", "/admin/account/key", `{"name":"k"}`, "reader")
	base := in.Live()
	urls, streams, states := map[string]string{}, map[string]*servertest.Listener{},
		map[string]string{}
	all := []string{"nobody", "customer", "editor", "reader", "reader's"}
	for _, as := range all {
		urls[as] = base + flagStream(in, as)
		states[as] = state(in, urls[as], "nobody")
		if by := state(in, base+flagEvents, as); by != states[as] {
			t.Errorf("%s: state %s with the token, %s with the URL", as, by, states[as])
		}
		streams[as] = in.Follow(urls[as], "nobody", "Last-Event-ID", states[as])
		streams[as].Last = states[as]
	}

	h := streams["nobody"].Reply.Header
	if h.Get("Content-Type") != changes.EventStream || h.Get("Cache-Control") != "no-store" {
		t.Errorf("%v", h)
	}

	in.OK("PUT", "/system/setting", `{"values":{"site.title":"Mine"}}`, "owner")
	in.Create("/system/dict", `{"code":"c","name":"C"}`)
	for _, as := range all {
		if now := state(in, urls[as], "nobody"); now != states[as] {
			t.Errorf("%s: another setting is event %s", as, now)
		}
	}

	saveFlag(in, checkout, "hidden", "editor")
	for _, as := range all {
		now, sees := state(in, urls[as], "nobody"), strings.HasPrefix(as, "reader")
		if sees != (now != states[as]) {
			t.Errorf("%s: state %s, %s before", as, now, states[as])
		}
		if sees {
			refetches(t, streams[as])
		}
	}

	saveFlag(in, banner, "shown", "editor")
	for _, as := range all {
		refetches(t, streams[as])
		if now := state(in, urls[as], "nobody"); now != streams[as].Last {
			t.Errorf("%s: the state is %s, the event %s", as, now, streams[as].Last)
		}
	}
}

// TestFlagStream_Resumes: a client that is behind gets one event, however much it has missed.
func TestFlagStream_Resumes(t *testing.T) {
	t.Parallel()
	in := servertest.Start(t)
	banner := in.Flag(in.FlagGroup("open", true), "banner", servertest.OnFor(`"name":"all"`))
	at := in.Live() + flagEvents
	old := state(in, at, "nobody")
	for i := range 5 {
		saveFlag(in, banner, fmt.Sprint(i), "owner")
	}

	behind := in.Follow(at, "nobody", "Last-Event-ID", old)
	refetches(t, behind)
	current := in.Follow(at, "nobody", "Last-Event-ID", behind.Last)
	current.Last = behind.Last
	other := in.Follow(at, "nobody", "Last-Event-ID", "no state")
	refetches(t, other)
	if other.Last != behind.Last {
		t.Errorf("states %s and %s", other.Last, behind.Last)
	}

	saveFlag(in, banner, "last", "owner")
	refetches(t, current)
	refetches(t, behind)
	if now := state(in, at, "nobody"); current.Last != now || behind.Last != now {
		t.Errorf("the state is %s, the events %s and %s", now, current.Last, behind.Last)
	}
}

// TestFlagStream_ChangedBack: a client that has evaluated a flag between two changes is told of the
// second one, even if the value is the first again.
func TestFlagStream_ChangedBack(t *testing.T) {
	t.Parallel()
	in := servertest.Start(t)
	banner := in.Flag(in.FlagGroup("open", true), "banner", servertest.OnFor(`"name":"a"`))
	at := in.Live() + flagEvents
	l := in.Follow(at, "nobody")
	refetches(t, l)
	for _, name := range []string{"b", "a"} {
		saveFlag(in, banner, name, "owner")
		if now := state(in, at, "nobody"); now == l.Last {
			t.Errorf("%s: the state is still %s", name, now)
		}
	}
	refetches(t, l)
}

// TestFlagStream_Coalesces: a burst of changes is few events, and the last one is not lost.
func TestFlagStream_Coalesces(t *testing.T) {
	t.Parallel()
	in := servertest.Start(t)
	banner := in.Flag(in.FlagGroup("open", true), "banner", servertest.OnFor(`"name":"all"`))
	at := in.Live() + flagEvents
	l := in.Follow(at, "nobody")
	refetches(t, l)
	begun := time.Now()
	for i := range 60 {
		saveFlag(in, banner, fmt.Sprint(i), "owner")
	}

	last, n := state(in, at, "nobody"), 0
	for ; l.Last != last; n++ {
		refetches(t, l)
	}
	if most := 1 + int(time.Since(begun)/time.Second); n > most {
		t.Errorf("%d events, at most %d expected", n, most)
	}
}

// TestFlagStream_Access: changes of the roles and of the time are events, too.
func TestFlagStream_Access(t *testing.T) {
	t.Parallel()
	in := servertest.Start(t)
	in.Flag(in.FlagGroup("shop", false), "checkout", servertest.OnFor(`"name":"all"`))
	role := in.Role("Shop", nil)
	id := in.Member("ann", 0, role)
	l := in.Follow(in.Live()+flagStream(in, "ann"), "nobody")
	refetches(t, l)
	in.OK("PUT", fmt.Sprintf("/admin/role/%d/rule", role), fmt.Sprintf(`{"rule_ids":[%d]}`,
		in.Permission(store.ReadPermission("shop"))), "owner")
	refetches(t, l)
	in.OK("PUT", fmt.Sprintf("/admin/list/%d", id), fmt.Sprintf(`{"role_ids":[%d]}`,
		in.Role("Other", nil, store.ReadPermission("shop"))), "owner")
	refetches(t, l)
}

// TestFlagStream_Limit: streams of both kinds have the same limit.
func TestFlagStream_Limit(t *testing.T) {
	t.Parallel()
	in := servertest.Start(t)
	in.Clerk("clerk")
	base := in.Live()
	in.Server.Limits.Streams.Total = 8
	signed := base + flagStream(in, "clerk")
	in.Listen(base+"/system/event", "clerk")
	refetches(t, in.Follow(signed, "nobody"))
	for at, as := range map[string]string{
		signed:                  "nobody",
		base + flagEvents:       "clerk",
		base + "/system/event?": "clerk",
	} {
		if l := in.Follow(at, as); l.Reply.StatusCode != http.StatusTooManyRequests {
			t.Errorf("%s: %d", at, l.Reply.StatusCode)
		}
	}

	for range 2 {
		refetches(t, in.Follow(base+flagEvents, "nobody"))
	}
	if l := in.Follow(base+flagEvents, "nobody"); l.Reply.StatusCode != http.StatusTooManyRequests {
		t.Errorf("without a token: %d", l.Reply.StatusCode)
	}
	refetches(t, in.Follow(base+flagEvents, "owner"))
}

// TestFlagStream_Times: the times of rules are events, within a heartbeat.
func TestFlagStream_Times(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		in := servertest.Start(t)
		at := func(d time.Duration) string { return time.Now().Add(d).UTC().Format(time.RFC3339Nano) }
		in.Flag(in.FlagGroup("open", true), "banner", servertest.OnFor(
			`"from":"`+at(time.Hour)+`","until":"`+at(3*time.Hour)+`"`))
		for _, wait := range []struct {
			time   time.Duration
			events int
		}{{time.Hour - time.Minute, 1}, {2 * time.Hour, 2}, {2 * time.Hour, 2},
			{2 * time.Hour, 1}} {
			ended := make(chan struct{})
			in.Server.Streams.Ended = ended
			time.AfterFunc(wait.time, func() { close(ended) })
			body := in.Call("GET", flagEvents, "", "nobody").Body
			if n := strings.Count(body, "refetchEvaluation"); n != wait.events {
				t.Errorf("in %s: %d events, want %d: %s", wait.time, n, wait.events, body[:100])
			}
		}
	})
}

// TestFlagStream_OtherOrigins: pages that may evaluate flags may open the stream, and no others.
func TestFlagStream_OtherOrigins(t *testing.T) {
	t.Parallel()
	in := servertest.Start(t)
	in.OK("PUT", "/system/setting", `{"values":{"security.cors_origins":"https://shop.example.org"}}`, "owner")
	base := in.Live()
	for origin, want := range map[string]string{
		"https://shop.example.org":  "https://shop.example.org",
		"https://other.example.org": "",
	} {
		r := in.Request("POST", servertest.AllFlags, `{}`, "nobody")
		r.Header.Set("Origin", origin)
		flags := in.Send(r).Header.Get("Access-Control-Allow-Origin")
		l := in.Follow(base+flagEvents, "nobody", "Origin", origin)
		if got := l.Reply.Header.Get("Access-Control-Allow-Origin"); got != want || flags != want {
			t.Errorf("%s: %q for flags, %q for the stream", origin, flags, got)
		}
	}
}
